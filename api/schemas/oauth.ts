import Type, { type Static } from 'typebox';
import { texts } from './member.ts';

/** The token response (RFC 6749 §5.1, OpenID Connect Core §3.1.3.3). */
export const tokenResponseSchema = Type.Object(
  {
    token_type: Type.Literal('Bearer'),
    access_token: Type.String({ description: 'The access token: `bgt_…`, or a JWT (RFC 9068).' }),
    expires_in: Type.Optional(Type.Integer({ description: 'Seconds until it expires.', minimum: 0 })),
    refresh_token: Type.Optional(Type.String({ description: 'The refresh token: `bgr_…`.' })),
    scope: Type.Optional(
      Type.String({ description: 'The scopes of the token; empty if nothing was granted of what was requested.' }),
    ),
    id_token: Type.Optional(Type.String({ description: 'The id_token, for the scope `openid`.' })),
  },
  { description: 'A token response.', additionalProperties: false },
);

/** The token response. */
export type TokenResponse = Static<typeof tokenResponseSchema>;

/** The answer about a valid token (RFC 7662 §2.2). */
export const liveIntrospectionSchema = Type.Object(
  {
    active: Type.Literal(true),
    client_id: Type.String(),
    token_type: Type.Optional(Type.Literal('Bearer')),
    exp: Type.Number({ description: 'Seconds since 1970.' }),
    iat: Type.Number({ description: 'Seconds since 1970.' }),
    sub: Type.String({ description: 'ID of the user; for the token of a client, of the client.' }),
    username: Type.Optional(Type.String({ description: 'The email of the user, with the scope `email`.' })),
    groups: Type.Optional(texts('Names of the groups of the user, with the scope `groups`.')),
    iss: Type.String({ description: 'The issuer.' }),
    aud: Type.Optional(texts('The audiences.')),
    jti: Type.Optional(Type.String({ description: 'The ID of the session.' })),
    scope: Type.Optional(Type.String()),
  },
  { description: 'A valid token.', additionalProperties: false },
);

/** The answer about a valid token. */
export type LiveIntrospection = Static<typeof liveIntrospectionSchema>;

/** The answer of RFC 7662 §2.2. */
export const introspectionSchema = Type.Union(
  [
    liveIntrospectionSchema,
    Type.Object(
      { active: Type.Literal(false) },
      { description: 'A token that is not valid, for whatever reason.', additionalProperties: false },
    ),
  ],
  { description: 'The state of a token.' },
);
