import { request } from 'node:http';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { startFaultProxy } from '../../support/fault-proxy.ts';
import type { FaultProxy } from '../../support/fault-proxy.ts';
import { freshDatabase } from '../../support/postgres.ts';
import type { TestDatabase } from '../../support/postgres.ts';
import { FOLDER, readDocument } from '../../support/responses/compare-sent.ts';
import { comparisonWith } from '../../support/responses/comparison.ts';
import { totalsOf } from '../../support/responses/results.ts';
import { RARE_RESPONSES } from '../../support/responses/rare-responses.ts';
import { sendRequest } from '../raw-http.ts';
import type { RawReply, RawRequest } from '../raw-http.ts';
import { stringIn } from '../resources/box-api.ts';
import { startRouteApi } from '../route-requests.ts';
import type { Change, RouteApi, RouteRequest } from '../route-requests.ts';
import {
  endOwnRecords,
  GATEWAY_HEADERS,
  checkRequests,
  sendConflicts,
  sendRefusedPlans,
  sendUnknownIds,
  visitPages,
} from './particular-requests.ts';

describe('the responses of the OpenAPI document', () => {
  const { described, compare } = comparisonWith(readDocument());
  const seen = new Set<string>();
  const faults: string[] = [];
  let database: TestDatabase;
  let proxy: FaultProxy;
  let api: RouteApi;

  before(async () => {
    database = await freshDatabase();
    const url = new URL(database.apiUrl);
    proxy = await startFaultProxy(Number(url.port));
    url.port = String(proxy.port);
    api = await startRouteApi({ ...database, apiUrl: url.href });
  });
  after(async () => {
    await api.stop();
    await proxy.close();
    await database.drop();
  });

  /** Compares what came over the wire with the document. */
  function note(method: string, target: string, reply: RawReply): void {
    const path = target.replace(/\?.*/s, '').replace(/^\/boxes\/[^/]*/, '');
    const { status, text } = reply;
    const headers = [...reply.headers].flat();
    const body = method === 'HEAD' ? undefined : text;
    const hasBody = method === 'HEAD' ? Number(reply.headers.get('content-length') ?? 0) > 0 : text !== '';
    const { name, faults: found } = compare({ method, path, status, headers, body, hasBody });
    if (name !== undefined) seen.add(name);
    faults.push(...found.map((fault) => `${name ?? `${method} ${path} ${String(status)}`} ${fault}`));
  }

  async function send(sent: RawRequest): Promise<RawReply> {
    const reply = await sendRequest(api.url, sent);
    note(sent.method, sent.target, reply);
    return reply;
  }

  async function ask(asked: RouteRequest, change: Change = {}): Promise<RawReply> {
    const reply = await api.ask(asked, change);
    note(change.method ?? asked.method, change.path ?? asked.path, reply);
    return reply;
  }

  /** Every route, and every method of the decision point for gateways. */
  const all = (): readonly RouteRequest[] => [...api.requests, ...checkRequests(api.adminToken)];
  const named = (name: string): RouteRequest => {
    const found = all().find((one) => one.name === name);
    if (found === undefined) throw new Error(`no request ${name}`);
    return found;
  };
  const writes = (): readonly RouteRequest[] => all().filter(({ body }) => body !== undefined);

  const before_box: Change = {
    headers: [
      ['Host', 'one'],
      ['Host', 'two'],
    ],
  };
  const ways: readonly (readonly [
    what: string,
    of: () => readonly RouteRequest[],
    change: (of: RouteRequest) => Change,
  ])[] = [
    ['a request with two hosts', all, () => before_box],
    [
      'a request without a credential',
      all,
      (one) => ({ authorization: undefined, cookie: undefined, headers: headersOf(one) }),
    ],
    ['a format that is not there', all, () => ({ headers: [['Accept', 'image/png']] })],
    ['a version that is not there', all, () => ({ headers: [['If-Match', '"none"']] })],
    ['a body of another type', writes, () => ({ type: 'text/plain' })],
    ['a body that is too long', writes, () => ({ body: `{"x":"${'x'.repeat(2_000_000)}"}` })],
    [
      'a body that is not valid',
      writes,
      ({ type }) => (type === 'application/json' ? { body: '{"nonsense":true}' } : { body: 'x=%ff' }),
    ],
  ];
  for (const [what, of, change] of ways) {
    it(`are as described: ${what}`, async () => {
      for (const one of of()) await ask(one, change(one));
    });
  }

  it('are as described: no policy', async () => {
    const token = stringIn(await api.requestToken('sample', 'sample-secret'), 'access_token');
    // It closes the session of this token.
    const others = all().filter(({ name }) => name !== 'DELETE /Session');
    for (const one of others) await ask(one, { authorization: `Bearer ${token}`, headers: headersOf(one) });
  });

  it('are as described: a box that is not there', async () => {
    for (const { method, path } of all()) await send({ method, target: `/boxes/nobody${path}` });
  });

  it('are as described: a box at its quota', async () => {
    await api.declareWithin('default', { requests: 1 }, []);
    const held = request(`${api.base}/auth/token`, { method: 'POST', headers: { 'content-length': '9' } });
    held.on('error', () => undefined);
    held.write('{');
    const [first] = all();
    if (first === undefined) throw new Error('no route');
    await eventually('the box is at its quota', async () => (await api.ask(first)).status === 429);
    for (const one of all()) await ask(one, { headers: headersOf(one) });
    held.destroy();
    await eventually('there is room again', async () => (await api.ask(first)).status !== 429);
    await api.declareWithin('default', {}, []);
  });

  it('are as described: a box with as many sessions as it may have', async () => {
    const token = (): Promise<RawReply> => ask(named('POST /auth/token'));
    await api.declareWithin('default', { sessions: 1 }, []);
    await eventually('no token is issued', async () => (await token()).status === 422);
    await api.declareWithin('default', {}, []);
    await eventually('tokens are issued again', async () => (await token()).status === 200);
  });

  it('are as described: no database', async () => {
    proxy.isClosed = true;
    proxy.cut();
    for (const one of all()) await send(asSent(one));
    // Whether such a box exists is not known.
    for (const { method, path } of all()) await send({ method, target: `/boxes/unread${path}` });
    proxy.isClosed = false;
    await eventually('the database is back', async () => (await api.call('GET', '/Client')).status === 200);
  });

  it('are as described: what only some routes answer', async () => {
    await sendConflicts(api);
    await sendUnknownIds(api);
    await endOwnRecords(api);
    await sendRefusedPlans(api);
    await visitPages(api);
  });

  it('are as described: success, and the version that the caller has', async () => {
    const apps = { kind: 'AccessPolicy', id: 'apps', engine: 'allow', apps: ['*'], subjects: 'authenticated' } as const;
    await api.declare('default', [apps]);
    for (const one of all().toSorted((a, b) => order(a) - order(b))) {
      const reply = await ask(one, { headers: headersOf(one) });
      const etag = reply.headers.get('etag');
      if (one.method === 'GET' && etag !== undefined) await ask(one, { headers: [['If-None-Match', etag]] });
    }
  });

  it('do not differ from what is sent', () => {
    expect(faults).to.deep.equal([]);
  });

  it('have each occurred', () => {
    // The pages and the conflicts were seen where they were sent.
    const { names } = totalsOf(process.env[FOLDER] ?? '');
    const never = [...described.names].filter(
      (name) => !seen.has(name) && !names.has(name) && !RARE_RESPONSES.has(name),
    );
    expect(never).to.deep.equal([]);
  });

  /** A deletion comes last. */
  const order = ({ method }: RouteRequest): number => (method === 'DELETE' ? 1 : 0);
});

/** Returns a request as it goes over the wire. */
function asSent(one: RouteRequest): RawRequest {
  const { method, path, query, type, body, authorization, cookie } = one;
  const headers: (readonly [string, string])[] = [...headersOf(one)];
  if (authorization !== undefined) headers.push(['Authorization', authorization]);
  if (cookie !== undefined) headers.push(['Cookie', cookie]);
  if (type !== undefined) headers.push(['Content-Type', type]);
  return { method, target: `/boxes/default${path}${query}`, headers, ...(body === undefined ? {} : { body }) };
}

/** Returns the headers by which a gateway tells the original request, where its path does not. */
function headersOf({ path }: RouteRequest): readonly (readonly [string, string])[] {
  return path === '/auth/check' ? GATEWAY_HEADERS : [];
}
