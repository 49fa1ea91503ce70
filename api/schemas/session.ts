import Type, { type Static } from 'typebox';
import { UUID, reference, referenceOrNull, textOrNull, texts, time } from './member.ts';

/** A session as it is shown. It has no member for its token or the hash of it. */
export const sessionSchema = Type.Object(
  {
    resourceType: Type.Literal('Session', { description: 'Always `Session`.' }),
    id: Type.String({ description: 'The ID, a UUIDv7.', pattern: UUID }),
    type: Type.Enum(['client_credentials', 'refresh_token', 'implicit', 'authorization_code', 'password'], {
      type: 'string',
      description: 'The grant that started it.',
    }),
    client: reference('Client', 'The client that got the token.'),
    user: referenceOrNull('User', 'The user in whose name the token acts; null for the token of a client.'),
    scope: textOrNull('The scopes, separated by spaces; null if there is none.'),
    audience: Type.Union([texts('Audiences.'), Type.Null()], {
      description: 'The audiences that the token was issued for; null: the issuer.',
    }),
    active: Type.Boolean({ description: 'True if the token is accepted.' }),
    status: Type.Enum(['active', 'expired', 'closed', 'revoked'], {
      type: 'string',
      description: 'A session that is not `active` never becomes it again.',
    }),
    created_at: time('The time of issue.'),
    expires_at: time('The time at which it expires.'),
    closed_at: Type.Union([time('Time.'), Type.Null()], { description: 'The time at which it ended; null before.' }),
    parent: referenceOrNull('Session', 'The session that was refreshed; null if it is the first of its family.'),
    remote_addr: textOrNull('The address of the browser; null for a session without a user.'),
    user_agent: textOrNull('The `User-Agent` of the browser; null for a session without a user.'),
  },
  { description: 'The session of one access token.', additionalProperties: false },
);

/** A session as it is shown; absent values are null. */
export type SessionView = Static<typeof sessionSchema>;
