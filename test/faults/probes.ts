import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { messages } from '../../api/pages/messages.ts';
import { createManagement } from '../support/api.ts';
import type { ApiProcess } from '../support/api-process.ts';
import { adminSecret } from '../http/resources/box-api.ts';
import { requestsOf } from '../http/route-requests.ts';
import type { RouteRequest } from '../http/route-requests.ts';

/** Answer of a route, and its time in milliseconds. */
export interface Probe {
  readonly name: string;
  readonly shape: RouteRequest['shape'];
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
  readonly took: number;
}

/** A box to be asked while something is wrong: a client `admin` that may everything, and a token of it. */
export interface Probes {
  readonly token: string;
  readonly session: string;
  /** Asks every route once, all at the same time, each over a connection of its own. */
  all(): Promise<readonly Probe[]>;
  /** Asks one route, by its name in the table of routes. */
  one(name: string): Promise<Probe>;
  /** Asks for a token, by a chosen grant. */
  issue(): Promise<Probe>;
  refresh(): Promise<Probe>;
  /** Introspects the token. */
  check(): Promise<Probe>;
}

const form = 'application/x-www-form-urlencoded';

/** Declares the box `default` of an API and gets a token. */
export async function startProbes(api: ApiProcess): Promise<Probes> {
  const { declare } = createManagement(api.managementUrl, api.managementKey);
  const auth = { client_credentials: { refresh_token: true } };
  await declare('default', [
    { kind: 'Client', id: 'admin', grant_types: ['client_credentials'], secret: adminSecret, auth },
    { kind: 'Client', id: 'plain', grant_types: ['client_credentials'], secret: adminSecret },
    { kind: 'AccessPolicy', id: 'admin', engine: 'allow', link: [{ resourceType: 'Client', id: 'admin' }] },
  ]);
  const request = async (body: string, name = '/auth/token', client = 'admin'): Promise<Probe> =>
    send(api, {
      name: `POST ${name}`,
      method: 'POST',
      path: name,
      shape: 'oauth',
      asker: 'client',
      query: '',
      cookie: undefined,
      type: form,
      body,
      authorization: `Basic ${btoa(`${client}:${adminSecret}`)}`,
    });
  const issued = json(await request('grant_type=client_credentials'));
  const token = String(issued['access_token']);
  const check = () => request(`token=${token}`, '/auth/introspect');
  const session = String(json(await check())['jti']);
  const requests = requestsOf(token, {
    Session: session,
    users: await idOf(api, token, '/users', { email: 'ann@mail.example', password: 'correct horse' }),
    Group: await idOf(api, token, '/Group', { name: 'group' }),
    // Only a person in a browser makes one; that there is none has to be looked up, too. So has a record that is not
    // there.
    Grant: '1.app',
    AuditEvent: randomUUID(),
  });
  // The files of the admin UI need no Postgres.
  const asking = requests.filter(({ name }) => name !== 'GET /ui/:file');
  return {
    token,
    session,
    check,
    all: () => Promise.all(asking.map((one) => send(api, one))),
    one(name) {
      const found = requests.find((one) => one.name === name);
      if (found === undefined) throw new Error(`no route ${name}`);
      return send(api, found);
    },
    issue: () => request('grant_type=client_credentials', '/auth/token', 'plain'),
    refresh: () => request(`grant_type=refresh_token&refresh_token=${String(issued['refresh_token'])}`),
  };
}

/** The id of something new. */
async function idOf(api: ApiProcess, token: string, path: string, body: object): Promise<string> {
  const response = await fetch(`${api.url}/boxes/default${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return String(Reflect.get(Object(await response.json()), 'id'));
}

async function send(
  api: ApiProcess,
  { name, method, path, shape, type, body, authorization }: RouteRequest,
): Promise<Probe> {
  const began = performance.now();
  const response = await fetch(`${api.url}/boxes/default${path}`, {
    method,
    redirect: 'manual',
    body: body ?? null,
    headers: {
      ...(type === undefined ? {} : { 'Content-Type': type }),
      ...(authorization === undefined ? {} : { Authorization: authorization }),
    },
  });
  const text = await response.text();
  const { status } = response;
  return {
    name,
    shape,
    status,
    text,
    retryAfter: response.headers.get('retry-after'),
    took: performance.now() - began,
  };
}

/** The body of an answer as JSON. */
export function json(probe: Probe): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(probe.text);
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/**
 * X-15: 503 with Retry-After, in the error shape of its route, soon. Our own limit is two seconds; what is asserted is
 * far more than that, for a machine that stalls, and less than any wait for something that does not come.
 */
export function expectUnavailable(probe: Probe): void {
  expect(probe.status, `${probe.name}: ${probe.text}`).to.equal(503);
  expect(probe.retryAfter, probe.name).to.match(/^[1-9]\d*$/);
  expect(probe.took, `milliseconds of ${probe.name}`).to.be.below(30_000);
  if (probe.shape === 'page') {
    expect(probe.text, probe.name).to.contain(messages.en.problems.unavailable);
    return;
  }
  const body = json(probe);
  if (probe.shape === 'resource') expect(body, probe.name).to.include({ resourceType: 'OperationOutcome' });
  else expect(body, probe.name).to.include({ error: 'temporarily_unavailable' });
}
