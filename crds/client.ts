import Type, { type Static } from 'typebox';
import {
  DNS_LABEL,
  OBJECT_NAME,
  OBJECT_UID,
  RESOURCE_ID,
  SCOPE_TOKEN,
  WEB_ORIGIN,
  flag,
  freeObject,
  line,
  moment,
  prose,
  uri,
  word,
} from './fields.ts';
import { authorizationCodeSettings, clientCredentialsSettings, implicitSettings } from './grant-settings.ts';
import { jsonWebKeySet } from './json-web-keys.ts';
import { SECRET_LENGTH, SECRET_TEXT } from './secret-text.ts';

/** Every grant a client may list, including those that this version does not implement. */
export const GRANT_TYPES = [
  'client_credentials',
  'implicit',
  'authorization_code',
  'refresh_token',
  'password',
  'urn:ietf:params:oauth:grant-type:token-exchange',
] as const;

const serviceAccount = Type.Object(
  {
    namespace: word('Namespace of the ServiceAccount.', 63, DNS_LABEL),
    name: word('Name of the ServiceAccount.', 253, OBJECT_NAME),
    uid: Type.Optional(
      word(
        'Pins the entry to the ServiceAccount of this uid. Absent: to the first one that gets a token. Give the uid of a ServiceAccount that was created again to accept it.',
        128,
        OBJECT_UID,
      ),
    ),
  },
  { description: 'One ServiceAccount.', additionalProperties: false },
);

/** Fields of a Client that are the same in a custom resource and over REST. */
export const clientFields = {
  grant_types: Type.Array(Type.Enum([...GRANT_TYPES], { type: 'string', description: 'One grant.' }), {
    description: 'Grants the client may use; empty for a client that only introspects tokens or calls /auth/check.',
    maxItems: 8,
    uniqueItems: true,
  }),
  auth: Type.Optional(
    Type.Object(
      {
        client_credentials: Type.Optional(clientCredentialsSettings),
        implicit: Type.Optional(implicitSettings),
        authorization_code: Type.Optional(authorizationCodeSettings),
      },
      { description: 'Settings of the grants.', additionalProperties: false },
    ),
  ),
  scope: Type.Optional(
    Type.Array(word('One scope (RFC 6749 §3.3).', 128, SCOPE_TOKEN), {
      description:
        'Scopes the client may request. Absent: only the standard scopes of OpenID Connect, `groups` and, for tokens of users, `boxgate`. A client that gets refresh tokens need not list `offline_access`.',
      maxItems: 128,
      uniqueItems: true,
    }),
  ),
  first_party: Type.Optional(
    flag('The client is our own: consent is not requested. Only a custom resource can set it to true.'),
  ),
  active: Type.Optional(
    flag(
      'true by default. false: the client gets no token and every token of it is refused. Tokens from before stay refused when the field is true again.',
    ),
  ),
  post_logout_redirect_uris: Type.Optional(
    Type.Array(uri('One address.'), {
      description: 'Where a person may be sent after signing out (OpenID Connect RP-Initiated Logout 1.0).',
      maxItems: 32,
      uniqueItems: true,
    }),
  ),
  id_token_signed_response_alg: Type.Optional(
    Type.Enum(['RS256', 'ES256', 'EdDSA'], {
      type: 'string',
      description: 'Signature of id_tokens; RS256 by default.',
    }),
  ),
  id_token_claims: Type.Optional(
    Type.Array(Type.Enum(['email', 'profile', 'groups'], { type: 'string', description: 'One scope.' }), {
      description:
        'Scopes whose claims are in the id_token of a code and of a refresh too, where they are granted. All of them are at userinfo; `groups` is always in the id_token.',
      maxItems: 3,
      uniqueItems: true,
    }),
  ),
  name: Type.Optional(line('Name shown to people, on the consent page and in the UI.', 256)),
  description: Type.Optional(prose('What the client is, for people.')),
  details: Type.Optional(freeObject('Free data of the author.')),
  allowed_origins: Type.Optional(
    Type.Array(word('One origin, such as `https://app.example.com`.', 320, WEB_ORIGIN), {
      description: 'Web origins whose scripts may call the endpoints as this client (CORS).',
      maxItems: 32,
      uniqueItems: true,
    }),
  ),
  jwks: Type.Optional(jsonWebKeySet),
  jwks_uri: Type.Optional(
    uri(
      'Where the public keys of the client are. Fetched only from hosts that the installation lists in `BOXGATE_JWKS_HOSTS`.',
    ),
  ),
  service_accounts: Type.Optional(
    Type.Array(serviceAccount, {
      description:
        'Kubernetes ServiceAccounts whose projected token, made for the issuer of the box, authenticates this client. No secret exists then.',
      minItems: 1,
      maxItems: 64,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['namespace', 'name'],
    }),
  ),
  revoke_sessions_before: Type.Optional(
    moment(
      'Everything begun before this time is revoked: sessions, refresh tokens, codes. The highest value ever applied stays in effect; a time in the future is refused.',
    ),
  ),
};

/** Identifier of a Client: in its path, its tokens and the policies that link it. */
export const clientId = word('Identifier of the client. Not only digits: that is a user.', 128, RESOURCE_ID);

/** The secret as a custom resource may carry it. */
export const inlineSecret = word(
  'Client secret in plain text, for development only: prefer secretRef or generateSecret.',
  SECRET_LENGTH,
  SECRET_TEXT,
);

/** The secret as it is submitted: `null` removes the stored one. */
const submittedSecret = Type.Unsafe<string | null>({
  ...word(
    'Client secret, or its argon2id PHC string. Write-only. Absent: the stored one is kept; null: it is removed.',
    SECRET_LENGTH,
    SECRET_TEXT,
  ),
  nullable: true,
});

/** A Client as it is submitted over REST or by the operator. */
export const clientSchema = Type.Object(
  {
    resourceType: Type.Literal('Client', { description: 'Always `Client`.' }),
    id: clientId,
    secret: Type.Optional(submittedSecret),
    ...clientFields,
  },
  { description: 'An OAuth 2.0 client of one box.', additionalProperties: false },
);

/** A Client; `secret` is only accepted and never returned. */
export type Client = Static<typeof clientSchema>;
/** One entry of `grant_types`. */
export type GrantType = (typeof GRANT_TYPES)[number];
/** A ServiceAccount whose token authenticates a client. */
export type ServiceAccount = Static<typeof serviceAccount>;
