import { expect } from 'chai';
import { adminSecret } from '../resources/box-api.ts';
import { startRouteApi } from '../route-requests.ts';
import type { RouteApi } from '../route-requests.ts';
import type { RawRequest } from '../raw-http.ts';

describe('the log of answers', () => {
  let api: RouteApi;

  before(async () => {
    api = await startRouteApi();
  });
  after(() => api.stop());

  /** The line of a request, by the id in its answer; without what differs each time. */
  async function lineOf(request: RawRequest): Promise<Readonly<Record<string, unknown>>> {
    const id = (await api.send(request)).headers.get('x-request-id');
    const [line, ...others] = api.logLines
      .map((text) => {
        const value: unknown = JSON.parse(text);
        return typeof value === 'object' ? { ...value } : {};
      })
      .filter((one) => Reflect.get(one, 'request_id') === id);
    expect(others, 'one line a request').to.deep.equal([]);
    const { time, ms, request_id, ...rest }: Record<string, unknown> = { ...line };
    expect(time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(ms).to.be.a('number').that.is.at.least(0);
    expect(request_id).to.equal(id);
    return rest;
  }

  const common = { level: 'info', remote_addr: '127.0.0.1' };
  const basic = ['Authorization', `Basic ${btoa(`admin:${adminSecret}`)}`] as const;
  const form = ['Content-Type', 'application/x-www-form-urlencoded'] as const;
  const base = '/boxes/default';

  it('names box, route, status and the client of a token', async () => {
    for (const [path, body] of [
      ['/auth/token', 'grant_type=client_credentials'],
      ['/auth/introspect', 'token=x'],
      ['/auth/revoke', 'token=x'],
    ] as const) {
      const line = await lineOf({ method: 'POST', target: base + path, headers: [basic, form], body });
      expect(line).to.deep.equal({
        ...common,
        box: 'default',
        method: 'POST',
        route: path,
        status: 200,
        client: 'admin',
      });
    }
  });

  it('names the client and the policy that let it in', async () => {
    const headers = [['Authorization', `Bearer ${api.adminToken}`]] as const;
    const line = await lineOf({ method: 'GET', target: `${base}/Client/sample`, headers });
    expect(line).to.deep.equal({
      ...common,
      box: 'default',
      method: 'GET',
      route: '/Client/:id',
      status: 200,
      client: 'admin',
      policy: 'admin',
    });
  });

  it('names the client that closes its session, for which it needs no policy', async () => {
    const token = String(Reflect.get(Object(await (await tokenFor('sample')).json()), 'access_token'));
    const headers = [['Authorization', `Bearer ${token}`]] as const;
    expect(await lineOf({ method: 'DELETE', target: `${base}/Session`, headers })).to.include({ client: 'sample' });
  });

  it('says why a request was refused, and names nobody who did not prove who it is', async () => {
    const wrong = ['Authorization', `Basic ${btoa('admin:wrong')}`] as const;
    const refused: readonly (readonly [RawRequest, object])[] = [
      [
        { method: 'POST', target: `${base}/auth/token`, headers: [wrong, form], body: 'grant_type=client_credentials' },
        { route: '/auth/token', status: 401, error: 'invalid_client', reason: 'wrong_secret' },
      ],
      [
        { method: 'GET', target: `${base}/Client` },
        { route: '/Client', status: 401, error: 'unauthenticated' },
      ],
      [
        { method: 'PUT', target: `${base}/auth/token` },
        { route: '/auth/token', status: 405, error: 'method-not-allowed' },
      ],
      [
        { method: 'GET', target: `${base}/what` },
        { route: '(none)', status: 404, error: 'not-found' },
      ],
    ];
    for (const [request, expected] of refused) {
      expect(await lineOf(request)).to.deep.equal({ ...common, box: 'default', method: request.method, ...expected });
    }
  });

  it('names no box that is not there', async () => {
    for (const target of ['/boxes/nothing-here/Client', '/Client']) {
      const line = await lineOf({ method: 'GET', target });
      expect(line).to.deep.equal({ ...common, method: 'GET', route: '(none)', status: 404, error: 'not-found' });
    }
  });

  it('shows nothing of the address but the route: no id, no query, no host', async () => {
    const headers = [
      ['Authorization', `Bearer ${api.adminToken}`],
      ['Host', 'canary-host.example'],
      ['User-Agent', 'canary-agent'],
      ['Referer', 'https://canary-referer.example'],
    ] as const;
    for (const path of [
      '/Client/canary-id?a=canary-query',
      '/canary-path',
      '/Client?name=canary-filter',
      '/Client/%ff',
    ]) {
      for (const method of ['GET', 'PUT', 'DELETE']) await api.send({ method, target: base + path, headers });
    }
    expect(api.logLines.join('\n')).not.to.contain('canary');
  });

  it('has one line for each answer, also for a HEAD', async () => {
    expect(await lineOf({ method: 'HEAD', target: `${base}/.well-known/jwks.json` })).to.include({
      method: 'HEAD',
      status: 200,
    });
  });

  function tokenFor(id: string): Promise<Response> {
    return fetch(`${api.base}/auth/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa(`${id}:${id}-secret`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
  }
});
