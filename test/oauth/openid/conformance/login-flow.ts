import { expect } from 'chai';
import { createHash } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { hiddenFields, newBrowser } from '../../../http/pages/browser.ts';
import type { Answer, Browser } from '../../../http/pages/browser.ts';
import { basic, textOf } from '../../requests.ts';
import type { Fields, Reply } from '../../requests.ts';
import { ann, answered, authorizePath, back, issuer, secret } from '../openid-api.ts';
import type { OpenIdApi } from '../openid-api.ts';
import type { LoginType } from './modules.ts';

/** Result of a sign-in. */
export interface SignedIn {
  /** Claims of the id_token, verified. */
  readonly claims: JWTPayload;
  readonly idToken: string;
  /** '' when the response type gives none. */
  readonly accessToken: string;
  /** The answer of the token endpoint; undefined when there was no code. */
  readonly reply: Reply | undefined;
}

/** Requests of the modules of a plan, as the client `server`, which has a secret. */
export interface LoginFlow {
  readonly api: OpenIdApi;
  readonly type: LoginType;
  /** A browser in which nobody is signed in. */
  newcomer(): Browser;
  /** The path of an authorization request; undefined parameters are left out. */
  path(over?: Fields): string;
  /** The answer to an authorization request: an error, a code, tokens, or nothing of it. */
  ask(browser: Browser, over?: Fields): Promise<Record<string, string>>;
  /** Fills in the sign-in page that a request leads to; what the client is answered then. */
  signIn(browser: Browser, over?: Fields): Promise<Record<string, string>>;
  /** Takes an answer as a client does: redeems its code, and verifies what there is. */
  take(answer: Record<string, string>, nonce?: string): Promise<SignedIn>;
  /** Redeems a code. */
  redeem(code: string, fields?: Fields): Promise<Reply>;
  /** A request that somebody signed in is answered, taken. */
  happy(browser: Browser, over?: Fields): Promise<SignedIn>;
}

/** A flow by response type and mode. */
export function loginFlow(api: OpenIdApi, type: LoginType, mode: 'form_post' | undefined): LoginFlow {
  const nonce = 'a nonce';
  const defaults = { response_type: type, response_mode: mode, client_id: 'server', redirect_uri: back };

  function parametersOf(answer: Answer): Record<string, string> {
    const isForm = answer.status === 200 && answer.text.includes(`<form method="post" action="${back}">`);
    return isForm ? hiddenFields(answer.text) : answered(answer);
  }

  const flow: LoginFlow = {
    api,
    type,
    newcomer: () => newBrowser(api),
    path: (over = {}) => authorizePath({ ...defaults, scope: 'openid', state: 'a state', nonce, ...over }),
    async ask(browser, over = {}) {
      const answer = await browser.get(flow.path(over));
      expect(answer.location, 'no page in between').not.to.contain(issuer.concat('/auth/'));
      const parameters = parametersOf(answer);
      expect(parameters).to.include({ state: 'a state', iss: issuer });
      return parameters;
    },
    async signIn(browser, over = {}) {
      const { location } = await browser.get(flow.path(over));
      expect(location).to.contain('/auth/signin?');
      const signedIn = await browser.submit(location, ann);
      return parametersOf(await browser.get(signedIn.location));
    },
    async take(answer, expected = nonce) {
      const { code } = answer;
      const reply = code === undefined ? undefined : await flow.redeem(code);
      const idToken = reply === undefined ? (answer['id_token'] ?? '') : textOf(reply, 'id_token');
      const accessToken = reply === undefined ? (answer['access_token'] ?? '') : textOf(reply, 'access_token');
      const { payload: claims } = await api.verify(idToken, 'server');
      expect(claims).to.include({ sub: String(api.user), nonce: expected });
      if (accessToken !== '') expect(claims['at_hash']).to.equal(halfHash(accessToken));
      expect([accessToken !== '', code !== undefined]).to.deep.equal([type !== 'id_token', type === 'code']);
      return { claims, idToken, accessToken, reply };
    },
    redeem: (code, fields = {}) => api.redeem(code, { code_verifier: undefined, ...fields }, basic('server', secret)),
    happy: async (browser, over) => flow.take(await flow.ask(browser, over)),
  };
  return flow;
}

/** RS256: the left half of the SHA-256 (OpenID Connect Core §3.1.3.6). */
function halfHash(text: string): string {
  return createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url');
}
