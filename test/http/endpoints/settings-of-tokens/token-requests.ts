import { expect } from 'chai';
import { createHash, randomBytes } from 'node:crypto';
import type { GrantType } from '../../../../crds/client.ts';
import { generateClientSecret } from '../../../../api/credentials/client-secret.ts';
import { basic, readReply, sendForm, textOf } from '../../../oauth/requests.ts';
import type { Fields, Reply } from '../../../oauth/requests.ts';
import { startApi } from '../../../support/api.ts';
import type { TestApi } from '../../../support/api.ts';
import { addUser, newBrowser } from '../../pages/browser.ts';
import type { Browser } from '../../pages/browser.ts';

/** The user who signs in. */
export const ann = { email: 'ann@shop.example', password: 'a long enough passphrase' };
/** Redirect URI of the client. */
export const back = 'https://app.example/back';
/** An audience. */
export const files = 'https://files.example';
/** Secret of the clients. */
export const secret = generateClientSecret();
/** PKCE verifier of every code. */
export const verifier = randomBytes(32).toString('base64url');
const challenge = createHash('sha256').update(verifier).digest('base64url');
/** Parameters of an authorization request with PKCE. */
export const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
/** Grants that the client lists unless a test says otherwise. */
export const everyGrant: readonly GrantType[] = ['client_credentials', 'implicit', 'authorization_code', 'password'];

/** Settings of the client `app` that a test changes. */
export interface Settings {
  readonly grants?: readonly GrantType[];
  readonly scope?: readonly string[];
  readonly fields?: object;
  readonly auth?: Readonly<Partial<Record<GrantType, object>>>;
}

/** Tokens of the client `app`, as one grant gives them. */
interface Tokens {
  readonly access: string;
  readonly refresh: string;
}

/** API with the client `app`, and a browser in which a user is signed in. */
interface Caller {
  readonly api: TestApi;
  readonly browser: Browser;
}

/**
 * Sets an API with the client `app`, and a browser, for a suite. Before each test the client has its usual settings.
 */
export function onTokenApi(take: (started: Caller) => void): void {
  let api: TestApi;
  before(async () => {
    const started = await startTokenApi();
    ({ api } = started);
    take(started);
  });
  after(() => api.stop());
  beforeEach(() => configureClient(api));
}

/** Starts an API with the client `app`, and signs a user in. */
async function startTokenApi(): Promise<Caller> {
  const api = await startApi({
    environment: { BOXGATE_FAILURES_PER_CLIENT: '100000', BOXGATE_FAILURES_PER_BOX: '100000' },
  });
  const keeper = { id: 'keeper', grant_types: ['client_credentials'], secret } as const;
  const link = [{ resourceType: 'Client', id: 'app' }];
  await api.declare('default', [
    { kind: 'Client', ...keeper },
    { kind: 'AccessPolicy', id: 'clients', engine: 'matcho', matcho: { uri: '#^/Client' }, link },
    {
      kind: 'AccessPolicy',
      id: 'write',
      engine: 'matcho',
      matcho: { uri: '/AccessPolicy/none', session: { scope: '#write' }, token: { scope: '#write' } },
      link,
    },
  ]);
  await configureClient(api);
  await addUser(api, ann.email, ann.password);
  const browser = newBrowser(api);
  await browser.submit('/auth/signin', ann);
  return { api, browser };
}

async function configureClient(
  api: TestApi,
  { grants = everyGrant, scope, auth = {}, fields }: Settings = {},
): Promise<void> {
  const { client_credentials, implicit, authorization_code } = auth;
  await api.declare('default', [
    { kind: 'Box', id: 'default' },
    {
      kind: 'Client',
      id: 'app',
      secret,
      first_party: true,
      grant_types: grants,
      scope: scope ?? ['openid', 'email', 'read', 'write'],
      auth: {
        client_credentials: { refresh_token: true, ...client_credentials },
        implicit: { redirect_uri: back, ...implicit },
        authorization_code: { redirect_uri: back, refresh_token: true, ...authorization_code },
      },
      ...fields,
    },
  ]);
}

