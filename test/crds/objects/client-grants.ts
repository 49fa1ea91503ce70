import { accepted, letters, refused, type Row } from './row.ts';

const callback = 'https://app.example.com/callback';

/** Values of grant_types, auth and scope. */
export const clientGrantRows: readonly Row[] = [
  ...accepted('Client', {
    'a client of one grant': {},
    'C-02 a client without a grant, which introspects tokens': { grant_types: [] },
    'every grant there is': {
      grant_types: [
        'client_credentials',
        'implicit',
        'authorization_code',
        'refresh_token',
        'password',
        'urn:ietf:params:oauth:grant-type:token-exchange',
      ],
      auth: { implicit: { redirect_uri: callback }, authorization_code: { redirect_uri: callback } },
    },
    'every setting of client_credentials': {
      auth: {
        client_credentials: {
          token_format: 'jwt',
          access_token_expiration: 600,
          refresh_token: true,
          refresh_token_expiration: 86_400,
          refresh_requires_secret: true,
          refresh_rotation: true,
          audience: ['https://api.example.com', 'orders'],
        },
      },
    },
    'every setting of implicit': {
      grant_types: ['implicit'],
      auth: {
        implicit: {
          redirect_uri: callback,
          redirect_uris: [`${callback}/2`],
          token_format: 'jwt',
          access_token_expiration: 60,
          audience: ['orders'],
        },
      },
    },
    'every setting of authorization_code': {
      grant_types: ['authorization_code'],
      auth: {
        authorization_code: {
          redirect_uri: callback,
          redirect_uris: [`${callback}/2`],
          token_format: 'jwt',
          access_token_expiration: 60,
          refresh_token: true,
          refresh_token_expiration: 60,
          refresh_requires_secret: false,
          refresh_rotation: true,
          audience: ['orders'],
          secret_required: true,
          pkce: true,
        },
      },
    },
    'settings of a grant that is not listed': { auth: { implicit: { redirect_uri: callback } } },
    'auth without anything': { auth: {} },
    'settings without anything': { auth: { client_credentials: {} } },
    'the shortest lifetime': { auth: { client_credentials: { access_token_expiration: 1 } } },
    'the longest lifetime, ten years': { auth: { client_credentials: { access_token_expiration: 315_360_000 } } },
    'refresh tokens of the default lifetime': { auth: { client_credentials: { refresh_token: true } } },
    'no refresh tokens, said aloud': { auth: { client_credentials: { refresh_token: false } } },
    'scopes of every character there is': { scope: ['openid', 'orders:read', '!#$%&()*+,-./:;<=>?@[]^_`{|}~'] },
    'no scopes': { scope: [] },
    'an audience with a blank': { auth: { client_credentials: { audience: ['My API'] } } },
    'the longest audience': { auth: { client_credentials: { audience: [letters(1024)] } } },
    'null where a field may be absent': { auth: { client_credentials: { token_format: null } }, scope: null },
  }),
  ...refused('Client', {
    'grant_types is missing': [{ grant_types: null }, 'grant_types'],
    'grant_types is a string': [{ grant_types: 'client_credentials' }, 'grant_types'],
    'grant_types is an object': [{ grant_types: { client_credentials: true } }, 'grant_types'],
    'a grant twice': [{ grant_types: ['client_credentials', 'client_credentials'] }, 'grant_types[1]'],
    'a grant nobody knows': [{ grant_types: ['client_credentials', 'device_code'] }, 'grant_types[1]'],
    'a grant in capitals': [{ grant_types: ['CLIENT_CREDENTIALS'] }, 'grant_types[0]'],
    'a grant with a blank': [{ grant_types: ['client_credentials '] }, 'grant_types[0]'],
    'a grant that is a number': [{ grant_types: [1] }, 'grant_types[0]'],
    'a grant that is null': [{ grant_types: [null] }, 'grant_types[0]'],
    'auth is a list': [{ auth: [] }, 'auth'],
    'auth is a string': [{ auth: 'client_credentials' }, 'auth'],
    'auth of a grant without settings': [{ auth: { password: {} } }, 'auth.password'],
    'a misspelt grant in auth': [{ auth: { client_credential: {} } }, 'auth.client_credential'],
    'settings that are a list': [{ auth: { client_credentials: [] } }, 'auth.client_credentials'],
    'a misspelt setting': [
      { auth: { client_credentials: { access_token_expires: 60 } } },
      'auth.client_credentials.access_token_expires',
    ],
    'refresh tokens of the implicit grant': [
      { auth: { implicit: { redirect_uri: callback, refresh_token: true } } },
      'auth.implicit.refresh_token',
    ],
    'pkce of client_credentials': [{ auth: { client_credentials: { pkce: true } } }, 'auth.client_credentials.pkce'],
    'a misspelt setting of authorization_code': [
      { auth: { authorization_code: { redirect_uri: callback, redirect_url: callback } } },
      'auth.authorization_code.redirect_url',
    ],
    'implicit without settings': [{ grant_types: ['implicit'] }, 'auth.implicit.redirect_uri'],
    'implicit with settings of another grant': [
      { grant_types: ['implicit'], auth: { client_credentials: {} } },
      'auth.implicit.redirect_uri',
    ],
    'implicit without redirect_uri': [
      { grant_types: ['implicit'], auth: { implicit: {} } },
      'auth.implicit.redirect_uri',
    ],
    'settings of implicit without redirect_uri': [{ auth: { implicit: {} } }, 'auth.implicit.redirect_uri'],
    'authorization_code without settings': [
      { grant_types: ['authorization_code'] },
      'auth.authorization_code.redirect_uri',
    ],
    'authorization_code without redirect_uri': [
      { auth: { authorization_code: {} } },
      'auth.authorization_code.redirect_uri',
    ],
    'implicit and authorization_code without settings': [
      { grant_types: ['implicit', 'authorization_code'] },
      'auth.implicit.redirect_uri',
      'auth.authorization_code.redirect_uri',
    ],
    'a refresh lifetime without refresh tokens': [
      { auth: { client_credentials: { refresh_token_expiration: 60 } } },
      'auth.client_credentials.refresh_token_expiration',
    ],
    'a refresh lifetime with refresh tokens switched off': [
      { auth: { client_credentials: { refresh_token: false, refresh_token_expiration: 60 } } },
      'auth.client_credentials.refresh_token_expiration',
    ],
    'a refresh lifetime of codes without refresh tokens': [
      { auth: { authorization_code: { redirect_uri: callback, refresh_token_expiration: 60 } } },
      'auth.authorization_code.refresh_token_expiration',
    ],
    'scope is a string': [{ scope: 'openid profile' }, 'scope'],
    'a scope with a blank': [{ scope: ['openid profile'] }, 'scope[0]'],
    'a scope with a quote': [{ scope: ['a"b'] }, 'scope[0]'],
    'a scope with a backslash': [{ scope: ['a\\b'] }, 'scope[0]'],
    'a scope that is not ASCII': [{ scope: ['größe'] }, 'scope[0]'],
    'an empty scope': [{ scope: [''] }, 'scope[0]'],
    'a scope twice': [{ scope: ['openid', 'email', 'openid'] }, 'scope[2]'],
    'a scope that is too long': [{ scope: [letters(129)] }, 'scope[0]'],
    'too many scopes': [{ scope: Array.from({ length: 129 }, (_, i) => `s${i}`) }, 'scope'],
    'two things wrong at once': [
      { grant_types: ['implicit', 'x'], auth: { client_credentials: { refresh_token: 'yes' } }, active: 1 },
      'grant_types[1]',
      'auth.client_credentials.refresh_token',
      'active',
      'auth.implicit.redirect_uri',
    ],
  }),
  ...(['client_credentials', 'implicit', 'authorization_code'] as const).flatMap(settingRows),
];

