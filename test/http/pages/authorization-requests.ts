import { createHash, randomBytes } from 'node:crypto';
import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import { basic, sendForm } from '../../oauth/requests.ts';
import type { Fields, Reply } from '../../oauth/requests.ts';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { addUser } from './browser.ts';
import type { Answer, Browser } from './browser.ts';

/** The user who signs in. */
export const ann = { email: 'ann@shop.example', password: 'a long enough passphrase' };
/** Redirect URI of the clients. */
export const back = 'https://app.example/back';
/** Secret of the clients that have one. */
export const secret = generateClientSecret();
/** PKCE verifier of every code. */
export const verifier = randomBytes(32).toString('base64url');
const challenge = createHash('sha256').update(verifier).digest('base64url');

/** Request of the first-party client for a token in the redirect. */
export const implicit = { response_type: 'token', client_id: 'own', redirect_uri: back };
/** Request of the first-party client for a code. */
export const code = {
  ...{ response_type: 'code', client_id: 'own', redirect_uri: back },
  ...{ code_challenge: challenge, code_challenge_method: 'S256' },
};

/** An API with clients of each kind, and a user. */
export interface AuthorizationApi extends TestApi {
  /** ID of the user. */
  readonly user: number;
}

/** Starts an API with the clients that the tests of the authorization endpoint use, and the user `ann`. */
export async function startAuthorizationApi(): Promise<AuthorizationApi> {
  const api = await startApi({
    environment: { BOXGATE_FAILURES_PER_CLIENT: '100000', BOXGATE_FAILURES_PER_BOX: '100000' },
  });
  try {
    await declareClients(api);
    return { ...api, user: await addUser(api, ann.email, ann.password) };
  } catch (error) {
    await api.stop();
    throw error;
  }
}

async function declareClients(api: TestApi): Promise<void> {
  const both = { implicit: { redirect_uri: back }, authorization_code: { redirect_uri: back, refresh_token: true } };
  const grant_types = ['implicit', 'authorization_code'];
  await api.declare('default', [
    {
      kind: 'Client',
      id: 'own',
      name: 'Own <App>',
      grant_types,
      first_party: true,
      auth: both,
      scope: ['read', 'openid'],
    },
    { kind: 'Client', id: 'foreign', name: 'Foreign App', grant_types, auth: both, scope: ['read', 'openid'] },
    { kind: 'Client', id: 'server', grant_types, secret, first_party: true, auth: both },
    {
      kind: 'Client',
      id: 'jwt',
      grant_types: ['implicit'],
      first_party: true,
      auth: { implicit: { redirect_uri: 'http://127.0.0.1/back', token_format: 'jwt', access_token_expiration: 90 } },
    },
    { kind: 'Client', id: 'two', grant_types, auth: { ...both, implicit: { redirect_uri: `${back}/other` } } },
    { kind: 'Client', id: 'code-only', grant_types: ['authorization_code'], auth: both },
    { kind: 'Client', id: 'off', grant_types, auth: both, active: false },
    {
      kind: 'Client',
      id: 'settled',
      grant_types,
      secret,
      first_party: true,
      auth: {
        implicit: { redirect_uri: back, audience: ['https://files.example'] },
        authorization_code: {
          redirect_uri: back,
          token_format: 'jwt',
          access_token_expiration: 120,
          audience: ['https://files.example'],
          refresh_token: true,
          refresh_token_expiration: 60,
          refresh_requires_secret: true,
          refresh_rotation: false,
          pkce: true,
        },
      },
    },
    {
      kind: 'Client',
      id: 'light',
      grant_types: ['authorization_code'],
      secret,
      first_party: true,
      auth: { authorization_code: { redirect_uri: back, secret_required: false } },
    },
    { kind: 'Client', id: 'machine', grant_types: ['client_credentials'], secret },
  ]);
  await api.declare('strict', [
    { kind: 'Box', id: 'strict', compatibility: { profile: 'strict' } },
    { kind: 'Client', id: 'own', grant_types, first_party: true, auth: both },
  ]);
}

/** Returns the parameters in the part of an address behind this sign. */
export function sent({ location }: Answer, sign: '#' | '?'): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(location.slice(location.indexOf(sign) + 1)));
}

/** Returns the path of an authorization request. */
export function pathOf(parameters: Record<string, string>): string {
  return `/auth/authorize?${new URLSearchParams(parameters).toString()}`;
}

/** API and browser that send the requests of a test. */
interface Caller {
  readonly api: TestApi;
  readonly browser: Browser;
}

/** Returns the requests of a test; `current` returns its API and its browser at the moment of a request. */
export function authorizationRequests(current: () => Caller) {
  /** Sends an authorization request. */
  const ask = (parameters: Record<string, string>): Promise<Answer> => current().browser.get(pathOf(parameters));

  /** Redeems a code at the token endpoint. */
  function redeem(fields: Fields, authorization?: string): Promise<Reply> {
    const whole = { grant_type: 'authorization_code', redirect_uri: back, ...fields };
    return sendForm(`${current().api.url}/boxes/default/auth/token`, whole, authorization);
  }

  /** Returns what introspection tells of a token. */
  async function introspect(token: string): Promise<Reply['body']> {
    const url = `${current().api.url}/boxes/default/auth/introspect`;
    return (await sendForm(url, { token }, basic('machine', secret))).body;
  }

  /** Returns a new code; the empty text if there is none. */
  async function newCode(parameters: Record<string, string> = code): Promise<string> {
    return sent(await ask(parameters), '?')['code'] ?? '';
  }

  return { ask, introspect, newCode, redeem };
}
