import { isObject } from '../../../crds/path.ts';
import { parse } from 'yaml';
import type { Environment } from '../../../program/environment.ts';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import type { TestDatabase } from '../../support/postgres.ts';

/** Options of a request besides method and path; a body that is an object is sent as JSON. */
export interface CallOptions {
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the admin's; null: none. */
  readonly token?: string | null;
}

/** Answer to a request; `body` is parsed, from JSON or YAML. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: unknown;
}

/** An API with a client `admin` in box `default` that may do everything there, by a policy. */
export interface BoxApi extends TestApi {
  readonly base: string;
  readonly adminToken: string;
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
  /** The status and the body of a token request with client credentials. */
  requestToken(id: string, secret: string, box?: string): Promise<Reply>;
}

/** The secret of the client `admin`. */
export const adminSecret = 'admin-secret';

/**
 * Starts the API of a test file, on a database of its own or one that is given; `environment` overrides its settings.
 */
export async function startBoxApi(environment: Environment = {}, database?: TestDatabase): Promise<BoxApi> {
  const api = await startApi({ environment, ...(database && { database }) });
  try {
    return await withAdmin(api);
  } catch (error) {
    await api.stop();
    throw error;
  }
}

async function withAdmin(api: TestApi): Promise<BoxApi> {
  for (const box of ['default', 'other']) {
    await api.declare(box, [
      { kind: 'Client', id: 'admin', grant_types: ['client_credentials'], secret: adminSecret },
      { kind: 'AccessPolicy', id: 'admin', engine: 'allow', link: [{ resourceType: 'Client', id: 'admin' }] },
    ]);
  }
  const base = `${api.url}/boxes/default`;
  const requestToken = (id: string, secret: string, box = 'default') =>
    send(`${api.url}/boxes/${box}/auth/token`, 'POST', {
      body: { grant_type: 'client_credentials', client_id: id, client_secret: secret },
    });
  const adminToken = stringIn(await requestToken('admin', adminSecret), 'access_token');
  return {
    ...api,
    base,
    adminToken,
    requestToken,
    call: (method, path, options = {}) => send(base + path, method, { token: adminToken, ...options }),
  };
}

async function send(url: string, method: string, options: CallOptions): Promise<Reply> {
  const { body, type, accept, token } = options;
  const headers = new Headers(options.headers);
  if (token !== undefined && token !== null) headers.set('Authorization', `Bearer ${token}`);
  if (body !== undefined) headers.set('Content-Type', type ?? 'application/json');
  if (accept !== undefined) headers.set('Accept', accept);
  const sent = body === undefined ? {} : { body: written(body) };
  const response = await fetch(url, { method, headers, ...sent });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parsed(text, response.headers) };
}

function written(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return body;
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
}

function parsed(text: string, headers: Headers): unknown {
  if (text === '') return undefined;
  const value: unknown = headers.get('content-type')?.includes('yaml') === true ? parse(text) : JSON.parse(text);
  return value;
}

/** A member of a value, undefined when there is none. */
function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const found = member(value, name);
  return Array.isArray(found) ? found.map((one: unknown) => one) : [];
}

/** A member of a reply's body that must be a string. */
export function stringIn({ body, text }: Reply, name: string): string {
  const value = member(body, name);
  if (typeof value !== 'string') throw new Error(`no ${name} in ${text}`);
  return value;
}

/** The fields that an OperationOutcome complains about; the sentence where it names none. */
export function complaints({ body }: Reply): readonly string[] {
  return listIn(body, 'issue').map((issue) => String(listIn(issue, 'expression')[0] ?? member(issue, 'diagnostics')));
}

/** The sentences of an OperationOutcome. */
export function sentences({ body }: Reply): readonly string[] {
  return listIn(body, 'issue').map((issue) => String(member(issue, 'diagnostics')));
}

/** A resource as a test reads it. */
export type Shown = Readonly<Record<string, unknown>>;

/** The resources of a Bundle. */
export function entries({ body }: Reply): readonly Shown[] {
  return listIn(body, 'entry')
    .map((entry) => member(entry, 'resource'))
    .filter(isObject);
}

/** The path and query, below the box's issuer, of a link of a Bundle. */
export function linkOf({ body }: Reply, relation: string): string | undefined {
  const link = listIn(body, 'link').find((one) => member(one, 'relation') === relation);
  if (link === undefined) return undefined;
  const url = String(member(link, 'url'));
  if (!url.startsWith(issuer)) throw new Error(`${url} is not on the issuer`);
  return url.slice(issuer.length);
}

const issuer = 'http://boxgate.test/boxes/default';
