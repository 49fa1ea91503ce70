import { expect } from 'chai';
import { routes } from '../../../api/app.ts';
import { makeCallers } from '../access-callers.ts';
import type { Callers, Format } from '../access-callers.ts';
import { accessTable, callers, idsOfTheOtherBox } from '../access-table.ts';
import type { Caller } from '../access-table.ts';
import { entries } from './box-api.ts';
import { newGrant, newGroup, newSession, newUser, startRouteApi, storeGrant } from '../route-requests.ts';
import type { RouteApi, RouteRequest } from '../route-requests.ts';

describe('who may do what', () => {
  let api: RouteApi;
  let who: Callers;
  let ordered: readonly RouteRequest[];

  before(async () => {
    api = await startRouteApi();
    who = await makeCallers(api);
    const order = ['POST', 'PUT', 'GET', 'PATCH', 'DELETE'];
    ordered = api.requests.toSorted((a, b) => order.indexOf(a.method) - order.indexOf(b.method));
  });
  after(() => api.stop());

  const expected = (name: string, caller: Caller): string => {
    const row = (accessTable[name] ?? '').trim().split(/\s+/);
    return row[callers.indexOf(caller)] ?? 'not in the table';
  };

  /** Returns paths of new records that the admin may delete; it deletes each twice. */
  async function ownPaths(): Promise<Readonly<Record<string, string>>> {
    return {
      '/Session/': `/Session/${await newSession(api)}`,
      '/users/': `/users/${await newUser(api)}`,
      '/Group/': `/Group/${await newGroup(api)}`,
      '/Grant/': `/Grant/${await newGrant(api)}`,
    };
  }

  async function credentials(request: RouteRequest, caller: Caller, format: Format): Promise<string | undefined> {
    if (request.asker === 'client') return who.basic(caller);
    return request.name === 'DELETE /Session' ? who.freshBearer(caller, format) : who.bearer(caller, format);
  }

  it('X-19 the table has a row for each route, and no other', () => {
    expect(Object.keys(accessTable)).to.have.members(routes.map(([method, path]) => `${method} ${path}`));
    for (const [name, row] of Object.entries(accessTable)) {
      expect(row.trim().split(/\s+/), name).to.have.length(callers.length);
    }
    const withId = routes.filter(([, path]) => path.endsWith('/:id')).map(([method, path]) => `${method} ${path}`);
    expect(Object.keys(idsOfTheOtherBox)).to.have.members(withId);
  });

  for (const format of ['opaque', 'jwt'] as const) {
    // Those who may do nothing come first: what is there for the admin is there for them.
    for (const caller of callers) {
      it(`X-19 ${caller}, ${format} token, every route`, async () => {
        const wrong: string[] = [];
        const own = caller === 'admin' ? await ownPaths() : {};
        for (const request of ordered) {
          const wanted = expected(request.name, caller);
          if (wanted === '---') continue;
          const authorization = await credentials(request, caller, format);
          const path = own[request.path.replace(/[^/]+$/, '')];
          const changed = { body: request.body?.replace(/made(?=[@ ])/, format), ...(path !== undefined && { path }) };
          const { status, text } = await api.ask(request, { ...changed, authorization, cookie: undefined });
          if (String(status) !== wanted) wrong.push(`${request.name}: ${String(status)}, not ${wanted}: ${text}`);
          if (status === 403 && request.shape === 'resource')
            expect(text, request.name).to.contain(refusalAt(request.path));
        }
        expect(wrong).to.deep.equal([]);
      });
    }
  }

  it('X-19 the refused changed nothing: what the other callers asked to make or remove is as it was', async () => {
    const ids = async (kind: string): Promise<unknown[]> =>
      entries(await api.call('GET', `/${kind}?_count=1000`)).map((one) => one['id']);
    expect(await ids('Client')).to.include.members(['boss', 'bare', 'reader', 'sample']);
    expect(await ids('Client')).not.to.include('made');
    expect(await ids('AccessPolicy')).to.include.members(['all', 'reading']);
  });

  it('X-19 an id of the other box is no id here, and nothing changes there', async () => {
    const there = { base: `${api.url}/boxes/other`, authorization: who.bearer('other box', 'opaque') ?? '' };
    const read = async (path: string): Promise<string> => {
      const response = await fetch(there.base + path, { headers: { Authorization: there.authorization } });
      expect(response.status, path).to.equal(200);
      return response.text();
    };
    const session = await newestThere('/Session');
    const user = await idThere('/users', (nth) => ({ email: `${nth}@mail.example`, password: 'correct horse' }));
    await storeGrant(api, 'other', user, 'only-there');
    const paths: Readonly<Record<string, string>> = {
      Client: '/Client/only-there',
      AccessPolicy: '/AccessPolicy/only-there',
      Session: `/Session/${session}`,
      users: `/users/${user}`,
      Grant: `/Grant/${user}.only-there`,
      Group: `/Group/${await idThere('/Group', (nth) => ({ name: `group ${nth}` }))}`,
      AuditEvent: `/AuditEvent/${await newestThere('/AuditEvent')}`,
    };
    const before = await Promise.all(Object.values(paths).map(read));
    for (const [name, status] of Object.entries(idsOfTheOtherBox)) {
      const request = api.requests.find((one) => one.name === name);
      const path = paths[/\/(\w+)\//.exec(name)?.[1] ?? ''] ?? '';
      if (request === undefined) throw new Error(`there is no route ${name}`);
      const body = request.body?.replace('"made"', '"only-there"');
      // What a PUT made here is taken away again, so that each row finds nothing.
      const reply = await api.ask(request, { path, body, authorization: who.bearer('admin', 'opaque') });
      expect(reply.status, `${name}: ${reply.text}`).to.equal(status);
      if (status === 201) await api.call('DELETE', path);
    }
    expect(await Promise.all(Object.values(paths).map(read))).to.deep.equal(before);

    /** One whose id nobody has here. */
    async function idThere(path: string, body: (nth: number) => object): Promise<string> {
      let id = '';
      for (let nth = 0; nth < 14; nth += 1) {
        const response = await fetch(there.base + path, {
          method: 'POST',
          headers: { Authorization: there.authorization, 'Content-Type': 'application/json' },
          body: JSON.stringify(body(nth)),
        });
        id = String(Reflect.get(Object(await response.json()), 'id'));
      }
      return id;
    }

    async function newestThere(path: string): Promise<string> {
      const [found] = entries({
        ...(await api.call('GET', '/Client')),
        body: JSON.parse(await read(`${path}?_count=1`)),
      });
      return String(found?.['id']);
    }
  });

  describe("X-18 another box's credentials", () => {
    for (const format of ['opaque', 'jwt'] as const) {
      it(`a token (${format}) is 401 on every route, with a line in the log, and lives on where it is at home`, async () => {
        const authorization = who.bearer('other box', format);
        for (const request of api.requests.filter(({ asker }) => asker === 'token')) {
          const { status, headers, text } = await api.ask(request, { authorization });
          expect(status, request.name).to.equal(401);
          expect(headers.get('www-authenticate')).to.contain('Bearer realm="default", error="invalid_token"');
          const random = await api.ask(request, { authorization: who.bearer('unknown', format) });
          const plain = (one: string): string => one.replace(/"id":"[^"]+"/, '');
          expect(plain(text), request.name).to.equal(plain(random.text));
          const line = api.logLines.find((one) => one.includes(headers.get('x-request-id') ?? '?')) ?? '{}';
          expect(JSON.parse(line), line).to.include({
            status: 401,
            box: 'default',
            route: request.name.slice(request.method.length + 1),
            error: 'unauthenticated',
            remote_addr: '127.0.0.1',
          });
          expect(JSON.parse(line)).not.to.have.any.keys('client', 'policy');
        }
        const home = await fetch(`${api.url}/boxes/other/Client`, { headers: { Authorization: authorization ?? '' } });
        expect(home.status).to.equal(200);
      });

      it(`a token (${format}) is told inactive by introspection, and revoked by nobody`, async () => {
        const token = (who.bearer('other box', format) ?? '').slice('Bearer '.length);
        for (const [path, body] of [
          ['/auth/introspect', '{"active":false}'],
          ['/auth/revoke', '{}'],
        ] as const) {
          const request = api.requests.find((one) => one.path === path);
          if (request === undefined) throw new Error(`there is no route ${path}`);
          const reply = await api.ask(request, { body: `token=${token}` });
          expect([reply.status, reply.text]).to.deep.equal([200, body]);
        }
        const home = await fetch(`${api.url}/boxes/other/Client`, { headers: { Authorization: `Bearer ${token}` } });
        expect(home.status).to.equal(200);
      });
    }
  });
});

/** Returns what a 403 says at a path. */
function refusalAt(path: string): string {
  return path.startsWith('/account') ? 'Only the admin UI of the box' : 'No access policy grants this request';
}
