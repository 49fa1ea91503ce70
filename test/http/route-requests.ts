import { randomUUID } from 'node:crypto';
import { routes } from '../../api/app.ts';
import type { ErrorShape } from '../../api/http/exchange.ts';
import { ownerQuery } from '../support/owner-query.ts';
import { adminSecret, startBoxApi, stringIn } from './resources/box-api.ts';
import type { BoxApi } from './resources/box-api.ts';
import { expectClean } from './hygiene.ts';
import { sendRequest } from './raw-http.ts';
import type { RawReply, RawRequest } from './raw-http.ts';

/** A request that a route answers with success when it is sent as it stands. */
export interface RouteRequest {
  /** `POST /Client` */
  readonly name: string;
  readonly method: string;
  /** Below the box. */
  readonly path: string;
  readonly shape: ErrorShape;
  readonly type: string | undefined;
  readonly body: string | undefined;
  readonly authorization: string | undefined;
}

/** What a test changes of a request; headers are added. */
export interface Change {
  readonly method?: string;
  readonly path?: string;
  readonly type?: string | undefined;
  readonly body?: string | Buffer | undefined;
  readonly authorization?: string | undefined;
  readonly headers?: RawRequest['headers'];
}

/** An API with a request for every route. */
export interface RouteApi extends BoxApi {
  readonly requests: readonly RouteRequest[];
  /** Sends a route's request with some change, to the box `default`; the answer has what any answer must have. */
  ask(request: RouteRequest, change?: Change): Promise<RawReply>;
  /** Sends anything to the public port; the answer has what any answer must have. */
  send(request: RawRequest): Promise<RawReply>;
}

/** Starts the API of a test file. */
export async function startRouteApi(): Promise<RouteApi> {
  const api = await startBoxApi();
  await api.declare('default', [
    { kind: 'Client', id: 'sample', grant_types: ['client_credentials'], secret: 'sample-secret' },
    { kind: 'AccessPolicy', id: 'sample', engine: 'allow', link: [{ resourceType: 'Client', id: 'nobody' }] },
  ]);
  const ids = {
    Session: await newSession(api),
    users: await newUser(api),
    Group: await newGroup(api),
    Grant: await newGrant(api),
  };
  const lastToken = stringIn(await api.requestToken('admin', adminSecret), 'access_token');
  const requests = requestsOf(api.adminToken, ids).map((request) =>
    request.name === 'DELETE /Session' ? { ...request, authorization: `Bearer ${lastToken}` } : request,
  );

  async function send(request: RawRequest): Promise<RawReply> {
    const reply = await sendRequest(api.url, request);
    expectClean(reply, `${request.method} ${request.target}`);
    return reply;
  }

  return {
    ...api,
    requests,
    send,
    ask(request, change = {}) {
      const { method, path, type, body, authorization } = { ...request, ...change };
      const headers: (readonly [string, string])[] = [...(change.headers ?? [])];
      if (authorization !== undefined) headers.push(['Authorization', authorization]);
      if (type !== undefined) headers.push(['Content-Type', type]);
      const target = `/boxes/default${path}`;
      return send({ method, target, headers, ...(body === undefined ? {} : { body }) });
    },
  };
}

