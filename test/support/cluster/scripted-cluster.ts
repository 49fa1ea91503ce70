import { isObject, parseJson } from '../../../crds/path.ts';
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { ClusterConfig } from '../../../operator/kube/client/cluster-config.ts';
import { plainSignIn } from './plain-sign-in.ts';
import { portOf } from '../../../program/environment.ts';

/**
 * As much of a Kubernetes API as the operator asks for while no Secret is needed: lists and watches, statuses,
 * finalizers, its Lease. It changes objects faster than a real one could.
 */
export interface ScriptedCluster {
  /** The way in. */
  signIn(): ClusterConfig;
  /** Text of a kubeconfig that leads here. */
  readonly kubeconfig: string;
  /** Makes a Client, or changes it, and tells the watches. */
  put(box: string, name: string, spec: object): void;
  /** Asks for the end of a Client: it goes at once, or with its last finalizer. */
  remove(box: string, name: string): void;
  /** A Client is gone, and nobody is told. */
  lose(box: string, name: string): void;
  /** Count of Clients, including those being deleted. */
  readonly size: number;
  /** Count of Clients with a finalizer. */
  readonly held: number;
  /** The generation in which a Client was last said to be Ready; undefined when it is not. */
  readyGeneration(box: string, name: string): number | undefined;
  /** Clients that no list has, though they are there. */
  isHidden: (box: string, name: string) => boolean;
  /** Ends every watch as one whose version is too old: everything is listed again. */
  expire(): void;
  /** Calls back with the box and the name of each Client whose status is written, until its result is called. */
  onStatus(listener: StatusListener): () => void;
  close(): Promise<void>;
}

type StatusListener = (box: string, name: string) => void;

interface Stored {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Record<string, unknown>;
  readonly spec: object;
  status: unknown;
}

const clients = '/apis/boxgate.dev/v1/clients';
const aClient = /\/namespaces\/([^/]+)\/clients\/([^/]+)/;

