import { accepted, letters, manifest, refused, type Row, type Spec } from './row.ts';
import { NO_STORED_FORMS, STORED_FORMS } from '../../support/stored-forms.ts';

const salt = 'c2FsdHNhbHRzYWx0c2FsdA';
const hash = 'J1cZ4ZRdVyqKPZTjVbLhVdQ7GOnBBGXVr3F5R3mEv1Y';
/** A modulus of that many bits in base64url; its highest bit is set, as RFC 7518 §6.3.1.1 demands. */
const modulus = (bits: number): string =>
  Buffer.alloc(bits / 8, 0xc1)
    .fill(0x80, 0, 1)
    .toString('base64url');
const rsa = { kty: 'RSA', n: modulus(2048), e: 'AQAB', alg: 'RS256', use: 'sig', kid: 'one' };
/** The public keys of RFC 7517 appendix A.1 and RFC 8037 appendix A.2. */
const ec = {
  kty: 'EC',
  crv: 'P-256',
  x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
  y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
};
const okp = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };

/** Values of a client's identity and credentials: id, secret, keys, service accounts, and the texts that people see. */
export const clientIdentityRows: readonly Row[] = [
  ...accepted('Client', {
    'an id of its own': { id: 'My.Client_1~2-3' },
    'an id that begins with digits': { id: '42answers' },
    'an id of digits with a dot': { id: '1.0' },
    'an id that begins almost like a reserved one': { id: 'boxgate-ui' },
    'the shortest id': { id: 'a' },
    'the longest id': { id: letters(128) },
    'a secret': { secret: 's3cret with blanks: and "quotes"' },
    'a secret of one character': { secret: 'x' },
    'the longest secret': { secret: letters(1024) },
    'a secret that begins with a dollar': { secret: '$ecret' },
    ...Object.fromEntries(NO_STORED_FORMS.map((secret) => [`the secret ${secret}`, { secret }])),
    'a hash': { secret: `$argon2id$v=19$m=19456,t=2,p=1$${salt}$${hash}` },
    'a hash as Node writes it': { secret: `$argon2id$v=19$m=19456,p=1,t=2$${salt}$${hash}` },
    'the costliest hash': { secret: `$argon2id$v=19$m=65536,t=5,p=4$${salt}$${hash}` },
    'a public RSA key': { jwks: { keys: [rsa] } },
    'R-15 RSA keys of more bits': { jwks: { keys: [3072, 4096, 2056].map((bits) => ({ ...rsa, n: modulus(bits) })) } },
    'public keys of other types, with members nobody knows': {
      jwks: {
        keys: [
          { ...ec, use: 'sig', key_ops: ['verify'] },
          { ...okp, 'x5t#S256': 'AQAB', example: { nested: [1, null] } },
        ],
      },
    },
    'where its keys are': { jwks_uri: 'https://app.example.com/jwks.json' },
    'where its keys are, on loopback': { jwks_uri: 'http://127.0.0.1:8080/jwks.json' },
    'service accounts': {
      service_accounts: [
        { namespace: 'shop', name: 'orders' },
        { namespace: 'shop', name: 'orders.v2', uid: '6f1c3a52-0d0e-4f0b-9a38-6f0d7c1b2a11' },
        { namespace: 'other', name: 'orders' },
      ],
    },
    'switched off': { active: false },
    'our own': { first_party: true, active: true },
    'what people see': { name: 'Orders & Söhne 🛒', description: 'First line\n\tsecond line\r\n' },
    'free data': { details: { owner: { team: 'a', none: null }, tags: ['x', 1, true, null], 'a b': 1.5 } },
    'no free data': { details: {} },
    origins: {
      allowed_origins: [
        ...['https://app.example.com', 'http://localhost:3000', 'https://[::1]:8443', 'http://10.0.0.1'],
        // Apps in a web view: Capacitor, Tauri, Electron, an extension of a browser.
        ...['capacitor://localhost', 'tauri://localhost', 'app://shop', 'chrome-extension://abcdefgh'],
      ],
    },
    'an algorithm': { id_token_signed_response_alg: 'EdDSA' },
    'claims of id_tokens': { id_token_claims: ['groups', 'email', 'profile'] },
    'no claims of id_tokens': { id_token_claims: [] },
    'a time in UTC': { revoke_sessions_before: '2026-01-31T12:00:00Z' },
    'a time with an offset and fractions': { revoke_sessions_before: '2026-01-31T12:00:00.123456+05:30' },
  }),
  ...refused('Client', {
    'an empty id': [{ id: '' }, 'id'],
    'an id that is a number': [{ id: 42 }, 'id'],
    'an id of digits': [{ id: '42' }, 'id'],
    'an id of one digit': [{ id: '0' }, 'id'],
    'the id of a built-in client': [{ id: 'boxgate.ui' }, 'id'],
    'an id that is reserved for later built-in clients': [{ id: 'boxgate.x' }, 'id'],
    'an id that is too long': [{ id: letters(129) }, 'id'],
    'an id of 300 characters': [{ id: letters(300) }, 'id'],
    'an id with a slash': [{ id: 'a/b' }, 'id'],
    'an id that goes up': [{ id: '../app' }, 'id'],
    'an id of two dots': [{ id: '..' }, 'id'],
    'an id with a colon': [{ id: 'a:b' }, 'id'],
    'an id with a blank': [{ id: 'a b' }, 'id'],
    'an id with a line end': [{ id: 'app\n' }, 'id'],
    'an id with a NUL at its end': [{ id: 'app\u0001' }, 'id'],
    'an id that is an email': [{ id: 'someone@example.com' }, 'id'],
    'an id with a right-to-left mark': [{ id: 'app\u200f' }, 'id'],
    'an id with a homoglyph': [{ id: '\u0430pp' }, 'id'],
    'an id with a percent sign': [{ id: 'a%2fb' }, 'id'],
    'an id that begins with a hyphen': [{ id: '-app' }, 'id'],
    'an empty secret': [{ secret: '' }, 'secret'],
    'a secret that YAML made a number': [{ secret: 123 }, 'secret'],
    'a secret that YAML made a boolean': [{ secret: false }, 'secret'],
    'a secret that is an object': [{ secret: { $ne: null } }, 'secret'],
    'a secret that is a list': [{ secret: ['x'] }, 'secret'],
    'a secret with a line end': [{ secret: 's3cret\n' }, 'secret'],
    'a secret that is not ASCII': [{ secret: 'geheimß' }, 'secret'],
    'a secret that is too long': [{ secret: letters(1025) }, 'secret'],
    'a hash that takes more than 64 MiB': [{ secret: `$argon2id$v=19$m=65537,t=2,p=1$${salt}$${hash}` }, 'secret'],
    'a hash that takes a gigabyte': [{ secret: `$argon2id$v=19$m=1048576,t=2,p=1$${salt}$${hash}` }, 'secret'],
    'a hash of six passes': [{ secret: `$argon2id$v=19$m=19456,t=6,p=1$${salt}$${hash}` }, 'secret'],
    'a hash of ten passes': [{ secret: `$argon2id$v=19$m=19456,t=10,p=1$${salt}$${hash}` }, 'secret'],
    'a hash of five lanes': [{ secret: `$argon2id$v=19$m=19456,t=2,p=5$${salt}$${hash}` }, 'secret'],
    'a hash of no lanes': [{ secret: `$argon2id$v=19$m=19456,t=2,p=0$${salt}$${hash}` }, 'secret'],
    'a hash of an old version': [{ secret: `$argon2id$v=16$m=19456,t=2,p=1$${salt}$${hash}` }, 'secret'],
    'a hash of argon2i': [{ secret: `$argon2i$v=19$m=19456,t=2,p=1$${salt}$${hash}` }, 'secret'],
    'a hash without its end': [{ secret: `$argon2id$v=19$m=19456,t=2,p=1$${salt}` }, 'secret'],
    'a hash with something behind it': [{ secret: `$argon2id$v=19$m=19456,t=2,p=1$${salt}$${hash} ` }, 'secret'],
    // E-12: the stored form of another system became the secret.
    ...Object.fromEntries(
      Object.entries(STORED_FORMS).map(([what, secret]) => [`a hash ${what}`, [{ secret }, 'secret']]),
    ),
    'keys twice': [{ jwks: { keys: [rsa] }, jwks_uri: 'https://app.example.com/jwks.json' }, 'jwks_uri'],
    'keys that are a list': [{ jwks: [rsa] }, 'jwks'],
    'keys without keys': [{ jwks: {} }, 'jwks.keys'],
    'no keys': [{ jwks: { keys: [] } }, 'jwks.keys'],
    'keys beside the keys': [{ jwks: { keys: [rsa], other: 1 } }, 'jwks.other'],
    'a private key': [{ jwks: { keys: [rsa, { ...rsa, d: 'AQAB' }] } }, 'jwks.keys[1].d'],
    'R-15 a private EC key': [
      { jwks: { keys: [{ kty: 'EC', crv: 'P-256', x: 'AQAB', y: 'AQAB', d: 'AQAB' }] } },
      'jwks.keys[0].d',
    ],
    'R-15 a private key without d': [
      {
        jwks: {
          keys: [rsa, { ...rsa, p: 'AQAB', q: 'AQAB', dp: 'AQAB', dq: 'AQAB', qi: 'AQAB', oth: [{ r: 'AQAB' }] }],
        },
      },
      ...['p', 'q', 'dp', 'dq', 'qi', 'oth'].map((member) => `jwks.keys[1].${member}`),
    ],
    ...Object.fromEntries(
      ['p', 'q', 'dp', 'dq', 'qi', 'k'].map((member) => [
        `R-15 a key with the private member ${member}`,
        [{ jwks: { keys: [{ ...rsa, [member]: 'AQAB' }] } }, `jwks.keys[0].${member}`] as const,
      ]),
    ),
    'R-15 a key with other primes': [{ jwks: { keys: [{ ...rsa, oth: [] }] } }, 'jwks.keys[0].oth'],
    'R-15 an RSA key of 1024 bits': [{ jwks: { keys: [rsa, { ...rsa, n: modulus(1024) }] } }, 'jwks.keys[1].n'],
    'R-15 an RSA key of 2040 bits': [{ jwks: { keys: [{ ...rsa, n: modulus(2040) }] } }, 'jwks.keys[0].n'],
    'R-15 an RSA key of 2047 bits': [
      { jwks: { keys: [{ ...rsa, n: `f${modulus(2048).slice(1)}` }] } },
      'jwks.keys[0].n',
    ],
    'R-15 an RSA key of 1024 bits behind zeros': [
      { jwks: { keys: [{ ...rsa, n: `${'A'.repeat(200)}${modulus(1024)}` }] } },
      'jwks.keys[0].n',
    ],
    'R-15 an RSA key that is too long': [{ jwks: { keys: [{ ...rsa, n: 'w'.repeat(4097) }] } }, 'jwks.keys[0].n'],
    'R-21 an RSA key without a modulus': [{ jwks: { keys: [{ kty: 'RSA', e: 'AQAB' }] } }, 'jwks.keys[0]'],
    'R-15 an RSA key whose modulus is no base64url': [
      { jwks: { keys: [{ ...rsa, n: '+'.repeat(342) }] } },
      'jwks.keys[0].n',
    ],
    'R-21 an RSA key without members': [{ jwks: { keys: [{ kty: 'RSA' }] } }, 'jwks.keys[0]'],
    'R-21 an RSA key without an exponent': [{ jwks: { keys: [rsa, { ...rsa, e: undefined }] } }, 'jwks.keys[1]'],
    'R-21 an EC key without y': [{ jwks: { keys: [{ ...ec, y: undefined }] } }, 'jwks.keys[0]'],
    'R-21 an EC key whose y kubectl took for true': [
      { jwks: { keys: [{ ...ec, y: undefined, true: ec.y }] } },
      'jwks.keys[0]',
      'jwks.keys[0].true',
    ],
    // E-33: it was told as a modulus that is too short.
    'R-21 an RSA key whose n kubectl took for false': [
      { jwks: { keys: [{ ...rsa, n: undefined, false: rsa.n }] } },
      'jwks.keys[0]',
      'jwks.keys[0].false',
    ],
    'R-21 an EC key whose x is a number': [{ jwks: { keys: [{ ...ec, x: 7 }] } }, 'jwks.keys[0].x'],
    'R-21 members that are too long': [
      {
        jwks: {
          keys: [{ kty: 'EC', ...Object.fromEntries(['e', 'crv', 'x', 'y'].map((name) => [name, letters(4097)])) }],
        },
      },
      ...['e', 'crv', 'x', 'y'].map((name) => `jwks.keys[0].${name}`),
    ],
    'R-21 an OKP key without a curve': [{ jwks: { keys: [{ ...okp, crv: undefined }] } }, 'jwks.keys[0]'],
    'a symmetric key': [{ jwks: { keys: [{ kty: 'oct', k: 'AQAB' }] } }, 'jwks.keys[0].k', 'jwks.keys[0].kty'],
    'a key without type': [{ jwks: { keys: [{ n: 'AQAB', e: 'AQAB' }] } }, 'jwks.keys[0].kty'],
    'a key that is a string': [{ jwks: { keys: ['AQAB'] } }, 'jwks.keys[0]'],
    'a key id that is a number': [{ jwks: { keys: [{ ...rsa, kid: 1 }] } }, 'jwks.keys[0].kid'],
    'an empty key id': [{ jwks: { keys: [{ ...rsa, kid: '' }] } }, 'jwks.keys[0].kid'],
    'a key id that is too long': [{ jwks: { keys: [{ ...rsa, kid: letters(257) }] } }, 'jwks.keys[0].kid'],
    'a key id of two lines': [{ jwks: { keys: [{ ...rsa, kid: 'a\nb' }] } }, 'jwks.keys[0].kid'],
    'a private part that is no text': [{ jwks: { keys: [{ ...rsa, d: 1 }] } }, 'jwks.keys[0].d'],
    'a private part that is too long': [{ jwks: { keys: [{ ...rsa, d: letters(4097) }] } }, 'jwks.keys[0].d'],
    'too many members of a key': [{ jwks: { keys: [{ ...rsa, ...numbered(32) }] } }, 'jwks.keys[0]'],
    'too many keys': [{ jwks: { keys: Array.from({ length: 33 }, () => rsa) } }, 'jwks.keys'],
    'keys over http': [{ jwks_uri: 'http://app.example.com/jwks.json' }, 'jwks_uri'],
    'keys in a file': [{ jwks_uri: 'file:///etc/passwd' }, 'jwks_uri'],
    'keys of the cloud': [{ jwks_uri: 'http://169.254.169.254/latest' }, 'jwks_uri'],
    'keys behind a user': [{ jwks_uri: 'https://a:b@app.example.com/jwks.json' }, 'jwks_uri'],
    'keys behind a fragment': [{ jwks_uri: 'https://app.example.com/jwks.json#one' }, 'jwks_uri'],
    'keys at no address': [{ jwks_uri: 'jwks.json' }, 'jwks_uri'],
    'keys at an address that is not ASCII': [{ jwks_uri: 'https://app.example.com/schlüssel' }, 'jwks_uri'],
    'keys at an address that is too long': [{ jwks_uri: `https://app.example.com/${letters(2025)}` }, 'jwks_uri'],
    'keys at an address of nothing': [{ jwks_uri: '' }, 'jwks_uri'],
    'no service accounts': [{ service_accounts: [] }, 'service_accounts'],
    'a service account twice': [
      {
        service_accounts: [
          { namespace: 'shop', name: 'orders' },
          { namespace: 'shop', name: 'orders' },
        ],
      },
      'service_accounts[1]',
    ],
    'a service account without namespace': [
      { service_accounts: [{ name: 'orders' }] },
      'service_accounts[0].namespace',
    ],
    'a service account without name': [{ service_accounts: [{ namespace: 'shop' }] }, 'service_accounts[0].name'],
    'a service account as a string': [{ service_accounts: ['shop/orders'] }, 'service_accounts[0]'],
    'a service account with a token': [
      { service_accounts: [{ namespace: 'shop', name: 'orders', token: 'x' }] },
      'service_accounts[0].token',
    ],
    'R-54 a service account with a uid that is none': [
      { service_accounts: [{ namespace: 'shop', name: 'orders', uid: 'a b' }] },
      'service_accounts[0].uid',
    ],
    'R-54 a service account with a uid that is too long': [
      { service_accounts: [{ namespace: 'shop', name: 'orders', uid: letters(129) }] },
      'service_accounts[0].uid',
    ],
    'a service account in capitals': [
      { service_accounts: [{ namespace: 'Shop', name: 'Orders' }] },
      'service_accounts[0].namespace',
      'service_accounts[0].name',
    ],
    'a service account in a long namespace': [
      { service_accounts: [{ namespace: letters(64), name: 'x' }] },
      'service_accounts[0].namespace',
    ],
    'a service account of nothing': [
      { service_accounts: [{ namespace: '', name: '' }] },
      'service_accounts[0].namespace',
      'service_accounts[0].name',
    ],
    'a service account in a namespace with a dot': [
      { service_accounts: [{ namespace: 'a.b', name: 'x' }] },
      'service_accounts[0].namespace',
    ],
    'a service account with a long name': [
      { service_accounts: [{ namespace: 'shop', name: letters(254) }] },
      'service_accounts[0].name',
    ],
    'too many service accounts': [
      { service_accounts: Array.from({ length: 65 }, (_, i) => ({ namespace: 'shop', name: `a${i}` })) },
      'service_accounts',
    ],
    'active as a string': [{ active: 'true' }, 'active'],
    'first_party as a number': [{ first_party: 1 }, 'first_party'],
    'a name of two lines': [{ name: 'a\nb' }, 'name'],
    'an empty name': [{ name: '' }, 'name'],
    'a name that is too long': [{ name: letters(257) }, 'name'],
    'a name that is a list': [{ name: ['a'] }, 'name'],
    'a description with a bell': [{ description: 'ring\u0007' }, 'description'],
    'a description that is too long': [{ description: letters(4097) }, 'description'],
    'a description that is a number': [{ description: 1 }, 'description'],
    'free data that is a list': [{ details: [1] }, 'details'],
    'free data that is a string': [{ details: 'x' }, 'details'],
    'too much free data': [{ details: numbered(1001) }, 'details'],
    'origins as a string': [{ allowed_origins: 'https://app.example.com' }, 'allowed_origins'],
    'any origin': [{ allowed_origins: ['*'] }, 'allowed_origins[0]'],
    'the null origin': [{ allowed_origins: ['null'] }, 'allowed_origins[0]'],
    'an empty origin': [{ allowed_origins: [''] }, 'allowed_origins[0]'],
    'an origin with a path': [{ allowed_origins: ['https://app.example.com/'] }, 'allowed_origins[0]'],
    'an origin with a wildcard': [{ allowed_origins: ['https://*.example.com'] }, 'allowed_origins[0]'],
    'an origin in capitals': [{ allowed_origins: ['https://App.example.com'] }, 'allowed_origins[0]'],
    'an origin without a scheme': [{ allowed_origins: ['app.example.com'] }, 'allowed_origins[0]'],
    'an origin with a scheme in capitals': [{ allowed_origins: ['Capacitor://localhost'] }, 'allowed_origins[0]'],
    'an origin with a scheme only': [{ allowed_origins: ['capacitor://'] }, 'allowed_origins[0]'],
    'an origin without slashes': [{ allowed_origins: ['capacitor:localhost'] }, 'allowed_origins[0]'],
    'the origin of a file': [{ allowed_origins: ['file:///index.html'] }, 'allowed_origins[0]'],
    'an origin with a user': [{ allowed_origins: ['https://a@app.example.com'] }, 'allowed_origins[0]'],
    'an origin that is too long': [{ allowed_origins: [`https://[${'0:'.repeat(160)}]`] }, 'allowed_origins[0]'],
    'an origin twice': [{ allowed_origins: ['https://a.example', 'https://a.example'] }, 'allowed_origins[1]'],
    'too many origins': [
      { allowed_origins: Array.from({ length: 33 }, (_, i) => `https://a${i}.example`) },
      'allowed_origins',
    ],
    'an algorithm that signs with a secret': [
      { id_token_signed_response_alg: 'HS256' },
      'id_token_signed_response_alg',
    ],
    'no algorithm': [{ id_token_signed_response_alg: 'none' }, 'id_token_signed_response_alg'],
    'an algorithm that is a number': [{ id_token_signed_response_alg: 256 }, 'id_token_signed_response_alg'],
    'a claim that is no scope': [{ id_token_claims: ['name'] }, 'id_token_claims[0]'],
    'a scope whose claims stay at userinfo': [{ id_token_claims: ['email', 'phone'] }, 'id_token_claims[1]'],
    'a claim in capitals': [{ id_token_claims: ['Email'] }, 'id_token_claims[0]'],
    'claims that are one text': [{ id_token_claims: 'email' }, 'id_token_claims'],
    'a claim twice': [{ id_token_claims: ['email', 'email'] }, 'id_token_claims[1]'],
    'a time without offset': [{ revoke_sessions_before: '2026-01-31T12:00:00' }, 'revoke_sessions_before'],
    'a day': [{ revoke_sessions_before: '2026-01-31' }, 'revoke_sessions_before'],
    'a time with a blank': [{ revoke_sessions_before: '2026-01-31 12:00:00Z' }, 'revoke_sessions_before'],
    'a 30th of February': [{ revoke_sessions_before: '2026-02-30T12:00:00Z' }, 'revoke_sessions_before'],
    'an hour 24': [{ revoke_sessions_before: '2026-01-31T24:00:00Z' }, 'revoke_sessions_before'],
    'a month 13': [{ revoke_sessions_before: '2026-13-01T12:00:00Z' }, 'revoke_sessions_before'],
    'seconds since 1970': [{ revoke_sessions_before: 1_700_000_000 }, 'revoke_sessions_before'],
    'seconds since 1970 as text': [{ revoke_sessions_before: '1700000000' }, 'revoke_sessions_before'],
    'a list': [{ revoke_sessions_before: [] }, 'revoke_sessions_before'],
    now: [{ revoke_sessions_before: 'now' }, 'revoke_sessions_before'],
    'a time of more digits than there are': [
      { revoke_sessions_before: `2026-01-31T12:00:00.${'0'.repeat(30)}Z` },
      'revoke_sessions_before',
    ],
    'R-48 a time of creation, which is shown over REST only': [
      { created_at: '2026-01-31T12:00:00.000Z' },
      'created_at',
    ],
    'a field nobody knows': [{ redirect_uris: ['https://app.example.com/'] }, 'redirect_uris'],
    'a field of another standard': [{ client_secret: 'x', clientSecret: 'x' }, 'client_secret', 'clientSecret'],
    'a resource type in a spec': [{ resourceType: 'Client' }, 'resourceType'],
    'a field in capitals': [{ Active: false }, 'Active'],
  }),
  ...nameRows(),
];

