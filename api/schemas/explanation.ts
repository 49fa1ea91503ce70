import Type, { type Static } from 'typebox';
import { ENGINES } from '../../crds/access-policy.ts';
import { LINK_TYPES } from '../../crds/links.ts';
import type { Link } from '../../crds/links.ts';
import { textOrNull, time } from './member.ts';

/** The last use of each policy, as `GET /AccessPolicy/$usage` answers. */
export const policyUsageSchema = Type.Object(
  {
    recorded_since: time('The time since which the use of policies is recorded.'),
    policies: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: 'The ID of the policy.' }),
          created_at: time('The time at which it was created.'),
          last_used_at: Type.Union([time('Time.'), Type.Null()], {
            description: 'The last time at which it granted a request; null if it granted none.',
          }),
        },
        { description: 'The last use of one policy.', additionalProperties: false },
      ),
      { description: 'All policies of the box, by ID.' },
    ),
  },
  { description: 'The last use of each policy.', additionalProperties: false },
);

/** The declarer and the last use of each client, as `GET /Client/$usage` answers. */
export const clientUsageSchema = Type.Object(
  {
    clients: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: 'The ID of the client.' }),
          managed_by: textOrNull('The object that declares it, as `<namespace>/<name>`; null if none does.'),
          last_token_at: Type.Union([time('Time.'), Type.Null()], {
            description: 'The time of its last token, to the minute; null if it got none.',
          }),
          previous_secret_last_used: Type.Union([time('Time.'), Type.Null()], {
            description: 'The last use of the secret before the present one, while both are valid; null otherwise.',
          }),
        },
        { description: 'The declarer and the last use of one client.', additionalProperties: false },
      ),
      { description: 'All clients of the box, by ID.' },
    ),
  },
  { description: 'The declarer and the last use of each client.', additionalProperties: false },
);

/** The last use of each policy. */
export type PolicyUsage = Static<typeof policyUsageSchema>;

/** A recorded request, as `GET /AccessPolicy/$requests` lists it. */
export const recordedRequestSchema = Type.Object(
  {
    client: Type.String({ description: 'The ID of the client.' }),
    as: Type.Enum(['client', 'user', 'limited', 'group'], {
      type: 'string',
      description: 'The caller: the client, a user, a user whose rights the token does not carry, or a group.',
    }),
    group: Type.Optional(
      Type.Object(
        { id: Type.Integer(), name: Type.String() },
        { description: 'The group of the user.', additionalProperties: false },
      ),
    ),
    app: Type.Optional(Type.String({ description: 'The app behind a gateway.' })),
    method: Type.String({ description: 'The method.' }),
    path: Type.String({ description: 'The shape of the path, without IDs.' }),
    granted: Type.Boolean({ description: 'True if the request was granted.' }),
    policy: textOrNull('The policy that granted it; null if none did.'),
    requests: Type.Integer({ description: 'The number of such requests.', minimum: 0 }),
    first_seen_at: time('The time of the first one.'),
    last_seen_at: time('The time of the latest one.'),
  },
  { description: 'Requests of one shape, and the decision about them.', additionalProperties: false },
);

const lack = Type.Object(
  {
    path: Type.String({ description: 'The part of the request that differs; empty for the whole request.' }),
    wants: Type.Optional(
      Type.Unknown({ description: 'What the rule wants there: a pattern of matcho, or a keyword of JSON Schema.' }),
    ),
  },
  { description: 'The first thing that a rule wants and a request lacks.', additionalProperties: false },
);

/** The first thing that a rule wants and a request lacks. */
export type Lack = Static<typeof lack>;

const candidate = Type.Object(
  {
    policy: Type.String({ description: 'The ID of the policy.' }),
    engine: Type.Enum([...ENGINES], { type: 'string' }),
    granted: Type.Boolean({ description: 'Whether it grants the request.' }),
    fault: Type.Optional(
      Type.String({ description: 'Reason why it could not grant: it is invalid, or it failed on this request.' }),
    ),
    lacks: Type.Optional(lack),
  },
  { description: 'Result of one candidate.', additionalProperties: false },
);

/** Result of one candidate. */
export type ExplainedCandidate = Static<typeof candidate>;

const grantingOther = Type.Object(
  {
    policy: Type.String({ description: 'The ID of the policy.' }),
    link: Type.Unsafe<readonly Link[]>(
      Type.Array(
        Type.Object(
          {
            resourceType: Type.Enum([...LINK_TYPES], { type: 'string', description: 'Type of the linked resource.' }),
            id: Type.String({ description: 'Its ID; of a Group its ID or its name.' }),
          },
          { description: 'One linked resource.', additionalProperties: false },
        ),
        { description: 'The first three of whom it concerns.' },
      ),
    ),
  },
  { description: 'A policy for others that would grant the request.', additionalProperties: false },
);

/** A policy for others that would grant the request. */
export type GrantingOther = Static<typeof grantingOther>;

/** A decision with every candidate's part in it. */
export const explanationSchema = Type.Object(
  {
    granted: Type.Boolean({ description: 'The decision.' }),
    policy: Type.Optional(Type.String({ description: 'The deciding policy; absent when none grants.' })),
    assumed_client: Type.Optional(
      Type.String({ description: 'The client that was assumed, because the question names a user without one.' }),
    ),
    candidates: Type.Unsafe<readonly ExplainedCandidate[]>(
      Type.Array(candidate, { description: 'The candidates, in the order in which they are asked.' }),
    ),
    would_grant: Type.Optional(
      Type.Unsafe<readonly GrantingOther[]>(
        Type.Array(grantingOther, {
          description:
            'After a denial: up to three policies that would grant the request if they were linked to the subject.',
        }),
      ),
    ),
  },
  { description: 'A decision, and the part of every candidate in it.', additionalProperties: false },
);

/** A decision with every candidate's part in it. */
export type Explanation = Static<typeof explanationSchema>;
