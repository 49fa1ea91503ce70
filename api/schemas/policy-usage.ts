import Type, { type Static } from 'typebox';
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
