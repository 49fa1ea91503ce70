import Type, { type Static } from 'typebox';
import { reference, textOrNull, time, UUID, referenceOrNull, texts } from './member.ts';

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

const claims = Type.Optional(
  Type.Array(Type.String(), { description: 'The claims that the client requested by name, and the user allowed.' }),
);

const consent = Type.Object(
  {
    redirect_uri: Type.String({ description: 'The redirect URI that the user saw.' }),
    audience: textOrNull('The audience that the user saw; null: the issuer.'),
    scope: textOrNull('The scopes that the user allowed there; null: none.'),
    claims,
  },
  { description: 'One consent.', additionalProperties: false },
);

/** A grant as it is shown. */
export const grantSchema = Type.Object(
  {
    resourceType: Type.Literal('Grant', { description: 'Always `Grant`.' }),
    id: Type.String({ description: 'The ID of the user, a dot, the ID of the client.' }),
    user: reference('User', 'The user who consented.'),
    client: reference('Client', 'The client that may act.'),
    scope: textOrNull('All scopes that the user allowed the client; null: none.'),
    claims,
    consents: Type.Array(consent, { description: 'The consents, one for each redirect URI and audience.' }),
    created_at: time('The time of the first consent.'),
  },
  { description: 'What a user allows a client.', additionalProperties: false },
);

/** A grant as it is shown. */
export type GrantView = Static<typeof grantSchema>;

/** Records of a user's own account. */
export const accountSchema = Type.Object(
  {
    sessions: Type.Array(sessionSchema, { description: 'The active sessions of the user, the newest first.' }),
    grants: Type.Array(grantSchema, { description: 'The grants of the user.' }),
    lists: Type.Array(Type.String(), {
      description: 'The paths of the lists that the policies let the user read, such as `/users`.',
    }),
  },
  { description: 'What the signed-in user has in the box, at most 1,000 of each.', additionalProperties: false },
);

/** Records of a user's own account. */
export type AccountView = Static<typeof accountSchema>;

/** A change of the own password. */
export const passwordChangeSchema = Type.Object(
  {
    old_password: Type.String({ description: 'The present password.' }),
    password: Type.String({ description: 'The new password.' }),
  },
  { description: 'A new password of the signed-in user.', additionalProperties: false },
);

/** A change of the own password. */
export type PasswordChange = Static<typeof passwordChangeSchema>;
