import Type, { type Static } from 'typebox';
import { ENGINES } from '../../crds/access-policy.ts';
import { LINK_TYPES } from '../../crds/links.ts';
import type { Link } from '../../crds/links.ts';

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
