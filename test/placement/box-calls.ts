import { expect } from 'chai';
import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import { createManagement } from '../../api/client/management.ts';
import { Secret } from '../../api/client/secret.ts';
import { sendRequest } from '../http/raw-http.ts';
import type { ApiProcess } from '../support/api-process.ts';

/** A replica that takes requests. */
export type Replica = Pick<ApiProcess, 'url' | 'managementUrl' | 'managementKey'>;

/** A box with a client `app` that may everything, and with a host of its own. It is a cluster of its own, too. */
export interface Box {
  readonly name: string;
  readonly host: string;
  readonly epoch: number;
}

/** An answer of a box. */
export interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly json: Readonly<Record<string, unknown>>;
}

const { signal } = new AbortController();
const secret = generateClientSecret();

/** Declares a box in a database. */
export async function declareBox(replica: Replica, name: string, database: string): Promise<Box> {
  const management = managementOf(replica);
  const epoch = await management.claimEpoch(name, signal);
  const box = { name, epoch, host: `${name}.test` };
  await declareClient(replica, box, 'app', database);
  const hosts = { box: name, granted: [box.host], claimed: [box.host] };
  await management.putHosts(
    { cluster: name, epoch, default_issuers: 'http://boxgate.test/boxes/', boxes: [hosts] },
    signal,
  );
  await apply(replica, box, { kind: 'Box', id: name, fields: { hosts: [box.host] } });
  const link = [{ resourceType: 'Client', id: 'app' }];
  await apply(replica, box, { kind: 'AccessPolicy', id: 'app', fields: { engine: 'allow', link } });
  return box;
}

/** Declares a client of a box. Throws ManagementError. */
export function declareClient(replica: Replica, box: Omit<Box, 'host'>, id: string, database?: string): Promise<void> {
  const auth = { client_credentials: { refresh_token: true } };
  const fields = { grant_types: ['client_credentials'], secret, auth };
  return apply(replica, box, { kind: 'Client', id, fields, database });
}

interface Declared {
  readonly kind: 'AccessPolicy' | 'Box' | 'Client';
  readonly id: string;
  readonly fields: object;
  readonly database?: string | undefined;
}

async function apply(
  replica: Replica,
  { name, epoch }: Omit<Box, 'host'>,
  { kind, id, fields, database }: Declared,
): Promise<void> {
  const head = { cluster: name, epoch, complete: false, namespace: { uid: name }, ...(database && { database }) };
  const resource = { resourceType: kind, id, ...fields } as const;
  const line = { kind, id, owner: { name: `${name}/${id}`, uid: `${kind}-${id}` }, digest: id, resource };
  const results = await managementOf(replica).apply({ box: name, head, lines: [line] }, signal);
  expect(['created', 'updated', 'unchanged']).to.include(results[0]?.result, JSON.stringify(results));
}

function managementOf({ managementUrl, managementKey }: Replica): ReturnType<typeof createManagement> {
  return createManagement({ url: managementUrl, key: new Secret(managementKey) });
}

/** Moves a box to a database; returns the status of the answer. Throws if the replica ends. */
export async function move(replica: Replica, { name, epoch }: Box, database: string): Promise<number> {
  const response = await fetch(`${replica.managementUrl}/boxes/${name}/move`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${replica.managementKey}` },
    body: JSON.stringify({ cluster: name, epoch, database }),
  });
  await response.text();
  return response.status;
}

/** Sends a form to a box in the name of its client `app`. Throws if the replica ends. */
export function post(replica: Replica, box: Box, path: string, form: Record<string, string>): Promise<Answer> {
  const headers = { Authorization: `Basic ${btoa(`app:${secret}`)}` };
  return call(replica, box, path, { method: 'POST', headers, body: new URLSearchParams(form) });
}

/** Requests a token. */
export function issue(replica: Replica, box: Box): Promise<Answer> {
  return post(replica, box, '/auth/token', { grant_type: 'client_credentials' });
}

/** Asks whether a token is valid. */
export function introspect(replica: Replica, box: Box, token: string): Promise<Answer> {
  return post(replica, box, '/auth/introspect', { token });
}

/** Sends a request with a token; `body` is sent as JSON. */
export function ask(
  replica: Replica,
  box: Box,
  [method, path]: readonly [string, string],
  token: string,
  body?: object,
) {
  const headers = { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) };
  return call(replica, box, path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
}

async function call({ url }: Replica, { name }: Box, path: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(`${url}/boxes/${name}${path}`, init);
  const text = await response.text();
  const value: unknown = text === '' ? {} : JSON.parse(text);
  const json = typeof value === 'object' && value !== null ? { ...value } : {};
  return { status: response.status, retryAfter: response.headers.get('retry-after'), json };
}

/** Lists the clients of a box by its own host. */
export async function listByHost({ url }: Replica, { host }: Box, token: string): Promise<Answer> {
  const headers: [string, string][] = [
    ['Host', host],
    ['Authorization', `Bearer ${token}`],
  ];
  const { status } = await sendRequest(url, { method: 'GET', target: '/Client', headers });
  return { status, retryAfter: null, json: {} };
}