/** The id of a new session, for the routes that want one. */
export async function newSession(api: BoxApi): Promise<string> {
  const token = stringIn(await api.requestToken('sample', 'sample-secret'), 'access_token');
  const introspected = await fetch(`${api.base}/auth/introspect`, {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa('sample:sample-secret')}` },
    body: new URLSearchParams({ token }),
  });
  const body: unknown = await introspected.json();
  return typeof body === 'object' && body !== null ? String(Reflect.get(body, 'jti')) : '';
}

/** The id of a new user, for the routes that want one. */
export async function newUser(api: BoxApi): Promise<string> {
  const body = { email: `${randomUUID()}@mail.example`, password: 'correct horse' };
  const reply = await api.call('POST', '/users', { body });
  return String(Reflect.get(Object(reply.body), 'id'));
}

/** The id of a new group, for the routes that want one. */
export async function newGroup(api: BoxApi): Promise<string> {
  const reply = await api.call('POST', '/Group', { body: { name: `group ${randomUUID()}` } });
  return String(Reflect.get(Object(reply.body), 'id'));
}

/** The id of a new grant, for the routes that want one: a new user lets the client `sample` act in their name. */
export async function newGrant(api: BoxApi): Promise<string> {
  const user = await newUser(api);
  await storeGrant(api, 'default', user, 'sample');
  return `${user}.sample`;
}

/** Stores a consent without scopes, as a person's yes does. */
export async function storeGrant(api: BoxApi, box: string, user: string, client: string): Promise<void> {
  await ownerQuery(
    api,
    `INSERT INTO boxgate.consent (box, user_id, client, scopes, version, created_at)
     SELECT box, $2, $3, '{}', config_version, now() FROM boxgate.box WHERE box = $1`,
    [box, user, client],
  );
}

const form = 'application/x-www-form-urlencoded';
const json = 'application/json';

/** The body of the request to each route that takes one. A route that is missing here fails every test of the table. */
const bodies: Readonly<Record<string, readonly [type: string, body: string]>> = {
  'POST /auth/token': [form, 'grant_type=client_credentials'],
  'POST /auth/introspect': [form, 'token=bgt_unknown'],
  'POST /auth/revoke': [form, 'token=bgt_unknown'],
  'POST /AccessPolicy/$explain': [json, '{"request":{"request-method":"get","uri":"/Client"}}'],
  'POST /Client': [
    json,
    '{"resourceType":"Client","id":"made","grant_types":["client_credentials"],"secret":"a-secret"}',
  ],
  'PUT /Client/:id': [
    json,
    '{"resourceType":"Client","id":"made","grant_types":["client_credentials"],"secret":"b-secret"}',
  ],
  'PATCH /Client/:id': [json, '{"name":"patched"}'],
  'POST /AccessPolicy': [json, '{"resourceType":"AccessPolicy","id":"made","engine":"allow"}'],
  'PUT /AccessPolicy/:id': [json, '{"resourceType":"AccessPolicy","id":"made","engine":"allow","description":"put"}'],
  'PATCH /AccessPolicy/:id': [json, '{"description":"patched"}'],
  'PUT /Session/:id': [json, '{"active":true}'],
  'PATCH /Session/:id': [json, '{"active":true}'],
  'POST /Group': [json, '{"name":"made group"}'],
  'PUT /Group/:id': [json, '{"name":"made group of another name"}'],
  'PATCH /Group/:id': [json, '{"description":"patched"}'],
  'POST /users': [json, '{"email":"made@mail.example","password":"correct horse"}'],
  'PUT /users/:id': [json, '{"data":"{}"}'],
};

/** A request for every route, as the client `admin` with its token; `ids` are of such that are there, by their path. */
export function requestsOf(
  token: string,
  ids: Readonly<Record<'Session' | 'users' | 'Group' | 'Grant', string>>,
): readonly RouteRequest[] {
  return routes.map(([method, path, shape]) => {
    const name = `${method} ${path}`;
    const [type, body] = bodies[name] ?? [undefined, undefined];
    if (body === undefined && /^(POST|PUT|PATCH)/.test(method)) throw new Error(`no request for ${name}`);
    const id = new Map(Object.entries(ids)).get(path.split('/')[1] ?? '') ?? 'made';
    return { name, method, shape, type, body, path: path.replace(':id', id), authorization: credentials(shape, token) };
  });
}

function credentials(shape: RouteRequest['shape'], token: string): string | undefined {
  if (shape === 'plain') return undefined;
  return shape === 'oauth' ? `Basic ${btoa(`admin:${adminSecret}`)}` : `Bearer ${token}`;
}
