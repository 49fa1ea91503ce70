import { accepted, letters, manifest, refused, type Refused, type Row, type Spec } from './row.ts';

/** Settings of a box. */
export const boxRows: readonly Row[] = [
  ...accepted('Box', {
    'a box with the defaults': {},
    everything: {
      active: true,
      hosts: ['auth.example.com', 'svc.example.com', 'login'],
      issuer: 'https://auth.example.com/shop',
      registration: {
        enabled: true,
        allowed_email_domains: ['example.com'],
        default_group: 'Customers 1',
        approval: 'admin',
      },
      tokens: {
        default_access_token_expiration: 600,
        default_lifetime: 86_400,
        max_refresh_lifetime: 315_360_000,
        max_sessions_per_client: 1,
      },
      signing: { algorithm: 'RS256', rotation_period: 86_400 },
      sign_in: {
        title: 'Einkäufe',
        logo_url: 'https://cdn.example.com/logo.svg?v=1',
        color: '#1f5FBF',
        session_lifetime: 3600,
      },
      password: { min_length: 15 },
      audit: { retention: 400 },
      cors: { allowed_origins: ['https://app.example.com'] },
      compatibility: {
        implicit: true,
        query_token: true,
        password_hash: false,
        password_change_without_old: false,
        refresh_without_secret: false,
        foreign_audience: false,
      },
      revoke_sessions_before: '2026-01-31T12:00:00Z',
      bootstrap_admin: { email: 'admin@example.com', passwordSecretRef: { name: 'admin', key: 'password' } },
      deletionPolicy: 'Retain',
      suspend: false,
    },
    'a signing key that changes every hour': { signing: { rotation_period: 3600 } },
    'empty groups of settings': {
      registration: {},
      tokens: {},
      signing: {},
      sign_in: {},
      password: {},
      cors: {},
      compatibility: {},
    },
    'the strict profile': { compatibility: { profile: 'strict', implicit: true } },
    'an issuer of a host': { issuer: 'https://auth.example.com' },
    'an issuer with a port': { issuer: 'https://auth.example.com:8443/a/b' },
    'switched off': { active: false, deletionPolicy: 'Delete', suspend: true },
    'the other algorithms': { signing: { algorithm: 'EdDSA' } },
    'the usual algorithm': { signing: { algorithm: 'ES256' } },
  }),
  ...refused('Box', {
    'active as a string': [{ active: 'no' }, 'active'],
    'suspend as a string': [{ suspend: 'no' }, 'suspend'],
    'a box that is adopted': [{ adoption: 'Force' }, 'adoption'],
    'an id': [{ id: 'shop' }, 'id'],
    'a deletion policy nobody knows': [{ deletionPolicy: 'Keep' }, 'deletionPolicy'],
    'a deletion policy that is a number': [{ deletionPolicy: 1 }, 'deletionPolicy'],
    'hosts as a string': [{ hosts: 'auth.example.com' }, 'hosts'],
    'a host with a port': [{ hosts: ['auth.example.com:443'] }, 'hosts[0]'],
    'a host with a scheme': [{ hosts: ['https://auth.example.com'] }, 'hosts[0]'],
    'a host in capitals': [{ hosts: ['Auth.example.com'] }, 'hosts[0]'],
    'a host with a wildcard': [{ hosts: ['a.example', '*.example.com'] }, 'hosts[1]'],
    'a host of nothing': [{ hosts: [''] }, 'hosts[0]'],
    'a host that is a number': [{ hosts: [1] }, 'hosts[0]'],
    'a host that is not ASCII': [{ hosts: ['bücher.example'] }, 'hosts[0]'],
    'a host that is too long': [{ hosts: [`${letters(63)}.`.repeat(4) + letters(3)] }, 'hosts[0]'],
    'a host twice': [{ hosts: ['a.example', 'a.example'] }, 'hosts[1]'],
    'too many hosts': [{ hosts: Array.from({ length: 33 }, (_, i) => `a${i}.example`) }, 'hosts'],
    // E-26: a box never answers there.
    'the host of a machine': [{ hosts: ['localhost'] }, 'hosts[0]'],
    'the name of the API': [{ hosts: ['a.example', 'boxgate-api'] }, 'hosts[1]'],
    'an address instead of a host': [{ hosts: ['127.0.0.1'] }, 'hosts[0]'],
    'the host of a Service': [{ hosts: ['boxgate.other.svc'] }, 'hosts[0]'],
    'the whole host of a Service': [{ hosts: ['a.example', 'boxgate.other.svc.cluster.local'] }, 'hosts[1]'],
    ...issuers(),
    'registration as a flag': [{ registration: true }, 'registration'],
    'registration with a field nobody knows': [{ registration: { open: true } }, 'registration.open'],
    'registration enabled by a string': [{ registration: { enabled: 'yes' } }, 'registration.enabled'],
    'an approval nobody knows': [{ registration: { approval: 'email' } }, 'registration.approval'],
    'an approval that is a boolean': [{ registration: { approval: true } }, 'registration.approval'],
    'a default group called admins': [{ registration: { default_group: 'admins' } }, 'registration.default_group'],
    'a default group of digits': [{ registration: { default_group: '4' } }, 'registration.default_group'],
    'a default group of nothing': [{ registration: { default_group: '' } }, 'registration.default_group'],
    'a default group of two lines': [{ registration: { default_group: 'a\nb' } }, 'registration.default_group'],
    'a default group that is long': [{ registration: { default_group: letters(129) } }, 'registration.default_group'],
    'a default group that is a number': [{ registration: { default_group: 4 } }, 'registration.default_group'],
    'domains as a string': [
      { registration: { allowed_email_domains: 'example.com' } },
      'registration.allowed_email_domains',
    ],
    'no domains': [{ registration: { allowed_email_domains: [] } }, 'registration.allowed_email_domains'],
    ...domains('an address', 'someone@example.com'),
    ...domains('a wildcard', '*.example.com'),
    ...domains('nothing', ''),
    ...domains('a number', 1),
    ...domains('something too long', `${letters(63)}.`.repeat(4) + letters(3)),
    'a domain twice': [
      { registration: { allowed_email_domains: ['example.com', 'example.com'] } },
      'registration.allowed_email_domains[1]',
    ],
    'too many domains': [
      { registration: { allowed_email_domains: Array.from({ length: 129 }, (_, i) => `a${i}.example`) } },
      'registration.allowed_email_domains',
    ],
    'tokens as a number': [{ tokens: 3600 }, 'tokens'],
    'tokens with a field nobody knows': [{ tokens: { lifetime: 3600 } }, 'tokens.lifetime'],
    ...numbers('tokens', 'default_access_token_expiration', 0, 315_360_001),
    ...numbers('tokens', 'default_lifetime', 0, 315_360_001),
    ...numbers('tokens', 'max_refresh_lifetime', 0, 315_360_001),
    ...numbers('tokens', 'max_sessions_per_client', 0, 100_000_001),
    'signing as a string': [{ signing: 'RS256' }, 'signing'],
    'signing with a field nobody knows': [{ signing: { key: 'x' } }, 'signing.key'],
    'signing with a shared secret': [{ signing: { algorithm: 'HS256' } }, 'signing.algorithm'],
    'signing with nothing': [{ signing: { algorithm: 'none' } }, 'signing.algorithm'],
    'signing with a number': [{ signing: { algorithm: 256 } }, 'signing.algorithm'],
    ...numbers('signing', 'rotation_period', 3599, 315_360_001),
    'sign_in as a string': [{ sign_in: 'Hello' }, 'sign_in'],
    'sign_in with a field nobody knows': [{ sign_in: { html: '<b>' } }, 'sign_in.html'],
    'a title of nothing': [{ sign_in: { title: '' } }, 'sign_in.title'],
    'a title of two lines': [{ sign_in: { title: 'a\nb' } }, 'sign_in.title'],
    'a title that is too long': [{ sign_in: { title: letters(257) } }, 'sign_in.title'],
    'a title that is a number': [{ sign_in: { title: 1 } }, 'sign_in.title'],
    ...logo('over http', 'http://cdn.example.com/logo.svg'),
    ...logo('that is a script', 'javascript:alert(1)'),
    ...logo('that is data', 'data:image/png;base64,AAAA'),
    ...logo('behind a user', 'https://a@cdn.example.com/logo.svg'),
    ...logo('that is a path', '/logo.svg'),
    ...logo('that is not ASCII', 'https://cdn.example.com/größe.svg'),
    ...logo('of nothing', ''),
    ...logo('that is a number', 1),
    ...logo('that is too long', `https://cdn.example.com/${letters(2025)}`),
    ...color('of three digits', '#15b'),
    ...color('with opacity', '#1f5fbf80'),
    ...color('with a letter that is no digit', '#1f5fbg'),
    ...color('with a line after it', '#1f5fbf\n'),
    ...color('without its sign', '1f5fbf'),
    ...color('by name', 'blue'),
    ...color('that closes the style', '#1f5fbf}</style>'),
    ...color('of nothing', ''),
    ...color('that is a number', 123_456),
    ...color('that is too long', `#${letters(64)}`),
    ...numbers('sign_in', 'session_lifetime', 0, 315_360_001),
    'password as a number': [{ password: 8 }, 'password'],
    'password with a field nobody knows': [{ password: { upper_case: 1 } }, 'password.upper_case'],
    ...numbers('password', 'min_length', 7, 65),
    'audit as a number': [{ audit: 90 }, 'audit'],
    'audit with a field nobody knows': [{ audit: { days: 1 } }, 'audit.days'],
    ...numbers('audit', 'retention', 0, 401),
    'cors as a list': [{ cors: ['https://app.example.com'] }, 'cors'],
    'cors with a field nobody knows': [{ cors: { credentials: true } }, 'cors.credentials'],
    'origins as a string': [{ cors: { allowed_origins: '*' } }, 'cors.allowed_origins'],
    ...origin('any', '*'),
    ...origin('with a path', 'https://app.example.com/x'),
    ...origin('of nothing', ''),
    ...origin('that is a number', 1),
    ...origin('that is too long', `https://[${'0:'.repeat(160)}]`),
    'an origin twice': [{ cors: { allowed_origins: ['https://a.b', 'https://a.b'] } }, 'cors.allowed_origins[1]'],
    'too many origins': [
      { cors: { allowed_origins: Array.from({ length: 129 }, (_, i) => `https://a${i}.example`) } },
      'cors.allowed_origins',
    ],
    'compatibility as a string': [{ compatibility: 'strict' }, 'compatibility'],
    'a switch nobody knows': [{ compatibility: { cookies: true } }, 'compatibility.cookies'],
    'a profile nobody knows': [{ compatibility: { profile: 'lax' } }, 'compatibility.profile'],
    'a profile that is a boolean': [{ compatibility: { profile: true } }, 'compatibility.profile'],
    ...switches(),
    'a time without offset': [{ revoke_sessions_before: '2026-01-31T12:00:00' }, 'revoke_sessions_before'],
    'a 30th of February': [{ revoke_sessions_before: '2026-02-30T12:00:00Z' }, 'revoke_sessions_before'],
    'a time with a blank': [{ revoke_sessions_before: '2026-01-31 12:00:00Z' }, 'revoke_sessions_before'],
    'a time that is a number': [{ revoke_sessions_before: 0 }, 'revoke_sessions_before'],
    'a time that is long': [
      { revoke_sessions_before: `2026-01-31T12:00:00.${'0'.repeat(30)}Z` },
      'revoke_sessions_before',
    ],
    'an admin that is text': [{ bootstrap_admin: 'admin@example.com' }, 'bootstrap_admin'],
    'an admin without password': [{ bootstrap_admin: { email: 'a@b.c' } }, 'bootstrap_admin.passwordSecretRef'],
    'an admin with a password in the open': [
      { bootstrap_admin: { email: 'a@b.c', password: 'x', passwordSecretRef: { name: 'a', key: 'b' } } },
      'bootstrap_admin.password',
    ],
    ...admin('without email', {}, 'email'),
    ...admin('with an email of nothing', { email: '' }, 'email'),
    ...admin('with an email that is none', { email: 'admin' }, 'email'),
    ...admin('with an email of two addresses', { email: 'a@b@c' }, 'email'),
    ...admin('with an email with a line end', { email: 'a@b.c\n' }, 'email'),
    ...admin('with an email that is too long', { email: `${letters(251)}@b.c` }, 'email'),
    ...admin('with an email that is a number', { email: 1 }, 'email'),
    ...adminSecret('that is text', 'admin', 'passwordSecretRef'),
    ...adminSecret('without key', { name: 'a' }, 'passwordSecretRef.key'),
    ...adminSecret('without name', { key: 'a' }, 'passwordSecretRef.name'),
    ...adminSecret('of another namespace', { name: 'a', key: 'b', namespace: 'c' }, 'passwordSecretRef.namespace'),
    ...adminSecret('with a name in capitals', { name: 'A', key: 'b' }, 'passwordSecretRef.name'),
    ...adminSecret('with a name of nothing', { name: '', key: 'b' }, 'passwordSecretRef.name'),
    ...adminSecret('with a name that is a number', { name: 1, key: 'b' }, 'passwordSecretRef.name'),
    ...adminSecret('with a long name', { name: letters(254), key: 'b' }, 'passwordSecretRef.name'),
    ...adminSecret('with a key that has a slash', { name: 'a', key: 'b/c' }, 'passwordSecretRef.key'),
    ...adminSecret('with a key of nothing', { name: 'a', key: '' }, 'passwordSecretRef.key'),
    ...adminSecret('with a long key', { name: 'a', key: letters(254) }, 'passwordSecretRef.key'),
    ...adminSecret('with a key that is a number', { name: 'a', key: 1 }, 'passwordSecretRef.key'),
    'a field nobody knows': [{ theme: 'dark' }, 'theme'],
  }),
  {
    title: 'a box with another name',
    kind: 'Box',
    object: manifest('Box', {}, 'shop'),
    verdict: 'refused',
    paths: ['metadata.name'],
  },
];