/** Settings that several grants have, wrong in each of them. */
function settingRows(grant: 'client_credentials' | 'implicit' | 'authorization_code'): Row[] {
  const needed = grant === 'client_credentials' ? {} : { redirect_uri: callback };
  const path = `auth.${grant}`;
  const wrong = (setting: string, value: unknown) => ({ auth: { [grant]: { ...needed, [setting]: value } } });
  return refused('Client', {
    [`${grant}: a token format nobody knows`]: [wrong('token_format', 'opaque'), `${path}.token_format`],
    [`${grant}: JWT in capitals`]: [wrong('token_format', 'JWT'), `${path}.token_format`],
    [`${grant}: a token format that is true`]: [wrong('token_format', true), `${path}.token_format`],
    [`${grant}: a lifetime of 0`]: [wrong('access_token_expiration', 0), `${path}.access_token_expiration`],
    [`${grant}: a lifetime below 0`]: [wrong('access_token_expiration', -1), `${path}.access_token_expiration`],
    [`${grant}: a lifetime of 1.5`]: [wrong('access_token_expiration', 1.5), `${path}.access_token_expiration`],
    [`${grant}: a lifetime that is a string`]: [
      wrong('access_token_expiration', '60'),
      `${path}.access_token_expiration`,
    ],
    [`${grant}: a lifetime one second too long`]: [
      wrong('access_token_expiration', 315_360_001),
      `${path}.access_token_expiration`,
    ],
    [`${grant}: a lifetime of 2^53`]: [wrong('access_token_expiration', 2 ** 53), `${path}.access_token_expiration`],
    [`${grant}: a lifetime of 1e300`]: [wrong('access_token_expiration', 1e300), `${path}.access_token_expiration`],
    [`${grant}: an audience that is a string`]: [wrong('audience', 'orders'), `${path}.audience`],
    [`${grant}: no audience at all`]: [wrong('audience', []), `${path}.audience`],
    [`${grant}: an empty audience`]: [wrong('audience', ['']), `${path}.audience[0]`],
    [`${grant}: an audience of two lines`]: [wrong('audience', ['a\nb']), `${path}.audience[0]`],
    [`${grant}: an audience twice`]: [wrong('audience', ['a', 'a']), `${path}.audience[1]`],
    [`${grant}: an audience of 10 KB`]: [wrong('audience', [letters(10_240)]), `${path}.audience[0]`],
    [`${grant}: too many audiences`]: [
      wrong(
        'audience',
        Array.from({ length: 65 }, (_, i) => `a${i}`),
      ),
      `${path}.audience`,
    ],
    ...(grant === 'implicit' ? {} : refreshRows(grant, wrong)),
  });
}

function refreshRows(grant: string, wrong: (setting: string, value: unknown) => Record<string, unknown>) {
  const path = `auth.${grant}`;
  const lasting = (seconds: unknown) => {
    const needed = grant === 'client_credentials' ? {} : { redirect_uri: callback };
    return { auth: { [grant]: { ...needed, refresh_token: true, refresh_token_expiration: seconds } } };
  };
  const flags = ['refresh_token', 'refresh_requires_secret', 'refresh_rotation'];
  if (grant === 'authorization_code') flags.push('secret_required', 'pkce');
  return {
    ...Object.fromEntries(
      flags.map((name) => [`${grant}: ${name} is a string`, [wrong(name, 'true'), `${path}.${name}`] as const]),
    ),
    [`${grant}: a refresh lifetime of 0`]: [lasting(0), `${path}.refresh_token_expiration`] as const,
    [`${grant}: a refresh lifetime that is a string`]: [lasting('60'), `${path}.refresh_token_expiration`] as const,
    [`${grant}: a refresh lifetime of eleven years`]: [
      lasting(346_896_000),
      `${path}.refresh_token_expiration`,
    ] as const,
  };
}
