import Type, { type Static } from 'typebox';
import { compatibility } from './compatibility.ts';
import { DNS_LABEL, HOST_NAME, WEB_ORIGIN, flag, line, moment, seconds, uri, word } from './fields.ts';

const registration = Type.Object(
  {
    enabled: Type.Optional(flag('People may register themselves; false by default.')),
    allowed_email_domains: Type.Optional(
      Type.Array(word('One domain.', 253, HOST_NAME), {
        description: 'Only addresses of these domains may register. Absent: every domain.',
        minItems: 1,
        maxItems: 128,
        uniqueItems: true,
      }),
    ),
    default_group: Type.Optional(
      line('Group that a new user joins, by its name; created if it does not exist. Never `admins`.', 128),
    ),
    approval: Type.Optional(
      Type.Enum(['none', 'admin'], {
        type: 'string',
        description: '`admin`: a new user is inactive until an admin activates it. `none` by default.',
      }),
    ),
  },
  { description: 'Self-registration of people.', additionalProperties: false },
);

const tokens = Type.Object(
  {
    default_access_token_expiration: Type.Optional(
      seconds('Lifetime of an access token whose client configures none, in seconds; shown as `expires_in`.'),
    ),
    default_lifetime: Type.Optional(
      seconds('Lifetime in seconds of access tokens for which none is configured; 30 days by default.'),
    ),
    max_refresh_lifetime: Type.Optional(
      seconds('Absolute end of a refresh token from its first issue, in seconds; one year by default.'),
    ),
    max_sessions_per_client: Type.Optional(
      Type.Integer({
        description: 'How many live sessions a client may have: a token past it is refused with 429. Absent: no limit.',
        minimum: 1,
        maximum: 100_000,
      }),
    ),
    reject_unknown_scope: Type.Optional(
      flag('true: a scope that the box does not know is `invalid_scope`. Otherwise it is ignored; false by default.'),
    ),
    require_listed_audience: Type.Optional(
      flag(
        'true: a token of a client is for the issuer or for an audience that the client lists, as a token of a user always is. Otherwise a client that lists none gets a token for any audience; false by default.',
      ),
    ),
  },
  { description: 'Lifetimes and numbers of tokens, and what they may be requested for.', additionalProperties: false },
);

const signing = Type.Object(
  {
    algorithm: Type.Optional(
      Type.Enum(['ES256', 'RS256', 'EdDSA'], {
        type: 'string',
        description: 'Signature of JWT access tokens; ES256 by default.',
      }),
    ),
    rotation_period: Type.Optional(
      seconds(
        'How often a new signing key takes over, in seconds, give or take ten minutes; 90 days by default.',
        3600,
      ),
    ),
  },
  { description: 'Signing keys of the box.', additionalProperties: false },
);

const signIn = Type.Object(
  {
    title: Type.Optional(line('Title of the sign-in page.', 256)),
    logo_url: Type.Optional(uri('Picture on the sign-in page; https. The service never fetches it.')),
    color: Type.Optional(
      Type.String({
        description:
          'Colour of buttons, links and the focus ring, on the pages of the box and in its console, such as `"#1f5fbf"`: quoted, because an unquoted `#` begins a comment. The text on buttons is black or white, whichever contrasts more. Links and borders have the colour mixed toward the text colour until the contrast is at least 4.5:1.',
        maxLength: 64,
      }),
    ),
    session_lifetime: Type.Optional(seconds('How long a person stays signed in, in seconds; 12 hours by default.')),
  },
  { description: 'The sign-in page, and the look of all pages.', additionalProperties: false },
);

const audit = Type.Object(
  {
    retention: Type.Optional(
      Type.Integer({
        description: 'Days that records of the audit trail are kept; 90 by default.',
        minimum: 1,
        maximum: 400,
      }),
    ),
  },
  { description: 'The audit trail.', additionalProperties: false },
);

const password = Type.Object(
  {
    min_length: Type.Optional(
      Type.Integer({
        description: 'Minimum length of a password, in characters; 8 by default.',
        minimum: 8,
        maximum: 64,
      }),
    ),
  },
  { description: 'Rules for passwords.', additionalProperties: false },
);

const cors = Type.Object(
  {
    allowed_origins: Type.Optional(
      Type.Array(word('One origin, such as `https://app.example.com`.', 320, WEB_ORIGIN), {
        description: 'Web origins whose scripts may call the endpoints of the box.',
        maxItems: 128,
        uniqueItems: true,
      }),
    ),
  },
  { description: 'Calls from scripts of other origins.', additionalProperties: false },
);

const sentence = (language: string) => line(`The sentence in ${language}: what an app with the scope may do.`, 256);

const scopes = Type.Unsafe<CustomScopes>({
  type: 'object',
  description:
    'Scopes of your own APIs, as `name: {en, de}`: the sentence that the consent page shows for each, after "It wants to". `en` must be given and is shown for a missing language. A client may request those that its `scope` lists.',
  maxProperties: 64,
  additionalProperties: Type.Object(
    { en: sentence('English, also for people of other languages'), de: Type.Optional(sentence('German')) },
    { description: 'The sentences of one scope, by language.', additionalProperties: false },
  ),
});

/**
 * Sentences about a custom scope, by language: what an app with it may do; `en` is shown for a language that is
 * missing.
 */
export interface ScopeSentences {
  readonly en: string;
  readonly de?: string;
}

/** The custom scopes of a box, by their names. */
export type CustomScopes = Readonly<Record<string, ScopeSentences>>;

/** Fields of a Box that are the same in a custom resource and towards the API. */
export const boxFields = {
  active: Type.Optional(
    flag(
      'true by default. false: the box issues nothing and refuses every token. Tokens from before stay refused when the field is true again.',
    ),
  ),
  hosts: Type.Optional(
    Type.Array(word('One host name, without port.', 253, HOST_NAME), {
      description: 'Host names under which the box answers; each must be granted by an annotation of the namespace.',
      maxItems: 32,
      uniqueItems: true,
    }),
  ),
  issuer: Type.Optional(
    uri(
      'Issuer of the tokens: https on a granted host, with a path or without one (RFC 8414 §2). Absent: `<public URL>/boxes/<namespace>`.',
    ),
  ),
  registration: Type.Optional(registration),
  tokens: Type.Optional(tokens),
  scopes: Type.Optional(scopes),
  signing: Type.Optional(signing),
  sign_in: Type.Optional(signIn),
  password: Type.Optional(password),
  audit: Type.Optional(audit),
  cors: Type.Optional(cors),
  compatibility: Type.Optional(compatibility),
  revoke_sessions_before: Type.Optional(
    moment(
      'Everything begun before this time is revoked: sessions, refresh tokens, codes, sign-ins. The highest value ever applied stays in effect; a time in the future is refused.',
    ),
  ),
};

/** A Box as the operator applies it; its id is the name of the namespace. */
export const boxSchema = Type.Object(
  {
    resourceType: Type.Literal('Box', { description: 'Always `Box`.' }),
    id: word('Id of the box: the name of its namespace.', 63, DNS_LABEL),
    ...boxFields,
  },
  { description: 'Settings of one box.', additionalProperties: false },
);

/** Settings of one box; a box without them has the defaults. */
export type Box = Static<typeof boxSchema>;
