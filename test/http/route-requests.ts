import { randomUUID } from 'node:crypto';
import { routes } from '../../api/app.ts';
import type { ErrorShape } from '../../api/http/request/request-context.ts';
import { uiFiles } from '../support/api.ts';
import { ownerQuery } from '../support/owner-query.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { hiddenFields, newBrowser } from './pages/browser.ts';
import type { Browser } from './pages/browser.ts';
import { adminSecret, startBoxApi, stringIn } from './resources/box-api.ts';
import type { BoxApi } from './resources/box-api.ts';
import { userTokens } from '../support/user-token.ts';
import { expectClean } from './hygiene.ts';
import { sendRequest } from './raw-http.ts';
import type { RawReply, RawRequest } from './raw-http.ts';

/** Kinds of callers: a client with its secret, somebody with an access token, a browser with its cookie. */
export type Asker = 'anybody' | 'client' | 'token' | 'browser';

/** A request that a route answers with success when it is sent as it stands. */
export interface RouteRequest {
  /** `POST /Client` */
  readonly name: string;
  readonly method: string;
  /** Below the box. */
  readonly path: string;
  readonly shape: ErrorShape;
  readonly asker: Asker;
  /** With its question mark. */
  readonly query: string;
  readonly type: string | undefined;
  readonly body: string | undefined;
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
}

