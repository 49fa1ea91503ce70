import { generateKeyPairSync } from 'node:crypto';

type Fields = Readonly<Record<string, unknown>>;

function publicKey(type: 'rsa' | 'ec' | 'ed25519'): object {
  switch (type) {
    case 'rsa':
      return generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
    case 'ec':
      return generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
    case 'ed25519':
      return generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  }
}

/** Values of which YAML or JSON might make others. */
const oddValues = {
  nothing: null,
  words: ['no', 'yes', 'null', '~', '0123', '1e3', '2026-01-01', '=', '<<', '- a', 'a: b', '# c', ' a ', ''],
  numbers: [0, -1, 1.5, 1e21, 1e-7, 999_999_999_999_999],
  lines: 'one\n  two\r\n\tthree\n',
  signs: '"\'\\ \u00e4 \u2028 \u0085 \ufeff 😀',
  deep: [[[{ a: [] }]], {}],
  'a name: with # signs': true,
};

const issued = { token_format: 'jwt', access_token_expiration: 600, audience: ['https://a.example', 'b'] };
const refreshed = {
  refresh_token: true,
  refresh_token_expiration: 7200,
  refresh_requires_secret: true,
  refresh_rotation: true,
};

/** Clients over REST that have, all together, every field that a client can have there. */
export const clientSamples: Readonly<Record<string, Fields>> = {
  'full-client': {
    resourceType: 'Client',
    secret: 'a chosen secret',
    grant_types: ['client_credentials', 'implicit', 'authorization_code', 'refresh_token', 'password'],
    auth: {
      client_credentials: { ...issued, ...refreshed },
      implicit: { redirect_uri: 'https://a.example/token', redirect_uris: ['http://[::1]/token'], ...issued },
      authorization_code: {
        redirect_uri: 'com.example.app:/back',
        redirect_uris: ['https://a.example/back?x=%20', 'https://b.example/'],
        ...issued,
        ...refreshed,
        secret_required: true,
        pkce: true,
      },
    },
    scope: ['read', 'write', 'openid'],
    first_party: false,
    active: true,
    post_logout_redirect_uris: ['https://a.example/bye?x=%20', 'https://a.example/'],
    id_token_signed_response_alg: 'EdDSA',
    id_token_claims: ['profile', 'email'],
    name: 'no',
    description: 'One line\nand another: "quoted", # and a sign\n',
    details: oddValues,
    allowed_origins: ['https://a.example', 'http://127.0.0.1:8080'],
    service_accounts: [{ namespace: 'shop', name: 'orders', uid: '7f3c0a52-6d5e-4f7e-9b8e-0d3f5f1f2a10' }],
    revoke_sessions_before: '2026-01-01T00:00:00.000+02:00',
  },
  'keys-client': {
    resourceType: 'Client',
    grant_types: ['client_credentials'],
    jwks: { keys: [{ ...publicKey('rsa'), kid: '1e3', use: 'sig' }, publicKey('ed25519'), publicKey('ec')] },
  },
  'remote-keys-client': {
    resourceType: 'Client',
    grant_types: ['client_credentials'],
    jwks_uri: 'https://keys.example/jwks.json',
  },
  'empty-client': {
    resourceType: 'Client',
    grant_types: [],
    scope: [],
    details: {},
    allowed_origins: [],
    description: '',
  },
};

/** Fields of a client that a stored one over REST never has. */
export const absentClientFields: readonly string[] = [
  // Private and symmetric keys are refused.
  ...['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'].map((name) => `jwks.keys[].${name}`),
  // It is written and never read.
  'secret',
];

const rules = [
  { engine: 'allow' },
  { engine: 'matcho', matcho: { uri: '#^/a', params: { q: null, x: oddValues.words }, body: { $not: 'nil?' } } },
  { engine: 'cel', expression: 'uri == "/a"\n  && params.q != "no" // why\n' },
  {
    engine: 'json-schema',
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      required: ['uri'],
      properties: { uri: { type: 'string', pattern: '^/[a-z]+$' }, 'remote-addr': { enum: ['no', null, 1e3] } },
    },
  },
] as const;

const link = [
  { resourceType: 'Client', id: 'full-client' },
  { resourceType: 'User', id: '7' },
  { resourceType: 'Group', id: 'no' },
];

/** Policies that have, all together, every field that a policy can have over REST. */
export const policySamples: Readonly<Record<string, Fields>> = {
  ...Object.fromEntries(
    rules.map((rule) => [`${rule.engine}-policy`, { resourceType: 'AccessPolicy', ...rule, link }]),
  ),
  'and-policy': { resourceType: 'AccessPolicy', engine: 'complex', and: rules, subjects: 'authenticated' },
  'or-policy': {
    resourceType: 'AccessPolicy',
    engine: 'complex',
    or: rules,
    subjects: 'linked',
    link: [],
    apps: ['orders'],
    description: '~',
  },
  'reference-policy': { resourceType: 'AccessPolicy', engine: 'allow', link: [{ reference: 'Group/no' }] },
};

/** Fields of a policy that a stored one never has: a reference is stored in the other form of a link. */
export const absentPolicyFields: readonly string[] = ['link[].reference'];

/** Groups that have, all together, every field that can be set. */
export const groupSamples: readonly Fields[] = [
  { name: 'no', description: 'a: b # c' },
  { name: '1e3x', description: null },
  { name: 'only a name' },
];

/** Users that have, all together, every field that can be set. `groups` are IDs of groups. */
export const userSamples = (groups: readonly number[]): readonly Fields[] => [
  {
    email: 'Ann@Mail.example',
    email_verified: true,
    password: 'correct horse',
    data: '{ "a": 1.50, "b": [null, "no"] }',
    status: 'active',
    'group-ids': groups,
  },
  { email: 'bob@mail.example', password: 'correct horse', data: null, status: null, 'group-ids': [] },
  { email: 'eve@mail.example', email_verified: false, password: 'correct horse', data: '"no"', status: 'inactive' },
];

/** A Box that has every field but its addresses, which are given to it elsewhere. */
export const fullBox: Fields = {
  resourceType: 'Box',
  active: true,
  registration: {
    enabled: true,
    allowed_email_domains: ['mail.example'],
    default_group: 'Customers 1',
    approval: 'admin',
  },
  tokens: {
    default_access_token_expiration: 600,
    default_lifetime: 86_400,
    max_refresh_lifetime: 315_360_000,
    max_sessions_per_client: 1000,
    reject_unknown_scope: true,
    require_listed_audience: true,
  },
  scopes: { 'orders.read': { en: 'It reads your orders', de: 'Sie liest Ihre Bestellungen' } },
  signing: { algorithm: 'RS256', rotation_period: 86_400 },
  sign_in: { title: 'no', logo_url: 'https://cdn.example/logo.svg?v=1', color: '#1f5fbf', session_lifetime: 3600 },
  password: { min_length: 8 },
  audit: { retention: 30 },
  cors: { allowed_origins: ['https://app.example'] },
  compatibility: {
    profile: 'strict',
    implicit: true,
    query_token: true,
    password_hash: true,
    password_change_without_old: true,
    refresh_without_secret: true,
    password_grant: true,
    foreign_audience: true,
  },
  revoke_sessions_before: '2026-01-31T12:00:00Z',
};

/** Fields that {@link fullBox} does not have. */
export const absentBoxFields: readonly string[] = ['hosts', 'issuer'];
