import type { Boxgate } from './boxgate.ts';
import type { Declared } from './declare.ts';
import { bearerRequest, formRequest, type Credentials } from './load/requests.ts';

/** Ways to name the box of a request. */
export type Address = 'path' | 'host';

/** Requests for one round: each is served as often as it is sent. */
export type HotRow = (boxgate: Boxgate, at: (endpoint: string) => string) => Promise<string[]>;

/** Live tokens that are presented in turn. */
const TOKENS = 2_000;
/** A host of the box. */
const HOST = 'id.shop.example';

const grant = { grant_type: 'client_credentials' };

/** Returns the credentials of the client that gets refresh tokens: {@link prepareHotRows} declares it. */
function refreshing({ clients }: Boxgate): Credentials {
  return { id: 'bench-refreshing', secret: clients.opaque.secret };
}

/** The requests of apps that are measured, by the name of their row. */
export const hotRows: Readonly<Record<string, HotRow>> = {
  opaque: (boxgate, at) => Promise.resolve([formRequest(at('/auth/token'), grant, boxgate.clients.opaque)]),
  jwt: (boxgate, at) => Promise.resolve([formRequest(at('/auth/token'), grant, boxgate.clients.jwt)]),
  'with-refresh-token': (boxgate, at) => Promise.resolve([formRequest(at('/auth/token'), grant, refreshing(boxgate))]),
  async refresh(boxgate, at) {
    const tokens = await refreshTokens(boxgate, TOKENS / 4);
    return tokens.map((refresh_token) =>
      formRequest(at('/auth/token'), { grant_type: 'refresh_token', refresh_token }, refreshing(boxgate)),
    );
  },
  introspection: (boxgate, at) => introspections(boxgate, at, boxgate.clients.opaque),
  'introspection-jwt': (boxgate, at) => introspections(boxgate, at, boxgate.clients.jwt),
  async bearer(boxgate, at) {
    // No policy allows anything to this client: a record that is read would be the plain lane.
    const tokens = await boxgate.issue(boxgate.clients.opaque, TOKENS);
    return tokens.map((token) => bearerRequest(at('/Client/bench-opaque'), token));
  },
  async check(boxgate, at) {
    const tokens = await boxgate.issue(boxgate.clients.reader, TOKENS);
    const headers = ['X-Original-Method: GET', 'X-Original-URI: /part-9/orders/7?full=1'];
    return tokens.map((token) => bearerRequest(at('/auth/check?app=bench'), token, headers));
  },
};

/** Returns the status of every answer to a row. */
export function statusOf(row: string): number {
  return row === 'bearer' ? 403 : 200;
}

/** Declares what the rows need beside the clients of every bench: a host, a client and ten policies of an app. */
export async function prepareHotRows(boxgate: Boxgate): Promise<void> {
  const { id, secret } = refreshing(boxgate);
  await boxgate.add([
    { kind: 'Box', id: boxgate.box, resource: { resourceType: 'Box', id: boxgate.box, hosts: [HOST] } },
    {
      kind: 'Client',
      id,
      resource: {
        resourceType: 'Client',
        id,
        secret,
        grant_types: ['client_credentials'],
        auth: { client_credentials: { refresh_token: true } },
      },
    },
    ...Array.from({ length: 10 }, (_, nth) => policyOfApp(nth, boxgate.clients.reader.id)),
  ]);
}

/** All ten are asked: the last one grants. */
function policyOfApp(nth: number, reader: string): Declared {
  const id = `bench-app-${String(nth)}`;
  return {
    kind: 'AccessPolicy',
    id,
    resource: {
      resourceType: 'AccessPolicy',
      id,
      engine: 'matcho',
      apps: ['bench'],
      matcho: { 'request-method': 'get', uri: `#^/part-${String(nth)}(/|$)` },
      ...(nth === 0 ? { link: [{ resourceType: 'Client', id: reader }] } : { subjects: 'authenticated' }),
    },
  };
}

/** Makes the requests of a row, which name their box in one way. */
export async function requestsOf(row: HotRow, boxgate: Boxgate, address: Address): Promise<string[]> {
  if (address === 'path') return row(boxgate, (endpoint) => boxgate.path(endpoint));
  const requests = await row(boxgate, (endpoint) => endpoint);
  return requests.map((request) => request.replace('Host: 127.0.0.1', `Host: ${HOST}`));
}

async function introspections(boxgate: Boxgate, at: (endpoint: string) => string, client: Credentials) {
  const tokens = await boxgate.issue(client, TOKENS);
  return tokens.map((token) => formRequest(at('/auth/introspect'), { token }, client));
}

async function refreshTokens(boxgate: Boxgate, count: number): Promise<string[]> {
  const { id, secret } = refreshing(boxgate);
  const url = `http://127.0.0.1:${boxgate.port}${boxgate.path('/auth/token')}`;
  const headers = { Authorization: `Basic ${btoa(`${id}:${secret}`)}` };
  const tokens: string[] = [];
  while (tokens.length < count) {
    const response = await fetch(url, { method: 'POST', headers, body: new URLSearchParams(grant) });
    const answer: unknown = await response.json();
    if (typeof answer !== 'object' || answer === null || !('refresh_token' in answer)) {
      throw new Error(`no refresh token: ${response.status} ${JSON.stringify(answer)}`);
    }
    tokens.push(String(answer.refresh_token));
  }
  return tokens;
}
