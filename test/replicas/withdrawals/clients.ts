import { createHash, randomBytes } from 'node:crypto';
import { newBrowser } from '../../http/pages/browser.ts';
import { assertion, proof } from '../../oauth/assertions.ts';
import type { Signer } from '../../oauth/assertions.ts';
import type { TestApi } from '../../support/api.ts';
import { isLet } from './ground.ts';
import type { Ground, Story } from './ground.ts';
import { newUser, theirPassword, tokensOfUser } from './people.ts';

const back = 'https://app.example/back';
const elsewhere = 'https://app.example/elsewhere';
const files = 'https://files.example';
const verifier = randomBytes(32).toString('base64url');
const challenge = {
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
};

/** A client with these fields gets a token that opens something; with the others it does not. */
function ofMachine(before: object, after: object, asked: Readonly<Record<string, string>> = {}): Story {
  return async (ground) => {
    await ground.app(before);
    const { access } = await ground.tokens(asked);
    return { use: (api) => ground.opens(api, access), withdraw: () => ground.app(after) };
  };
}

/** The refresh token of a client is used, with the secret or without. */
function ofRefresh(before: object, after: object, isProven = true): Story {
  const auth = (settings: object): object => ({ auth: { client_credentials: settings } });
  return async (ground) => {
    await ground.app(auth(before));
    const { refresh } = await ground.tokens();
    return {
      use: (api) => ground.refreshes(api, refresh, isProven),
      withdraw: () => ground.app(auth(after)),
    };
  };
}

/** The tokens of a user, by the code grant of the client. */
function ofUser(before: object, after: object, uses: 'access' | 'refresh', isProven = true): Story {
  return async (ground) => {
    const { access, refresh } = await tokensOfUser(ground, before);
    const grant_types = ['authorization_code', 'password'];
    const auth = { authorization_code: { redirect_uri: back, refresh_token: true, ...after } };
    return {
      use: (api) => (uses === 'access' ? ground.opens(api, access) : ground.refreshes(api, refresh, isProven)),
      withdraw: () => ground.declare(ground.client({ grant_types, auth })),
    };
  };
}

interface Asked {
  readonly before: object;
  readonly after: object;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Somebody who is signed in opens an address of the authorization endpoint; `lets` says whether it leads on. */
function ofRequest({ before, after, parameters }: Asked, lets: (location: string) => boolean): Story {
  const people = { grant_types: ['authorization_code', 'implicit'], first_party: true };
  return async (ground) => {
    await ground.declare(ground.client({ ...people, ...before }));
    const opened = await signedIn(ground);
    const query = new URLSearchParams({ client_id: 'app', ...parameters }).toString();
    return {
      use: async (api) => lets((await opened(api).get(`/auth/authorize?${query}`)).location),
      withdraw: () => ground.declare(ground.client({ ...people, ...after })),
    };
  };
}

/** Signs a new user in on both replicas, each in a browser of its own. */
async function signedIn(ground: Ground) {
  const { one, two } = ground.surroundings;
  const { email } = await newUser(ground);
  const browsers = new Map([one, two].map((api) => [api, newBrowser(api, ground.box)]));
  for (const browser of browsers.values()) {
    const { status } = await browser.submit('/auth/signin', { email, password: theirPassword });
    if (status !== 303) throw new Error(`not signed in: ${String(status)}`);
  }
  return (api: TestApi) => browsers.get(api) ?? newBrowser(api, ground.box);
}

const auth = (code: object, implicit: object = {}): object => ({
  auth: { authorization_code: { redirect_uri: back, ...code }, implicit: { redirect_uri: back, ...implicit } },
});
const code = { response_type: 'code', redirect_uri: back };
const token = { response_type: 'token', redirect_uri: back };
const leadsBack = (location: string): boolean => /[?&#](code|access_token)=/.test(location);

/** The client proves itself by an assertion that it signs, or somebody signs for it. */
function byAssertion(
  fields: (ground: Ground) => object,
  after: (ground: Ground) => object,
  made: (ground: Ground) => Promise<string>,
): Story {
  return async (ground) => {
    const machine = { kind: 'Client', id: 'app', grant_types: ['client_credentials'] } as const;
    await ground.declare({ ...machine, ...fields(ground) });
    return {
      async use(api) {
        const asked = { grant_type: 'client_credentials', client_id: 'app', ...proof(await made(ground)) };
        return isLet(await ground.atToken(api, asked, false), 200, [401]);
      },
      withdraw: () => ground.declare({ ...machine, ...after(ground) }),
    };
  };
}

const ownAssertion = ({ surroundings, issuer }: Ground): Promise<string> => assertion(surroundings.key, 'app', issuer);

const clusterIssuer = 'https://kubernetes.default.svc.cluster.local';

function serviceAccountToken({ surroundings, issuer }: Ground): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: clusterIssuer,
    aud: [issuer],
    sub: 'system:serviceaccount:apps:report',
    nbf: now,
    exp: now + 3600,
    'kubernetes.io': { namespace: 'apps', serviceaccount: { name: 'report', uid: 'uid-1' } },
  };
  return assertion(surroundings.key, 'unused', issuer, { claims, header: { typ: undefined } });
}