/** Starts one on a free port. */
export async function startScriptedCluster(): Promise<ScriptedCluster> {
  const objects = new Map<string, Stored>();
  /** Everything that happened, for watches that go on where another one ended. */
  const told: { readonly version: number; readonly line: string }[] = [];
  const watches = new Set<ServerResponse>();
  const listeners = new Set<StatusListener>();
  let version = 1_000;
  let lease: Record<string, unknown> | undefined;

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://scripted');
    const body = parseJson(await text(request));
    if (url.searchParams.get('watch') === 'true') watch(url, response);
    else if (url.pathname.includes('/leases')) answerLease(request, response, body);
    else if (request.method === 'PATCH') patch(url.pathname, response, body);
    else if (/\/namespaces\/[^/]+$/.test(url.pathname)) {
      const name = url.pathname.split('/').at(-1);
      send(response, 200, { kind: 'Namespace', metadata: { name, uid: name, resourceVersion: '1' } });
    } else if (aClient.test(url.pathname)) read(url.pathname, response);
    else {
      const items = url.pathname === clients ? [...objects].filter(isListed).map(([, object]) => object) : [];
      send(response, 200, { kind: 'List', metadata: { resourceVersion: String(version) }, items });
    }
  }

  function isListed([key]: readonly [string, Stored]): boolean {
    const [box = '', name = ''] = key.split('/');
    return !cluster.isHidden(box, name);
  }

  function read(path: string, response: ServerResponse): void {
    const [, box = '', name = ''] = aClient.exec(path) ?? [];
    const found = objects.get(`${box}/${name}`);
    if (found !== undefined) send(response, 200, found);
    else send(response, 404, { kind: 'Status', code: 404, details: { group: 'boxgate.dev', kind: 'clients', name } });
  }

  function watch({ pathname, searchParams }: URL, response: ServerResponse): void {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.flushHeaders();
    if (pathname !== clients) return;
    const since = Number(searchParams.get('resourceVersion'));
    for (const event of told) if (event.version > since) response.write(event.line);
    watches.add(response);
    response.on('close', () => watches.delete(response));
  }

  /** The one lease there is; who writes it has it. */
  function answerLease({ method }: IncomingMessage, response: ServerResponse, body: unknown): void {
    if (method !== 'GET') {
      version += 1;
      const { metadata, ...rest } = isObject(body) ? body : {};
      lease = {
        ...rest,
        metadata: { ...(isObject(metadata) ? metadata : {}), uid: 'lease', resourceVersion: String(version) },
      };
    }
    if (lease !== undefined) send(response, method === 'POST' ? 201 : 200, lease);
    else send(response, 404, { kind: 'Status', code: 404, details: { group: 'coordination.k8s.io', kind: 'leases' } });
  }

  /** A status, or the finalizers. */
  function patch(path: string, response: ServerResponse, body: unknown): void {
    const [, box = '', name = ''] = aClient.exec(path) ?? [];
    const found = objects.get(`${box}/${name}`);
    const { metadata, status } = isObject(body) ? body : {};
    if (found === undefined || !isObject(metadata)) {
      send(response, 404, { kind: 'Status', code: 404 });
      return;
    }
    if (isStale(metadata, found)) {
      send(response, 409, { kind: 'Status', code: 409 });
      return;
    }
    version += 1;
    const changed = { ...found.metadata, resourceVersion: String(version) };
    const finalizers = path.endsWith('/status') ? {} : { finalizers: metadata['finalizers'] };
    const next: Stored = { ...found, metadata: { ...changed, ...finalizers }, status: status ?? found.status };
    if (isGone(next)) objects.delete(`${box}/${name}`);
    else objects.set(`${box}/${name}`, next);
    if (isObject(status)) for (const listener of listeners) listener(box, name);
    tell(isGone(next) ? 'DELETED' : 'MODIFIED', next);
    send(response, 200, next);
  }

  function tell(type: string, object: Stored): void {
    const line = `${JSON.stringify({ type, object })}\n`;
    told.push({ version, line });
    for (const response of watches) response.write(line);
  }

  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve(portOf(server));
    });
  });

  const cluster: ScriptedCluster = {
    signIn: () => plainSignIn(port),
    kubeconfig: kubeconfigFor(port),
    isHidden: () => false,
    get size() {
      return objects.size;
    },
    get held() {
      return [...objects.values()].filter(isHeld).length;
    },
    readyGeneration(box, name) {
      const status = objects.get(`${box}/${name}`)?.status;
      const conditions = isObject(status) && Array.isArray(status['conditions']) ? status['conditions'] : [];
      const ready = conditions.filter(isObject).find(({ type }) => type === 'Ready');
      return ready?.['status'] === 'True' ? Number(ready['observedGeneration']) : undefined;
    },
    onStatus(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    put(box, name, spec) {
      const known = objects.get(`${box}/${name}`);
      version += 1;
      const metadata = {
        ...(known?.metadata ?? { namespace: box, name, uid: randomUUID(), creationTimestamp: '2026-01-01T00:00:00Z' }),
        generation: Number(known?.metadata['generation'] ?? 0) + 1,
        resourceVersion: String(version),
      };
      const next: Stored = { apiVersion: 'boxgate.dev/v1', kind: 'Client', metadata, spec, status: known?.status };
      objects.set(`${box}/${name}`, next);
      tell(known === undefined ? 'ADDED' : 'MODIFIED', next);
    },
    remove(box, name) {
      const known = objects.get(`${box}/${name}`);
      if (known === undefined) return;
      version += 1;
      const deletionTimestamp = '2026-01-01T00:00:00Z';
      const next = { ...known, metadata: { ...known.metadata, deletionTimestamp, resourceVersion: String(version) } };
      if (isGone(next)) objects.delete(`${box}/${name}`);
      else objects.set(`${box}/${name}`, next);
      tell(isGone(next) ? 'DELETED' : 'MODIFIED', next);
    },
    lose: (box, name) => void objects.delete(`${box}/${name}`),
    expire() {
      const object = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
      for (const response of watches) response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`);
      watches.clear();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return cluster;
}

/** Its deletion was asked for, and nobody holds it. */
function isGone(object: Stored): boolean {
  return object.metadata['deletionTimestamp'] !== undefined && !isHeld(object);
}

function isHeld({ metadata: { finalizers } }: Stored): boolean {
  return Array.isArray(finalizers) && finalizers.length > 0;
}

/** A write that was computed from an older version of the object. */
function isStale({ resourceVersion }: Record<string, unknown>, { metadata }: Stored): boolean {
  return resourceVersion !== undefined && resourceVersion !== metadata['resourceVersion'];
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(body));
}

function kubeconfigFor(port: number): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'scripted', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'user', user: { token: 'scripted' } }],
    contexts: [{ name: 'scripted', context: { cluster: 'scripted', user: 'user' } }],
    'current-context': 'scripted',
  });
}
