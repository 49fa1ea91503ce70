import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { isRecord } from '../../../crds/schema-node.ts';
import { parseJson } from '../../../api/client/apply-answer.ts';

/**
 * As much of a Kubernetes API as the operator asks for while no Secret is needed: lists and watches, statuses, finalizers,
 * its Lease. It changes objects faster than a real one could.
 */
export interface ScriptedCluster {
  /** Text of a kubeconfig that leads here. */
  readonly kubeconfig: string;
  /** Makes a Client, or changes it, and tells the watches. */
  put(box: string, name: string, spec: object): void;
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

/** Starts one on a free port. */
export async function startScriptedCluster(): Promise<ScriptedCluster> {
  const objects = new Map<string, Stored>();
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
    if (url.searchParams.get('watch') === 'true') watch(url.pathname, response);
    else if (url.pathname.includes('/leases')) answerLease(request, response, body);
    else if (request.method === 'PATCH') patch(url.pathname, response, body);
    else if (/\/namespaces\/[^/]+$/.test(url.pathname)) {
      const name = url.pathname.split('/').at(-1);
      send(response, 200, { kind: 'Namespace', metadata: { name, uid: name, resourceVersion: '1' } });
    } else {
      const items = url.pathname === clients ? [...objects.values()] : [];
      send(response, 200, { kind: 'List', metadata: { resourceVersion: String(version) }, items });
    }
  }

  function watch(path: string, response: ServerResponse): void {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.flushHeaders();
    if (path !== clients) return;
    watches.add(response);
    response.on('close', () => watches.delete(response));
  }

  /** The one lease there is; who writes it has it. */
  function answerLease({ method }: IncomingMessage, response: ServerResponse, body: unknown): void {
    if (method !== 'GET') {
      version += 1;
      const { metadata, ...rest } = isRecord(body) ? body : {};
      lease = {
        ...rest,
        metadata: { ...(isRecord(metadata) ? metadata : {}), uid: 'lease', resourceVersion: String(version) },
      };
    }
    if (lease !== undefined) send(response, method === 'POST' ? 201 : 200, lease);
    else send(response, 404, { kind: 'Status', code: 404, details: { group: 'coordination.k8s.io', kind: 'leases' } });
  }

  /** A status, or the finalizers. */
  function patch(path: string, response: ServerResponse, body: unknown): void {
    const [, box = '', name = ''] = /\/namespaces\/([^/]+)\/clients\/([^/]+)/.exec(path) ?? [];
    const found = objects.get(`${box}/${name}`);
    const { metadata, status } = isRecord(body) ? body : {};
    if (found === undefined || !isRecord(metadata)) {
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
    objects.set(`${box}/${name}`, next);
    if (isRecord(status)) for (const listener of listeners) listener(box, name);
    tell('MODIFIED', next);
    send(response, 200, next);
  }

  function tell(type: string, object: Stored): void {
    const line = `${JSON.stringify({ type, object })}\n`;
    for (const response of watches) response.write(line);
  }

  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });

  return {
    kubeconfig: kubeconfigFor(port),
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
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
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