const publicKeys = ({ publicJwk }: Signer): object => ({ keys: [publicJwk] });
const otherKeys = ({ surroundings }: Ground): object => ({ jwks: publicKeys(surroundings.otherKey) });

/** Story of a client that authenticates by a ServiceAccount: the cluster tells of its keys first. */
const byServiceAccount: Story = async (ground) => {
  const { publicJwk } = ground.surroundings.key;
  await ground.one.serviceAccounts({
    issuer: clusterIssuer,
    keys: { keys: [{ ...publicJwk, kty: publicJwk.kty ?? '' }] },
  });
  const account = { namespace: 'apps', name: 'report' };
  const other = { service_accounts: [{ ...account, name: 'other' }] };
  return byAssertion(
    () => ({ service_accounts: [account] }),
    () => other,
    serviceAccountToken,
  )(ground);
};

const now = (): string => new Date().toISOString();

/** For each field of a Client that grants something. */
export const clientStories: Readonly<Record<string, Story>> = {
  async 'Client.id'(ground) {
    await ground.app();
    const { access } = await ground.tokens();
    return {
      use: (api) => ground.opens(api, access),
      withdraw: () => ground.one.remove(ground.box, [{ kind: 'Client', id: 'app' }]),
    };
  },
  async 'Client.secret'(ground) {
    await ground.app();
    return {
      use: async (api) => isLet(await ground.atToken(api, { grant_type: 'client_credentials' }), 200, [401]),
      withdraw: () => ground.app({ secret: 'another one' }),
    };
  },
  'Client.active': ofMachine({}, { active: false }),
  async 'Client.active (refresh token)'(ground) {
    await ground.app({ auth: { client_credentials: { refresh_token: true } } });
    const { refresh } = await ground.tokens();
    return { use: (api) => ground.refreshes(api, refresh), withdraw: () => ground.app({ active: false }) };
  },
  'Client.revoke_sessions_before': async (ground) => {
    await ground.app();
    const { access } = await ground.tokens();
    return {
      use: (api) => ground.opens(api, access),
      withdraw: () => ground.app({ revoke_sessions_before: now() }),
    };
  },
  'Client.grant_types (client_credentials)': ofMachine({}, { grant_types: [] }),
  'Client.grant_types (client_credentials, JWT)': ofMachine(
    { auth: { client_credentials: { token_format: 'jwt' } } },
    { grant_types: [], auth: { client_credentials: { token_format: 'jwt' } } },
  ),
  async 'Client.grant_types (authorization_code)'(ground) {
    const { access } = await tokensOfUser(ground);
    return {
      use: (api) => ground.opens(api, access),
      withdraw: () => ground.declare(ground.client({ grant_types: ['password'] })),
    };
  },
  'Client.grant_types (implicit)': ofRequest(
    { before: auth({}), after: { ...auth({}), grant_types: ['authorization_code'] }, parameters: token },
    leadsBack,
  ),
  async 'Client.grant_types (password)'(ground) {
    const { user } = await tokensOfUser(ground);
    const asked = { grant_type: 'password', username: user.email, password: theirPassword };
    const auth = { authorization_code: { redirect_uri: back } };
    return {
      use: async (api) => isLet(await ground.atToken(api, asked), 200, [400]),
      withdraw: () => ground.declare(ground.client({ grant_types: ['authorization_code'], auth })),
    };
  },
  'Client.scope': ofMachine({ scope: ['read'] }, { scope: ['write'] }, { scope: 'read' }),
  'Client.auth.client_credentials.audience': ofMachine(
    { auth: { client_credentials: { audience: [files] } } },
    { auth: { client_credentials: { audience: ['https://other.example'] } } },
    { audience: files },
  ),
  'Client.auth.client_credentials.refresh_token': ofRefresh({ refresh_token: true }, { refresh_token: false }),
  'Client.auth.client_credentials.refresh_requires_secret': ofRefresh(
    { refresh_token: true },
    { refresh_token: true, refresh_requires_secret: true },
    false,
  ),
  'Client.auth.authorization_code.refresh_token': ofUser({}, { refresh_token: false }, 'refresh'),
  'Client.auth.authorization_code.refresh_requires_secret': ofUser(
    {},
    { refresh_requires_secret: true },
    'refresh',
    false,
  ),
  'Client.auth.authorization_code.audience': ofUser({}, { audience: [files] }, 'access'),
  'Client.auth.authorization_code.redirect_uri': ofRequest(
    {
      before: auth({ redirect_uri: elsewhere }),
      after: auth({}),
      parameters: { ...code, ...challenge, redirect_uri: elsewhere },
    },
    leadsBack,
  ),
  'Client.auth.authorization_code.redirect_uris': ofRequest(
    {
      before: auth({ redirect_uris: [elsewhere] }),
      after: auth({}),
      parameters: { ...code, ...challenge, redirect_uri: elsewhere },
    },
    leadsBack,
  ),
  'Client.auth.authorization_code.pkce': ofRequest(
    { before: auth({}), after: auth({ pkce: true }), parameters: code },
    leadsBack,
  ),
  async 'Client.auth.authorization_code.secret_required'(ground) {
    const people = { grant_types: ['authorization_code'], first_party: true };
    const settings = (secret_required: boolean): object => ({
      auth: { authorization_code: { redirect_uri: back, secret_required } },
    });
    await ground.declare(ground.client({ ...people, ...settings(false) }));
    const opened = await signedIn(ground);
    const query = new URLSearchParams({ client_id: 'app', ...code, ...challenge }).toString();
    return {
      async use(api) {
        const { location } = await opened(api).get(`/auth/authorize?${query}`);
        const [, given = ''] = /[?&]code=([^&]*)/.exec(location) ?? [];
        const asked = { grant_type: 'authorization_code', code: given, redirect_uri: back, code_verifier: verifier };
        return isLet(await ground.atToken(api, asked, false), 200, [401]);
      },
      withdraw: () => ground.declare(ground.client({ ...people, ...settings(true) })),
    };
  },
  'Client.auth.implicit.redirect_uri': ofRequest(
    {
      before: auth({}, { redirect_uri: elsewhere }),
      after: auth({}),
      parameters: { ...token, redirect_uri: elsewhere },
    },
    leadsBack,
  ),
  'Client.auth.implicit.redirect_uris': ofRequest(
    {
      before: auth({}, { redirect_uris: [elsewhere] }),
      after: auth({}),
      parameters: { ...token, redirect_uri: elsewhere },
    },
    leadsBack,
  ),
  'Client.auth.implicit.audience': ofRequest(
    {
      before: auth({}, { audience: [files] }),
      after: auth({}, { audience: ['b'] }),
      parameters: { ...token, resource: files },
    },
    leadsBack,
  ),
  'Client.first_party': ofRequest(
    { before: auth({}), after: { ...auth({}), first_party: false }, parameters: { ...code, ...challenge } },
    leadsBack,
  ),
  'Client.post_logout_redirect_uris': (ground) => {
    const people = { grant_types: ['implicit'], ...auth({}) };
    const parameters = new URLSearchParams({ client_id: 'app', post_logout_redirect_uri: back }).toString();
    return withdrawn(ground, people, { post_logout_redirect_uris: [back] }, async (api) => {
      const { location } = await newBrowser(api, ground.box).get(`/auth/logout?${parameters}`);
      return location === back;
    });
  },
  'Client.allowed_origins': (ground) =>
    withdrawn(ground, {}, { allowed_origins: ['https://app.example'] }, async (api) => {
      const headers = { Origin: 'https://app.example' };
      const { headers: told } = await fetch(`${ground.base(api)}/Client`, { headers });
      return told.has('access-control-allow-origin');
    }),
  'Client.jwks': byAssertion(({ surroundings }) => ({ jwks: publicKeys(surroundings.key) }), otherKeys, ownAssertion),
  'Client.jwks_uri': byAssertion(({ surroundings }) => ({ jwks_uri: surroundings.keysUri }), otherKeys, ownAssertion),
  'Client.service_accounts': byServiceAccount,
};

/** A client has something beside its other fields, and then no more. */
async function withdrawn(ground: Ground, fields: object, granted: object, use: (api: TestApi) => Promise<boolean>) {
  await ground.app({ ...fields, ...granted });
  return { use, withdraw: () => ground.app(fields) };
}