/** Returns the requests of a test; `current` returns its API and its browser at the moment of a request. */
export function tokenRequests(current: () => Caller) {
  /** Declares the client `app` again, with these settings. */
  const configure = (settings: Settings = {}): Promise<void> => configureClient(current().api, settings);

  const atToken = (fields: Fields, id = 'app'): Promise<Reply> =>
    sendForm(`${current().api.url}/boxes/default/auth/token`, fields, basic(id, secret));

  function tokensIn(reply: Reply): Tokens {
    if (reply.status !== 200) throw new Error(`no token: ${reply.text}`);
    return { access: textOf(reply, 'access_token'), refresh: textOf(reply, 'refresh_token') };
  }

  async function authorized(parameters: Record<string, string>, sign: '#' | '?'): Promise<URLSearchParams> {
    const query = new URLSearchParams({ client_id: 'app', ...parameters }).toString();
    const { location } = await current().browser.get(`/auth/authorize?${query}`);
    return new URLSearchParams(location.slice(location.indexOf(sign) + 1));
  }

  async function newCode(parameters: Record<string, string> = { redirect_uri: back, ...pkce }): Promise<string> {
    return (await authorized({ response_type: 'code', ...parameters }, '?')).get('code') ?? '';
  }

  const redeem = (code: string, fields: Fields = { redirect_uri: back, code_verifier: verifier }): Promise<Reply> =>
    atToken({ grant_type: 'authorization_code', code, ...fields });

  const refresh = (token: string): Promise<Reply> => atToken({ grant_type: 'refresh_token', refresh_token: token });

  /** Gets tokens by each grant, with the parameters that all of them take. */
  const issue: Readonly<Record<string, (fields?: Record<string, string>) => Promise<Tokens>>> = {
    client_credentials: async (fields = {}) => tokensIn(await atToken({ grant_type: 'client_credentials', ...fields })),
    implicit: async (fields = {}) => {
      const answer = await authorized({ response_type: 'token', redirect_uri: back, ...fields }, '#');
      return { access: answer.get('access_token') ?? '', refresh: '' };
    },
    authorization_code: async (fields = {}) =>
      tokensIn(await redeem(await newCode({ redirect_uri: back, ...pkce, ...fields }))),
    password: async (fields = {}) =>
      tokensIn(await atToken({ grant_type: 'password', username: ann.email, password: ann.password, ...fields })),
  };

  async function refreshed(grant: string, fields?: Record<string, string>): Promise<Tokens> {
    return tokensIn(await refresh((await tokensOf(grant, fields)).refresh));
  }

  async function tokensOf(grant: string, fields?: Record<string, string>): Promise<Tokens> {
    return (await issue[grant]?.(fields)) ?? { access: '', refresh: '' };
  }

  async function introspect(token: string): Promise<Reply['body']> {
    return (await sendForm(`${current().api.url}/boxes/default/auth/introspect`, { token }, basic('keeper', secret)))
      .body;
  }

  async function statusOf(token: string, path: string, method = 'GET'): Promise<number> {
    const headers = { Authorization: `Bearer ${token}` };
    return (await readReply(await fetch(`${current().api.url}/boxes/default${path}`, { method, headers }))).status;
  }

  async function expectLive(token: string): Promise<void> {
    expect(await introspect(token)).to.include({ active: true, client_id: 'app' });
    expect(await statusOf(token, '/Client/none')).to.equal(404);
  }

  async function expectRefused(token: string): Promise<void> {
    expect(await introspect(token)).to.deep.equal({ active: false });
    expect(await statusOf(token, '/Client/none')).to.equal(401);
    expect(await statusOf(token, '/auth/userinfo')).to.equal(401);
  }

  const asked = { atToken, introspect, newCode, redeem, refresh, refreshed, statusOf, tokensIn, tokensOf };
  return { configure, expectLive, expectRefused, ...asked };
}

/** Returns every grant but one. */
export const without = (grant: string): readonly GrantType[] => everyGrant.filter((one) => one !== grant);