/** Changes of a request by a test; headers are added. A path includes its query. */
export interface Change {
  readonly method?: string;
  readonly path?: string;
  readonly type?: string | undefined;
  readonly body?: string | Buffer | undefined;
  readonly authorization?: string | undefined;
  readonly cookie?: string | undefined;
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

/** Starts the API of a test file, on a database of its own or one that is given. */
export async function startRouteApi(database?: TestDatabase): Promise<RouteApi> {
  const api = await startBoxApi({}, database);
  const app = {
    kind: 'Client',
    grant_types: ['implicit', 'authorization_code'],
    auth: { implicit: { redirect_uri: back }, authorization_code: { redirect_uri: back } },
  } as const;
  await api.declare('default', [
    { kind: 'Box', id: 'default', registration: { enabled: true } },
    { kind: 'Client', id: 'sample', grant_types: ['client_credentials'], secret: 'sample-secret' },
    { ...app, id: 'app', first_party: true },
    { ...app, id: 'asking' },
    { ...app, id: 'leaving', post_logout_redirect_uris: ['https://app.example/bye'] },
    { kind: 'AccessPolicy', id: 'sample', engine: 'allow', link: [{ resourceType: 'Client', id: 'nobody' }] },
  ]);
  const ids = {
    Session: await newSession(api),
    users: await newUser(api),
    Group: await newGroup(api),
    Grant: await newGrant(api),
    AuditEvent: await newAuditEvent(api),
    ui: (await uiFiles()).script,
  };
  const lastToken = stringIn(await api.requestToken('admin', adminSecret), 'access_token');
  const people = await peopleOf(api);
  const requests = requestsOf(api.adminToken, ids, people).map((request) =>
    request.name === 'DELETE /Session' ? { ...request, authorization: `Bearer ${lastToken}` } : request,
  );

  async function send(request: RawRequest): Promise<RawReply> {
    const reply = await sendRequest(api.url, request);
    expectClean(reply, `${request.method} ${request.target}`, request.target);
    return reply;
  }

  return {
    ...api,
    requests,
    send,
    ask(request, change = {}) {
      const { method, path, type, body, authorization, cookie } = { ...request, ...change };
      const query = change.path === undefined ? request.query : '';
      const headers: (readonly [string, string])[] = [...(change.headers ?? [])];
      if (authorization !== undefined) headers.push(['Authorization', authorization]);
      if (cookie !== undefined) headers.push(['Cookie', cookie]);
      if (type !== undefined) headers.push(['Content-Type', type]);
      const target = `/boxes/default${path}${query}`;
      return send({ method, target, headers, ...(body === undefined ? {} : { body }) });
    },
  };
}

const back = 'https://app.example/back';

/** Values that the requests of people need. */
interface People {
  /** A person's access token for `openid`. */
  readonly token: string;
  readonly account?: Account;
  readonly forms: Readonly<Record<string, PageRequest>>;
}

/** A person who is signed in to the admin UI. */
interface Account {
  /** The access token of the UI. */
  readonly token: string;
  /** A change of the password that changes nothing: the token is valid afterwards. */
  readonly change: string;
}

/** Parts of a browser's request to one page, besides its path. */
interface PageRequest {
  readonly cookie?: string;
  readonly query?: string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** A person with a token, and two browsers: one in which they are signed in, and one in which nobody is. */
async function peopleOf(api: BoxApi): Promise<People> {
  const person = { email: `${randomUUID()}@mail.example`, password: 'correct horse' };
  await api.call('POST', '/users', { body: person });
  const [browser, strange] = [newBrowser(api), newBrowser(api)];
  const { form_token = '' } = hiddenFields((await strange.get('/auth/signin')).text);
  await browser.submit('/auth/signin', person);
  const authorize = (query: string) => browser.get(`/auth/authorize?response_type=token&scope=openid&${query}`);
  const { location } = await authorize('client_id=app');
  const consent = async (): Promise<string> => (await authorize('client_id=asking')).location.split('?id=')[1] ?? '';
  const shown = await consent();
  const { form_token: own = '' } = hiddenFields((await browser.get(`/auth/consent?id=${shown}`)).text);
  const cookie = cookieOf(browser);
  const nobody = { cookie: cookieOf(strange) };
  const account = await accountOf(api);
  const newcomer = { email: `${randomUUID()}@mail.example`, password: 'a long enough passphrase' };
  return {
    token: new URLSearchParams(location.split('#')[1]).get('access_token') ?? '',
    account,
    forms: {
      'GET /auth/authorize': { ...nobody, query: '?response_type=token&client_id=app' },
      'POST /auth/authorize': { ...nobody, fields: { response_type: 'token', client_id: 'app' } },
      'GET /': nobody,
      'GET /ui': nobody,
      'GET /ui/': nobody,
      'GET /ui/:file': nobody,
      'GET /auth/signin': nobody,
      'POST /auth/signin': { ...nobody, fields: { form_token, ...person } },
      'GET /auth/signup': nobody,
      'POST /auth/signup': { ...nobody, fields: { form_token, ...newcomer } },
      'GET /auth/consent': { cookie, query: `?id=${shown}` },
      'POST /auth/consent': { cookie, fields: { form_token: own, id: await consent(), answer: 'allow' } },
      'GET /auth/signout': nobody,
      'POST /auth/signout': { ...nobody, fields: { form_token } },
      'GET /auth/logout': nobody,
      'POST /auth/logout': { ...nobody, fields: { state: 'x' } },
    },
  };
}

async function accountOf(api: BoxApi): Promise<Account> {
  const old_password = 'correct horse';
  const { body } = await api.call('POST', '/users', {
    body: { email: `${randomUUID()}@mail.example`, password: old_password },
  });
  const user = Number(Reflect.get(Object(body), 'id'));
  const { access } = await userTokens(api.database.ownerUrl, 'default', 'boxgate.ui', user);
  return {
    token: access,
    change: JSON.stringify({ old_password, password: String(Reflect.get(Object(body), 'password')) }),
  };
}

function cookieOf({ cookies }: Browser): string {
  return [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
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

/** The id of a new record of the audit trail, for the routes that want one: a group is created. */
export async function newAuditEvent(api: BoxApi): Promise<string> {
  await newGroup(api);
  const { body } = await api.call('GET', '/AuditEvent?event=group.created&_count=1&_result=array');
  const records: readonly unknown[] = Array.isArray(body) ? body : [];
  return String(Reflect.get(Object(records[0]), 'id'));
}

/** Stores a consent without scopes, as a person's yes does. */
export async function storeGrant(api: BoxApi, box: string, user: string, client: string): Promise<void> {
  await ownerQuery(
    { database: api.databaseOf(box) },
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
  'POST /auth/userinfo': [form, 'y=x'],
  'POST /$plan': ['application/x-ndjson', '{"request":{"request":{"request-method":"get","uri":"/Client"}}}'],
  'POST /AccessPolicy/$explain': [json, '{"request":{"request-method":"get","uri":"/Client"}}'],
  'PUT /account/password': [json, '{"old_password":"x","password":"y"}'],
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

/**
 * A request for every route, as the client `admin` with its token, and of people; `ids` are of such that are there, by
 * their path. Without people, theirs are as a stranger would make them up.
 */
export function requestsOf(
  token: string,
  ids: Readonly<Record<'Session' | 'users' | 'Group' | 'Grant' | 'AuditEvent', string>> & { readonly ui?: string },
  people: People = { token, forms: {} },
): readonly RouteRequest[] {
  return routes.map(([method, path, shape]) => {
    const name = `${method} ${path}`;
    if (shape === 'page')
      return { ...pageRequest(method, path.replace(':file', ids.ui ?? 'made'), people.forms[name]), name };
    const [type, usual] = bodies[name] ?? [undefined, undefined];
    const account = path.startsWith('/account') ? people.account : undefined;
    const body = account !== undefined && usual !== undefined ? account.change : usual;
    if (body === undefined && /^(POST|PUT|PATCH)/.test(method)) throw new Error(`no request for ${name}`);
    const id = new Map(Object.entries(ids)).get(path.split('/')[1] ?? '') ?? 'made';
    const asker: Asker = askers[shape](path);
    const bearer = shape === 'oauth' ? people.token : (account?.token ?? token);
    const common = { name, method, shape, asker, type, body, query: '', cookie: undefined };
    return {
      ...common,
      path: path.replace(':id', id).replace(/:(?:session|client)$/, 'made'),
      authorization: credentials(asker, bearer),
    };
  });
}

function pageRequest(method: string, path: string, { cookie, query, fields }: PageRequest = {}): RouteRequest {
  const sent = method === 'POST' ? { type: form, body: new URLSearchParams(fields).toString() } : noBody;
  const common = { shape: 'page', asker: 'browser', authorization: undefined } as const;
  return { ...common, ...sent, name: `${method} ${path}`, method, path, query: query ?? '', cookie };
}

const noBody = { type: undefined, body: undefined };

const askers: Readonly<Record<Exclude<ErrorShape, 'page'>, (path: string) => Asker>> = {
  oauth: (path) => (path === '/auth/userinfo' ? 'token' : 'client'),
  resource: () => 'token',
  plain: () => 'anybody',
};

function credentials(asker: Asker, token: string): string | undefined {
  if (asker === 'client') return `Basic ${btoa(`admin:${adminSecret}`)}`;
  return asker === 'token' ? `Bearer ${token}` : undefined;
}