type Rows = Record<string, Refused>;

function issuers(): Rows {
  const wrong = {
    'over http': 'http://auth.example.com',
    'on loopback over http': 'http://127.0.0.1:8080/boxes/shop',
    'with a slash at the end': 'https://auth.example.com/',
    'with a path and a slash at the end': 'https://auth.example.com/shop/',
    'with a query': 'https://auth.example.com?box=shop',
    'with a fragment': 'https://auth.example.com#shop',
    'with a user': 'https://someone@auth.example.com',
    'without a scheme': 'auth.example.com',
    'without a host': 'https://',
    'that is not ASCII': 'https://auth.example.com/größe',
    'of nothing': '',
    'that is a number': 1,
    'that is too long': `https://auth.example.com/${letters(2025)}`,
  };
  return Object.fromEntries(
    Object.entries(wrong).map(([title, issuer]) => [`an issuer ${title}`, [{ issuer }, 'issuer']]),
  );
}

function numbers(group: string, field: string, low: number, high: number): Rows {
  const wrong = (value: unknown): Refused => [{ [group]: { [field]: value } }, `${group}.${field}`];
  return {
    [`${group}.${field} of ${low}`]: wrong(low),
    [`${group}.${field} of ${high}`]: wrong(high),
    [`${group}.${field} of 100.5`]: wrong(100.5),
    [`${group}.${field} as text`]: wrong('100'),
  };
}

