import { createHash, randomBytes } from 'node:crypto';
import { authorize } from '../../../api/oauth/authorization/authorize.ts';
import type { NextStep } from '../../../api/oauth/authorization/browser-request.ts';
import { userInfo } from '../../../api/oauth/openid/user-claims.ts';
import type { OAuthServices } from '../../../api/oauth/services.ts';
import { token } from '../../../api/oauth/token/endpoint.ts';
import type { TokenResponse } from '../../../api/schemas/oauth.ts';
import { formRequest, outcome, patiently } from '../world.ts';
import type { Declared } from '../world.ts';
import { NO_CHECKS } from '../no-checks.ts';

/** Redirect URI of the clients. */
export const back = 'https://app.example/back';
/** PKCE verifier of every code. */
export const verifier = randomBytes(32).toString('base64url');
const request = {
  response_type: 'code',
  client_id: 'app',
  redirect_uri: back,
  scope: 'openid',
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
};

/** Client that redeems codes and gets an id_token. */
export const app = {
  kind: 'Client',
  id: 'app',
  grant_types: ['authorization_code'],
  auth: { authorization_code: { redirect_uri: back } },
  id_token_signed_response_alg: 'ES256',
} as const satisfies Declared;

/** Another client. To declare it changes the box, and nothing for anybody's code. */
export const noise = { kind: 'Client', id: 'noise', grant_types: ['client_credentials'] } as const satisfies Declared;

/** First-party client that gets tokens without a code. */
export const implicit = {
  kind: 'Client',
  id: 'implicit',
  first_party: true,
  grant_types: ['implicit'],
  auth: { implicit: { redirect_uri: back } },
} as const satisfies Declared;

/** Parameters that leave PKCE out. */
export const noChallenge = { code_challenge: '', code_challenge_method: '' };

/** Somebody who is signed in, and lets the client `app` have what it asks for. */
export interface Person {
  readonly box: string;
  readonly user: number;
  readonly browser: string;
}

/** Count of attempts to redeem a code that failed because Postgres was too busy. */
export const outages = { count: 0 };

/** Sends an authorization request in the browser of a person. */
export async function ask(services: OAuthServices, { box, browser }: Person, over: object = {}): Promise<NextStep> {
  const arrival = { box, browserAt: () => browser, remoteAddr: '192.0.2.1', userAgent: 'test' };
  const query = new URLSearchParams({ ...request, ...over }).toString();
  const decided = await patiently(() => authorize(arrival, query, services));
  return decided?.step ?? { next: 'error-page' };
}

/** Returns the code that a step brings to the client; undefined: none. */
export function codeIn(step: NextStep): string | undefined {
  if (step.next !== 'client') return undefined;
  return new URL(step.answer.address).searchParams.get('code') ?? undefined;
}

/** Returns a code for a person. Throws if there is none. */
export async function codeOf(services: OAuthServices, person: Person, over: object = {}): Promise<string> {
  const code = codeIn(await ask(services, person, over));
  if (code === undefined) throw new Error('there is no code');
  return code;
}

/** Redeems a code; returns the tokens, or the code of the error. */
export function redeem(services: OAuthServices, { box }: Pick<Person, 'box'>, code: string, over: object = {}) {
  const fields = { grant_type: 'authorization_code', redirect_uri: back, client_id: 'app', code_verifier: verifier };
  return patiently(async () => {
    try {
      return await outcome(token(formRequest({ ...fields, code, ...over }, { box }), services, NO_CHECKS));
    } catch (error) {
      outages.count += 1;
      throw error;
    }
  });
}

/** Redeems a code. Throws if there are no tokens. */
export async function tokensOf(
  services: OAuthServices,
  person: Person,
  code: string,
  over: object = {},
): Promise<TokenResponse> {
  const reply = await redeem(services, person, code, over);
  if (typeof reply !== 'object') throw new Error(`there are no tokens: ${String(reply)}`);
  return reply;
}

/** Checks whether an access token is accepted. */
export async function lives(services: OAuthServices, { box }: Pick<Person, 'box'>, { access_token }: TokenResponse) {
  return (await patiently(() => userInfo(box, access_token, services)))?.verdict === 'good';
}
