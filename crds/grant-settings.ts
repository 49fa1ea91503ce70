import Type from 'typebox';
import { flag, line, seconds, uri } from './fields.ts';

const token_format = Type.Optional(
  Type.Enum(['jwt'], {
    type: 'string',
    description: '`jwt`: the access token is a signed JWT (RFC 9068). Absent: it is opaque.',
  }),
);
const access_token_expiration = Type.Optional(
  seconds('Lifetime of an access token from its issue, in seconds. Absent: the default of the box.'),
);
const implicit_expiration = Type.Optional(
  seconds(
    'Lifetime of an access token from its issue, in seconds. Absent: the `tokens.default_access_token_expiration` of the box, otherwise an hour.',
  ),
);
const audience = Type.Optional(
  Type.Array(line('One audience.', 1024), {
    description:
      'Audiences the client may request (RFC 8707); the first is the default. Absent: any for tokens of the client itself, unless `tokens.require_listed_audience` of the box is true; only the issuer for tokens of users.',
    minItems: 1,
    maxItems: 64,
    uniqueItems: true,
  }),
);

const issued = { token_format, access_token_expiration, audience };

const refreshed = {
  refresh_token: Type.Optional(flag('Issue a refresh token with the access token.')),
  refresh_token_expiration: Type.Optional(
    seconds(
      'Lifetime of a refresh token from its issue or last use, in seconds; 30 days by default. The `tokens.max_refresh_lifetime` of the box is its absolute end.',
    ),
  ),
  refresh_requires_secret: Type.Optional(flag('A refresh must authenticate the client.')),
  refresh_rotation: Type.Optional(
    flag('Each refresh returns a successor and ends the token that was used; a second use ends the whole family.'),
  ),
};

/** Destinations of the answer, in the settings of each grant that redirects. */
const redirected = {
  redirect_uri: Type.Optional(
    uri(
      'Where the answer goes: https, or http on loopback, or a private-use scheme (RFC 8252 §7). A request must name exactly this string; on http://127.0.0.1 and http://[::1] the port may differ.',
    ),
  ),
  redirect_uris: Type.Optional(
    Type.Array(uri('One address.'), {
      description:
        'Further addresses, compared in the same way. With more than one in total, a request must name one (RFC 6749 §3.1.2.3).',
      minItems: 1,
      maxItems: 32,
      uniqueItems: true,
    }),
  ),
};

/** `auth.client_credentials` (RFC 6749 §4.4). */
export const clientCredentialsSettings = Type.Object(
  { ...issued, ...refreshed },
  { description: 'Settings of the client credentials grant (RFC 6749 §4.4).', additionalProperties: false },
);

/** `auth.implicit` (RFC 6749 §4.2). */
export const implicitSettings = Type.Object(
  { ...redirected, ...issued, access_token_expiration: implicit_expiration },
  { description: 'Settings of the implicit grant (RFC 6749 §4.2).', additionalProperties: false },
);

/** `auth.authorization_code` (RFC 6749 §4.1). */
export const authorizationCodeSettings = Type.Object(
  {
    ...redirected,
    ...issued,
    ...refreshed,
    secret_required: Type.Optional(flag('The code is redeemed only with the client secret.')),
    pkce: Type.Optional(flag('PKCE with S256 is required (RFC 7636). For a public client it always is.')),
  },
  { description: 'Settings of the authorization code grant (RFC 6749 §4.1).', additionalProperties: false },
);
