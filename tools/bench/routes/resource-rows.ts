import { generateClientSecret } from '../../../api/credentials/secret-text.ts';
import { resourceRequest } from '../load/requests.ts';
import type { RouteRow } from './row.ts';
import { PASSWORD } from '../people.ts';
import type { RouteWorld } from './world.ts';

/** Records that are read and changed in turn. */
const RECORDS = 100;
/** Connections that write: all of them wait for the row of the box. */
const WRITERS = 16;
/** Connections that end sessions: none waits for another. */
const ENDERS = 64;
/** Records that are created, and as many that are deleted. */
const ONCE = 1_000;

/** A family of records that can be created over REST. `turn` is 0 or 1: each change changes something. */
interface Family {
  readonly path: string;
  readonly create: (nth: number) => object;
  readonly put: (id: string, turn: number) => object;
  readonly patch: (turn: number) => object;
}

let made = 0;

const families: readonly Family[] = [
  {
    path: '/Client',
    create: (nth) => client(`made-${nth}`, 0),
    put: client,
    patch: (turn) => ({ name: `patched ${turn}` }),
  },
  {
    path: '/AccessPolicy',
    create: (nth) => policy(`made-${nth}`, 0),
    put: policy,
    patch: (turn) => ({ description: `patched ${turn}` }),
  },
  {
    path: '/Group',
    create: (nth) => ({ name: `group ${nth}` }),
    put: (id, turn) => ({ name: `group ${id} in turn ${turn}` }),
    patch: (turn) => ({ description: `patched ${turn}` }),
  },
];

/** Not a chosen one: to store it is to hash it with argon2. */
const secret = generateClientSecret();

function client(id: string, turn: number) {
  const fields = { grant_types: ['client_credentials'], secret };
  return { resourceType: 'Client', id, ...fields, description: `of turn ${turn}` };
}

function policy(id: string, turn: number) {
  const link = [{ resourceType: 'Client', id: 'nobody' }];
  return { resourceType: 'AccessPolicy', id, engine: 'allow', link, description: `of turn ${turn}` };
}

const leastOfLists = { of: 'introspection', least: 0.25 } as const;
const leastOfReads = { of: 'introspection', least: 0.5 } as const;
const leastOfRefusals = { of: 'introspection', least: 0.8 } as const;

/** Rows of the records of a box. */
export const resourceRows: readonly RouteRow[] = [
  ...families.flatMap(rowsOf),
  ...usersRows(),
  list('/Session'),
  read('/Session', ({ boxgate }) => boxgate.sessionIds(RECORDS)),
  change('PUT', '/Session', sessions, () => ({ active: true })),
  change('PATCH', '/Session', sessions, () => ({ active: true })),
  removal('/Session', (world) => newSessions(world, ONCE), ENDERS),
  {
    route: 'DELETE /Session',
    goal: { of: 'token', least: 0.4 },
    isOnce: true,
    async requests({ boxgate }) {
      const tokens = await boxgate.issue(boxgate.clients.opaque, ONCE);
      return tokens.map((token) => resourceRequest(['DELETE', boxgate.path('/Session')], token));
    },
  },
  list('/Grant'),
  read('/Grant', (world) => world.grants(RECORDS)),
  removal('/Grant', (world) => world.grants(RECORDS)),
  list('/AuditEvent'),
  read('/AuditEvent', auditEvents),
  {
    route: 'GET /account',
    requests: async (world) => (await world.uiTokens(PEOPLE_OF_UI)).map((token) => ofUi(world, 'GET /account', token)),
  },
  ofNothing('DELETE /account/sessions/:session'),
  ofNothing('DELETE /account/grants/:client'),
  {
    // Two hashes of argon2 for each.
    route: 'PUT /account/password',
    status: 204,
    isOnce: true,
    async requests(world) {
      const body = JSON.stringify({ old_password: PASSWORD, password: `${PASSWORD}, changed` });
      const tokens = await world.uiTokens(PEOPLE_OF_UI);
      return tokens.map((token) => ofUi(world, 'PUT /account/password', token, body));
    },
  },
  ...['/AccessPolicy/$usage', '/AccessPolicy/$requests', '/$export'].map(get),
  post('/AccessPolicy/$explain', 'application/json', {
    request: { 'request-method': 'get', uri: '/Client' },
  }),
  {
    ...post('/$plan', 'application/x-ndjson', { request: { request: { 'request-method': 'get', uri: '/Client' } } }),
    // A box has one plan at a time.
    connections: 1,
  },
  refusal(403, async ({ boxgate }) => (await boxgate.issue(boxgate.clients.opaque, 1))[0] ?? ''),
  refusal(401, () => 'bgt_unknown'),
];

function rowsOf({ path, create, put, patch }: Family): RouteRow[] {
  const some = (count: number) => async (world: RouteWorld) => {
    const ids: string[] = [];
    while (ids.length < count) ids.push(await world.create(path, create((made += 1))));
    return ids;
  };
  return [
    list(path),
    read(path, some(RECORDS)),
    creation(path, ONCE, create),
    change('PUT', path, some(RECORDS), put),
    change('PATCH', path, some(RECORDS), (_, turn) => patch(turn)),
    removal(path, some(RECORDS)),
  ];
}

