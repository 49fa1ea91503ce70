import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import { basic, readReply, sendForm, textOf } from '../../oauth/requests.ts';
import type { Fields, Reply } from '../../oauth/requests.ts';
import type { DeclaredResource, TestApi } from '../../support/api.ts';
import type { Signer } from '../../oauth/assertions.ts';

/** A field of a resource that grants something: how it is used, and how it is withdrawn. */
export interface Withdrawal {
  /** Uses what is granted, on one replica; whether it was let. Throws for any other answer. Can be used again. */
  readonly use: (api: TestApi) => Promise<boolean>;
  /** Withdraws it, on the first replica; it is withdrawn when this has returned. */
  readonly withdraw: () => Promise<unknown>;
}

/** Grants something in a box of its own. */
export type Story = (ground: Ground) => Promise<Withdrawal> | Withdrawal;

/** Replicas and servers that the stories of one run share. */
export interface Surroundings {
  /** Replica on which changes are made. */
  readonly one: TestApi;
  readonly two: TestApi;
  /** A key whose public part is at {@link Surroundings.keysUri}. */
  readonly key: Signer;
  readonly keysUri: string;
  readonly otherKey: Signer;
}

/** A box of one story. */
export class Ground {
  readonly box: string;
  readonly one: TestApi;
  readonly surroundings: Surroundings;
  readonly issuer: string;
  readonly secret = generateClientSecret();
  #admin: string | undefined;

  constructor(surroundings: Surroundings, box: string) {
    this.surroundings = surroundings;
    this.one = surroundings.one;
    this.box = box;
    this.issuer = `http://boxgate.test/boxes/${box}`;
  }

  /** Declares resources of the box, on the first replica. */
  async declare(...resources: readonly DeclaredResource[]): Promise<void> {
    await this.one.declare(this.box, resources);
  }

  /** Declares the Box with these settings. */
  settings(fields: object): Promise<void> {
    return this.declare({ kind: 'Box', id: this.box, ...fields });
  }

  /** Declares the client `app`, which gets tokens by its secret, and by default a policy that lets it read clients. */
  app(fields: object = {}): Promise<void> {
    return this.declare(this.client(fields), this.policy());
  }

  /** The client `app`. */
  client(fields: object = {}): DeclaredResource {
    return { kind: 'Client', id: 'app', secret: this.secret, grant_types: ['client_credentials'], ...fields };
  }

  /** A policy for the client `app`, with other fields; by default it makes nobody an administrator. */
  policy(fields: object = {}): DeclaredResource {
    const link = [{ resourceType: 'Client', id: 'app' }];
    const rule = 'engine' in fields ? {} : { engine: 'cel', expression: 'true' };
    return { kind: 'AccessPolicy', id: 'app', ...rule, link, ...fields };
  }

  base(api: TestApi): string {
    return `${api.url}/boxes/${this.box}`;
  }

  /** A request to the token endpoint; `isProven`: the client sends its secret. */
  atToken(api: TestApi, fields: Fields, isProven = true): Promise<Reply> {
    const by = isProven ? basic('app', this.secret) : undefined;
    return sendForm(`${this.base(api)}/auth/token`, isProven ? fields : { client_id: 'app', ...fields }, by);
  }

  /** The tokens of the client `app`, from the first replica. */
  async tokens(fields: Fields = {}): Promise<{ readonly access: string; readonly refresh: string }> {
    const reply = await this.atToken(this.one, { grant_type: 'client_credentials', ...fields });
    if (reply.status !== 200) throw new Error(reply.text);
    return { access: textOf(reply, 'access_token'), refresh: textOf(reply, 'refresh_token') };
  }

  /** Checks whether an access token grants access to a resource; false: 401 or 403. */
  async opens(api: TestApi, token: string, path = '/Client/app'): Promise<boolean> {
    const headers = { Authorization: `Bearer ${token}` };
    return isLet(await readReply(await fetch(`${this.base(api)}${path}`, { headers })), 200, [401, 403]);
  }

  /** Checks whether a refresh token still yields an access token. */
  async refreshes(api: TestApi, refresh: string, isProven = true): Promise<boolean> {
    const fields = { grant_type: 'refresh_token', refresh_token: refresh };
    return isLet(await this.atToken(api, fields, isProven), 200, [400, 401]);
  }

  /** A request of an administrator of the box, on the first replica unless told. Throws for 400 and above. */
  async admin(method: string, path: string, body?: object, api = this.one): Promise<Reply> {
    const headers = { Authorization: `Bearer ${await this.#adminToken()}`, 'Content-Type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const reply = await readReply(await fetch(`${this.base(api)}${path}`, { method, headers, ...sent }));
    if (reply.status >= 400) throw new Error(`${method} ${path}: ${String(reply.status)} ${reply.text}`);
    return reply;
  }

  async #adminToken(): Promise<string> {
    if (this.#admin !== undefined) return this.#admin;
    const secret = generateClientSecret();
    const link = [{ resourceType: 'Client', id: 'admin' }];
    await this.declare(
      { kind: 'Client', id: 'admin', grant_types: ['client_credentials'], secret },
      { kind: 'AccessPolicy', id: 'admin', engine: 'allow', link },
    );
    const url = `${this.base(this.one)}/auth/token`;
    const reply = await sendForm(url, { grant_type: 'client_credentials' }, basic('admin', secret));
    this.#admin = textOf(reply, 'access_token');
    return this.#admin;
  }
}

/** Checks whether an answer grants the request; throws if it neither grants nor denies. */
export function isLet(
  { status, text }: { readonly status: number; readonly text: string },
  yes: number,
  no: readonly number[],
): boolean {
  if (status === yes || no.includes(status)) return status === yes;
  throw new Error(`neither ${String(yes)} nor ${no.join(' or ')}: ${String(status)} ${text.slice(0, 300)}`);
}

/** The ID in an answer. */
export function idIn({ body, text }: Reply): number {
  if (typeof body['id'] === 'number') return body['id'];
  throw new Error(`no id in ${text}`);
}