function switches(): Rows {
  const names = [
    'implicit',
    'query_token',
    'password_hash',
    'password_change_without_old',
    'refresh_without_secret',
    'foreign_audience',
  ];
  return Object.fromEntries(
    names.map((name) => [`switch ${name} as text`, [{ compatibility: { [name]: 'false' } }, `compatibility.${name}`]]),
  );
}

function domains(title: string, domain: unknown): Rows {
  const path = 'registration.allowed_email_domains[1]';
  return { [`a domain that is ${title}`]: [{ registration: { allowed_email_domains: ['a.example', domain] } }, path] };
}

function logo(title: string, logo_url: unknown): Rows {
  return { [`a logo ${title}`]: [{ sign_in: { logo_url } }, 'sign_in.logo_url'] };
}

function color(title: string, value: unknown): Rows {
  return { [`a colour ${title}`]: [{ sign_in: { color: value } }, 'sign_in.color'] };
}

function origin(title: string, value: unknown): Rows {
  return { [`an origin ${title}`]: [{ cors: { allowed_origins: [value] } }, 'cors.allowed_origins[0]'] };
}

function admin(title: string, fields: Spec, path: string): Rows {
  const passwordSecretRef = { name: 'admin', key: 'password' };
  return { [`an admin ${title}`]: [{ bootstrap_admin: { passwordSecretRef, ...fields } }, `bootstrap_admin.${path}`] };
}

function adminSecret(title: string, passwordSecretRef: unknown, path: string): Rows {
  return {
    [`a Secret of the admin ${title}`]: [
      { bootstrap_admin: { email: 'a@b.c', passwordSecretRef } },
      `bootstrap_admin.${path}`,
    ],
  };
}