function numbered(count: number): Spec {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, 'x']));
}

/** Returns rows about an id that defaults to the object's name, and about its changes. */
function nameRows(): Row[] {
  const long = `${letters(60)}.${letters(60)}.${letters(60)}`;
  const row = (title: string, object: Spec, verdict: Row['verdict'], paths: string[] = [], old?: Spec): Row => ({
    title,
    kind: 'Client',
    object,
    verdict,
    paths,
    ...(old === undefined ? {} : { old }),
  });
  return [
    row('an object with a dot in its name', manifest('Client', {}, 'app.v2'), 'accepted'),
    row('an object whose name is a number', manifest('Client', {}, '42'), 'refused', ['metadata.name']),
    row('an object named like a built-in client', manifest('Client', {}, 'boxgate.cli'), 'refused', ['metadata.name']),
    row(
      'an object named like a built-in client, with an id',
      manifest('Client', { id: 'app' }, 'boxgate.cli'),
      'accepted',
    ),
    row('an object whose name is a number, with an id', manifest('Client', { id: 'app' }, '42'), 'accepted'),
    row('an object whose name is too long for an id', manifest('Client', {}, long), 'refused', ['metadata.name']),
    row('an object whose name is long, with an id', manifest('Client', { id: 'app' }, long), 'accepted'),
    row('an id that changes', manifest('Client', { id: 'b' }), 'refused', ['spec.id'], manifest('Client', { id: 'a' })),
    row('an id that is new', manifest('Client', { id: 'b' }), 'refused', ['spec.id'], manifest('Client', {})),
    row('an id that goes', manifest('Client', {}), 'refused', ['spec.id'], manifest('Client', { id: 'a' })),
    row('an id that stays', manifest('Client', { id: 'a' }), 'accepted', [], manifest('Client', { id: 'a' })),
    row('an id that is said aloud', manifest('Client', { id: 'app' }), 'accepted', [], manifest('Client', {})),
    row('another field that changes', manifest('Client', { name: 'x' }), 'accepted', [], manifest('Client', {})),
    row('no spec', { ...manifest('Client', {}), spec: null }, 'refused', ['spec']),
    row('a spec that is a list', { ...manifest('Client', {}), spec: [] }, 'refused', ['spec']),
    row('a field beside spec', { ...manifest('Client', {}), data: {} }, 'refused', ['data']),
    row(
      'R-48 an object as it was read, with the time of its creation',
      {
        ...manifest('Client', {}),
        metadata: { name: 'app', namespace: 'shop', generation: 1, creationTimestamp: '2026-01-31T12:00:00Z' },
        status: { observedGeneration: 1 },
      },
      'accepted',
    ),
    row('a status in the manifest', { ...manifest('Client', {}), status: { observedGeneration: 1 } }, 'accepted'),
  ];
}