/** Users are stored beforehand: to create one is to hash a password. */
function usersRows(): RouteRow[] {
  const ids = (from: number) => () => Array.from({ length: RECORDS }, (_, nth) => String(from + nth));
  return [
    list('/users'),
    read('/users', ids(100)),
    creation('/users', RECORDS, (nth) => ({ email: `made-${nth}@shop.example`, password: PASSWORD })),
    change('PUT', '/users', ids(200), (_, turn) => ({ data: `{"turn":${turn}}` })),
    removal('/users', ids(300)),
  ];
}

type Ids = (world: RouteWorld) => readonly string[] | Promise<readonly string[]>;

/** Sessions of tokens that nothing else uses. */
function sessions(world: RouteWorld): Promise<readonly string[]> {
  return newSessions(world, RECORDS);
}

async function newSessions({ boxgate }: RouteWorld, count: number): Promise<readonly string[]> {
  const before = new Set(await boxgate.sessionIds(1_000_000));
  await boxgate.issue(boxgate.clients.opaque, count);
  return (await boxgate.sessionIds(1_000_000)).filter((id) => !before.has(id)).slice(0, count);
}

async function auditEvents({ boxgate, admin }: RouteWorld): Promise<readonly string[]> {
  const url = `http://127.0.0.1:${boxgate.port}${boxgate.path('/AuditEvent?_count=10&_result=array')}`;
  const answer: unknown = await (await fetch(url, { headers: { Authorization: `Bearer ${admin}` } })).json();
  return Array.isArray(answer) ? answer.map((event) => String(Reflect.get(Object(event), 'id'))) : [];
}

/** People who use the account page. */
const PEOPLE_OF_UI = 20;

/** A request of the account page. */
function ofUi({ boxgate }: RouteWorld, route: string, token: string, body?: string): string {
  const [method = '', path = ''] = route.split(' ');
  return resourceRequest([method, boxgate.path(path)], token, body);
}

/** Deletions of what the user does not have: each can be sent again. */
function ofNothing(route: string): RouteRow {
  return {
    route,
    status: 204,
    async requests(world) {
      const tokens = await world.uiTokens(PEOPLE_OF_UI);
      return tokens.map((token) => ofUi(world, route.replace(/:\w+$/, '019c1a2b-3c4d-7e5f-8a6b-9c0d1e2f3a4b'), token));
    },
  };
}

function list(path: string): RouteRow {
  return {
    route: `GET ${path}`,
    variant: 'first page of 10',
    goal: leastOfLists,
    requests: ({ boxgate, admin }) => [resourceRequest(['GET', boxgate.path(`${path}?_count=10`)], admin)],
  };
}

function read(path: string, ids: Ids): RouteRow {
  return { route: `GET ${path}/:id`, goal: leastOfReads, requests: (world) => each('GET', path, world, ids) };
}

function creation(path: string, count: number, body: (nth: number) => object): RouteRow {
  return {
    route: `POST ${path}`,
    status: 201,
    isOnce: true,
    connections: WRITERS,
    requests: ({ boxgate, admin }) =>
      Array.from({ length: count }, () =>
        resourceRequest(['POST', boxgate.path(path)], admin, JSON.stringify(body((made += 1)))),
      ),
  };
}

function removal(path: string, ids: Ids, connections = WRITERS): RouteRow {
  const requests = (world: RouteWorld) => each('DELETE', path, world, ids);
  return { route: `DELETE ${path}/:id`, isOnce: true, connections, requests };
}

async function each(method: string, path: string, world: RouteWorld, ids: Ids): Promise<readonly string[]> {
  const { boxgate, admin } = world;
  return (await ids(world)).map((id) => resourceRequest([method, boxgate.path(`${path}/${id}`)], admin));
}

function change(method: 'PUT' | 'PATCH', path: string, ids: Ids, body: (id: string, turn: number) => object): RouteRow {
  return {
    route: `${method} ${path}/:id`,
    connections: WRITERS,
    async requests(world) {
      const { boxgate, admin } = world;
      const found = await ids(world);
      const inTurn = (turn: number) =>
        found.map((id) => {
          const at = [method, boxgate.path(`${path}/${id}`)] as const;
          return resourceRequest(at, admin, JSON.stringify(body(id, turn)));
        });
      return [...inTurn(0), ...inTurn(1)];
    },
  };
}

function get(path: string): RouteRow {
  const requests = ({ boxgate, admin }: RouteWorld) => [resourceRequest(['GET', boxgate.path(path)], admin)];
  return { route: `GET ${path}`, requests };
}

function post(path: string, type: string, body: object): RouteRow {
  return {
    route: `POST ${path}`,
    requests: ({ boxgate, admin }) => [
      resourceRequest(['POST', boxgate.path(path)], admin, JSON.stringify(body), type),
    ],
  };
}

/** A request that is refused. */
function refusal(status: 401 | 403, token: (world: RouteWorld) => string | Promise<string>): RouteRow {
  return {
    route: 'GET /Client/:id',
    variant: `refused with ${status}`,
    status,
    goal: leastOfRefusals,
    requests: async (world) => [resourceRequest(['GET', world.boxgate.path('/Client/bench-jwt')], await token(world))],
  };
}
