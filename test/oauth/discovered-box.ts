import { createHash, randomBytes } from 'node:crypto';
import { isList } from '../../crds/path.ts';
import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import { issuerOf, newBrowser } from '../http/pages/browser.ts';
import type { Answer, Browser } from '../http/pages/browser.ts';
import type { BoxApi } from '../http/resources/box-api.ts';
import { assertion, proof } from './assertions.ts';
import type { Signer } from './assertions.ts';
import { basic, readReply, sendForm } from './requests.ts';
import type { Fields, Reply } from './requests.ts';

/** Email and password of the person who signs in. */
export const person = { email: 'ann@shop.example', password: 'a long enough passphrase' };
/** Redirect URI of every client. */
export const back = 'https://app.example/back';
/** The secret of every client that has one. */
export const secret = generateClientSecret();
const verifier = randomBytes(32).toString('base64url');

/** A box as a program knows it that has read a metadata document, with clients for what the document lists. */
export class DiscoveredBox {
  readonly api: BoxApi;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly #signers: ReadonlyMap<string, Signer>;

  constructor(api: BoxApi, metadata: Readonly<Record<string, unknown>>, signers: ReadonlyMap<string, Signer>) {
    this.api = api;
    this.metadata = metadata;
    this.#signers = signers;
  }

  /** The value of a member that is a text. */
  text(member: string): string {
    const value = this.metadata[member];
    if (typeof value !== 'string') throw new TypeError(`${member} is no text`);
    return value;
  }

  /** The values of a member that is a list of texts. */
  values(member: string): readonly string[] {
    const list = this.metadata[member];
    if (!isList(list)) throw new TypeError(`${member} is no list`);
    return list.map((value) => {
      if (typeof value !== 'string') throw new TypeError(`${member} has a value that is no text`);
      return value;
    });
  }

  /** The address in a member, where the server listens on this machine. */
  address(member: string): string {
    return this.text(member).replace(new URL(issuerOf('default')).origin, this.api.url);
  }

  /** A form to the endpoint in a member, with client authentication of one method. */
  async send(member: string, fields: Fields, [method, client, alg]: Authentication): Promise<Reply> {
    const authentication = await this.#authentication(method, client, alg);
    return sendForm(this.address(member), { ...fields, ...authentication.fields }, authentication.header);
  }

  /** A GET of the address in a member. */
  async get(member: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return readReply(await fetch(this.address(member), { headers }));
  }

  /** A browser in which the person is signed in. */
  async signedIn(): Promise<Browser> {
    const browser = newBrowser(this.api);
    await browser.submit('/auth/signin', person);
    return browser;
  }

  /** The answer to an authorization request of the client `app`, for a code unless told otherwise. */
  async authorize(parameters: Fields = {}, browser?: Browser): Promise<Answer> {
    const usual = { response_type: 'code', client_id: 'app', redirect_uri: back, scope: 'openid', state: 'state' };
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const all = { ...usual, code_challenge: challenge, code_challenge_method: 'S256', ...parameters };
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries<string | undefined>(all))
      if (value !== undefined) query.set(name, value);
    return (browser ?? (await this.signedIn())).get(`${this.text('authorization_endpoint')}?${query.toString()}`);
  }

  /** The tokens for a code, or the one in an answer. */
  redeem(answer: Answer, fields: Fields = {}, authentication = usualAuthentication): Promise<Reply> {
    const code = parametersOf(answer).get('code') ?? '';
    const all = { grant_type: 'authorization_code', code, redirect_uri: back, code_verifier: verifier, ...fields };
    return this.send('token_endpoint', all, authentication);
  }

  async #authentication(method: string, client: string, alg = 'ES256'): Promise<{ fields: Fields; header?: string }> {
    switch (method) {
      case 'none':
        return { fields: { client_id: client } };
      case 'client_secret_basic':
        return { fields: {}, header: basic(client, secret) };
      case 'client_secret_post':
        return { fields: { client_id: client, client_secret: secret } };
      case 'private_key_jwt': {
        const signer = this.#signers.get(alg);
        if (signer === undefined) throw new Error(`the test has no key for ${alg}`);
        return { fields: proof(await assertion(signer, client, this.text('issuer'))) };
      }
      default:
        throw new Error(`the test does not know how a client authenticates by ${method}`);
    }
  }
}

/** Client authentication: the method, the client, and for an assertion its algorithm. */
export type Authentication = readonly [method: string, client: string, alg?: string | undefined];

/** Client authentication of the client `app`. */
const usualAuthentication: Authentication = ['client_secret_basic', 'app'];

/** The parameters in the query or the fragment of an answer. */
export function parametersOf({ location }: Answer): URLSearchParams {
  return new URLSearchParams(location.split(/[?#]/, 2)[1] ?? '');
}
