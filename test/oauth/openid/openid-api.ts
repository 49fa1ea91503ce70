import { createHash, randomBytes } from 'node:crypto';
import { createLocalJWKSet, jwtVerify } from 'jose';
import type { JSONWebKeySet, JWTVerifyResult } from 'jose';
import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import { addUser, issuerOf, newBrowser } from '../../http/pages/browser.ts';
import type { Answer, Browser } from '../../http/pages/browser.ts';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { readReply, sendForm } from '../requests.ts';
import type { Fields, Reply } from '../requests.ts';

/** The person of {@link startOpenIdApi}. */
export const ann = { email: 'ann@shop.example', password: 'a long enough passphrase' };
/** Stored data of the user `ann`. */
export const annsData = {
  name: 'Ann Æther',
  given_name: 'Ann',
  family_name: 'Æther',
  birthdate: '1990-02-03',
  updated_at: 1_700_000_000,
  address: { street_address: '1 Main Street', country: 'NL' },
  phone_number: '+31 20 123 4567',
  phone_number_verified: true,
  // Of the wrong type, or no claim.
  nickname: 7,
  sub: '1',
  email: 'other@shop.example',
  shoe_size: '38',
};
/** The issuer of its box. */
export const issuer = issuerOf('default');
/** Redirect URI of its clients. */
export const back = 'https://app.example/back';
/** Address to which people return who signed out through `own`. */
export const goodbye = 'https://app.example/goodbye';
/** The secret of its client `server`. */
export const secret = generateClientSecret();

/** Email and password of a sign-in. */
export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** An API with people and clients of OpenID Connect. */
export interface OpenIdApi extends TestApi {
  /** The id of {@link ann}. */
  readonly user: number;
  /** Somebody else. */
  readonly eve: Credentials;
  /** A browser in which she, or somebody else, is signed in. */
  signedIn(person?: Credentials): Promise<Browser>;
  /** Redeems a code, or the one in an answer, as `own` unless told otherwise. */
  redeem(answer: Answer | string, fields?: Fields, authorization?: string): Promise<Reply>;
  /** The published keys. */
  keys(): Promise<JSONWebKeySet>;
  /** Verifies a JWT with them, as a client would. */
  verify(text: string, audience?: string): Promise<JWTVerifyResult>;
  /** Her access token, and what comes with it, for a scope. */
  tokens(parameters?: Fields): Promise<Reply>;
  /** Below the box. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Reply>;
}

const verifier = randomBytes(32).toString('base64url');

/** The parameters of a request for a code, and the path that they make. */
export const codeRequest = {
  response_type: 'code',
  client_id: 'own',
  redirect_uri: back,
  scope: 'openid',
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
};

/** The path of an authorization request. */
export function authorizePath(parameters: Fields): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, value);
  return `/auth/authorize?${query.toString()}`;
}

/** The parameters in the query or fragment of an answer. */
export function answered({ location }: Answer): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(location.split(/[?#]/, 2)[1] ?? ''));
}

/** Starts it, with settings of its box. Its throttle is open. */
export async function startOpenIdApi(box: Readonly<Record<string, unknown>> = {}): Promise<OpenIdApi> {
  const environment = { BOXGATE_FAILURES_PER_CLIENT: '100000', BOXGATE_FAILURES_PER_BOX: '100000' };
  const api = await startApi({ environment });
  const auth = { implicit: { redirect_uri: back }, authorization_code: { redirect_uri: back, refresh_token: true } };
  const client = { kind: 'Client', grant_types: ['implicit', 'authorization_code'], auth } as const;
  const own = { ...client, first_party: true };
  await api.declare('default', [
    { kind: 'Box', id: 'box', ...box },
    { ...own, id: 'own', name: 'Own App', post_logout_redirect_uris: [goodbye, `${goodbye}?a=b`] },
    { ...client, id: 'foreign', name: 'Foreign App' },
    { ...own, id: 'server', secret },
    { ...own, id: 'es256', id_token_signed_response_alg: 'ES256' },
    { ...own, id: 'eddsa', id_token_signed_response_alg: 'EdDSA' },
    { ...own, id: 'code-only', grant_types: ['authorization_code'] },
    {
      kind: 'Client',
      id: 'device',
      grant_types: ['authorization_code'],
      auth: { authorization_code: { redirect_uri: 'com.example.app:/back' } },
    },
    { kind: 'Client', id: 'machine', grant_types: ['client_credentials'], secret, scope: ['openid'] },
  ]);
  const user = await addUser(api, ann.email, ann.password, 'default', JSON.stringify(annsData));
  const eve = { email: 'eve@shop.example', password: 'another long passphrase' };
  await addUser(api, eve.email, eve.password);
  const base = `${api.url}/boxes/default`;

  const rig: OpenIdApi = {
    ...api,
    user,
    eve,
    async signedIn(person = ann) {
      const browser = newBrowser(api);
      await browser.submit('/auth/signin', { ...person });
      return browser;
    },
    redeem(answer, fields = {}, authorization?: string) {
      const code = typeof answer === 'string' ? answer : answered(answer)['code'];
      const named = authorization === undefined ? { client_id: 'own' } : {};
      const whole = { grant_type: 'authorization_code', code, redirect_uri: back, code_verifier: verifier, ...named };
      return sendForm(`${base}/auth/token`, { ...whole, ...fields }, authorization);
    },
    async tokens(parameters = {}) {
      const browser = await rig.signedIn();
      const answer = await browser.get(authorizePath({ ...codeRequest, ...parameters }));
      return rig.redeem(answer, { client_id: parameters['client_id'] ?? 'own' });
    },
    async keys() {
      const response = await fetch(`${base}/.well-known/jwks.json`);
      return readKeySet(await response.json());
    },
    async verify(text, audience = 'own') {
      return jwtVerify(text, createLocalJWKSet(await rig.keys()), { issuer, audience, typ: 'JWT' });
    },
    get: async (path, headers = {}) => readReply(await fetch(`${base}${path}`, { headers })),
  };
  return rig;
}

function readKeySet(value: unknown): JSONWebKeySet {
  if (!isKeySet(value)) throw new TypeError('this is no key set');
  return value;
}

function isKeySet(value: unknown): value is JSONWebKeySet {
  return typeof value === 'object' && value !== null && 'keys' in value && Array.isArray(value.keys);
}
