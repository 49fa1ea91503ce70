import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { ClusterConfig } from '../../../operator/kube/client/cluster-config.ts';
import { plainSignIn } from './plain-sign-in.ts';
import { portOf } from '../../../program/environment.ts';

/** A list, a watch, or another request that the server was sent. */
export interface ScriptedRequest {
  readonly kind: 'list' | 'watch' | 'other';
  readonly query: URLSearchParams;
  readonly token: string | undefined;
  /** Tells one connection from another. */
  readonly port: number | undefined;
}

/** Answers a request with a fault instead of the real answer. */
export type Fault = (response: ServerResponse) => void;

/**
 * A server that speaks as much of the Kubernetes API as one kind of objects needs (paged lists, watches, versions), and
 * that a test makes fail in ways that a real one cannot be made to on demand.
 */
export interface ScriptedApiServer {
  readonly requests: ScriptedRequest[];
  /** The way in, with the token that `token` gives now. */
  signIn(token?: () => string): ClusterConfig;
  /** Makes or changes an object, and tells the watches. */
  put(name: string, value?: string): void;
  remove(name: string): void;
  /** While true no watch is told of anything. */
  deaf: boolean;
  /** Forgets every event before a new version: a watch from an older version is answered 410. */
  compact(): void;
  /** Everything's version from now on; a smaller one than before is a cluster that was restored. */
  setVersion(version: number): void;
  /** The answer to the next request of this kind; several wait for their turn. */
  next(kind: ScriptedRequest['kind'], ...faults: readonly Fault[]): void;
  /** The answer to every request of this kind, until undefined. */
  always(kind: ScriptedRequest['kind'], fault: Fault | undefined): void;
  /** Sends bytes to every watch that is open. */
  write(bytes: string | Buffer): void;
  openWatches(): number;
  /** Ends every watch as a server does whose time is over. */
  endWatches(): void;
  /** Cuts every connection. */
  cut(): void;
  close(): Promise<void>;
}

interface Stored {
  readonly metadata: { name: string; namespace: string; uid: string; resourceVersion: string; generation: number };
  readonly spec: { value: string };
}

interface Event {
  readonly version: number;
  readonly type: string;
  readonly object: object;
}

/** Answers with a status, and a Status object as the API server does. */
export function status(code: number, headers: Record<string, string> = {}): Fault {
  return (response) => {
    response.writeHead(code, { 'Content-Type': 'application/json', ...headers });
    response.end(JSON.stringify({ kind: 'Status', code, message: `scripted ${String(code)}` }));
  };
}

/** Answers a watch with these lines, and ends it. */
export function stream(...lines: readonly (string | object)[]): Fault {
  return (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(lines.map((line) => (typeof line === 'string' ? line : `${JSON.stringify(line)}\n`)).join(''));
  };
}

/** Closes the connection instead of an answer. */
export function reset(response: ServerResponse): void {
  response.destroy();
}

/** Never answers. */
export function silence(): void {
  return undefined;
}

/** Starts a scripted API server on a free port. */
export async function startScriptedApiServer(): Promise<ScriptedApiServer> {
  const objects = new Map<string, Stored>();
  const watches = new Set<ServerResponse>();
  const queued: Record<ScriptedRequest['kind'], Fault[]> = { list: [], watch: [], other: [] };
  const lasting: Partial<Record<ScriptedRequest['kind'], Fault | undefined>> = {};
  const pages = new Map<string, { version: number; rest: Stored[] }>();
  let events: Event[] = [];
  let version = 100;
  let oldest = 0;
  let nth = 0;

  const server = createServer((request, response) => {
    const asked = requestOf(request);
    scripted.requests.push(asked);
    const fault = queued[asked.kind].shift() ?? lasting[asked.kind];
    if (fault !== undefined) fault(response);
    else if (asked.kind === 'watch') openWatch(asked.query, response);
    else if (asked.kind === 'list') sendPage(asked.query, response);
    else response.end('{}');
  });

  function sendPage(query: URLSearchParams, response: ServerResponse): void {
    const known = pages.get(query.get('continue') ?? '') ?? { version, rest: [...objects.values()] };
    const limit = Number(query.get('limit') ?? known.rest.length);
    const rest = known.rest.slice(limit);
    const token = rest.length > 0 ? `page-${String((nth += 1))}` : '';
    if (token !== '') pages.set(token, { ...known, rest });
    const metadata = { resourceVersion: String(known.version), continue: token };
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ kind: 'ThingList', metadata, items: known.rest.slice(0, limit) }));
  }

  function openWatch(query: URLSearchParams, response: ServerResponse): void {
    const since = Number(query.get('resourceVersion'));
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.flushHeaders();
    if (since < oldest) {
      const object = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
      response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`);
      return;
    }
    for (const event of events.filter((one) => one.version > since)) tell(response, event);
    watches.add(response);
    response.on('close', () => watches.delete(response));
  }

  function tell(response: ServerResponse, { type, object }: Event): void {
    response.write(`${JSON.stringify({ type, object })}\n`);
  }

  function happen(type: string, object: Stored): void {
    const event = { version, type, object };
    if (scripted.deaf) return;
    events.push(event);
    for (const response of watches) tell(response, event);
  }

  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve(portOf(server));
    });
  });

  const scripted: ScriptedApiServer = {
    requests: [],
    deaf: false,
    signIn: (token) => plainSignIn(port, token),
    put(name, value = '') {
      const known = objects.get(name);
      version += 1;
      const uid = known?.metadata.uid ?? `uid-${String(version)}`;
      const generation = (known?.metadata.generation ?? 0) + (known?.spec.value === value ? 0 : 1);
      const metadata = { name, namespace: 'shop', uid, resourceVersion: String(version), generation };
      const object = { metadata, spec: { value } };
      objects.set(name, object);
      happen(known === undefined ? 'ADDED' : 'MODIFIED', object);
    },
    remove(name) {
      const known = objects.get(name);
      if (known === undefined) return;
      version += 1;
      objects.delete(name);
      happen('DELETED', { ...known, metadata: { ...known.metadata, resourceVersion: String(version) } });
    },
    compact() {
      events = [];
      version += 1;
      oldest = version;
    },
    setVersion(wanted) {
      version = wanted;
      events = events.filter((event) => event.version <= wanted);
    },
    next: (kind, ...faults) => void queued[kind].push(...faults),
    always: (kind, fault) => void (lasting[kind] = fault),
    write: (bytes) => watches.forEach((response) => response.write(bytes)),
    openWatches: () => watches.size,
    endWatches() {
      for (const response of watches) response.end();
      watches.clear();
    },
    cut: () => server.closeAllConnections(),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return scripted;
}

function requestOf(request: IncomingMessage): ScriptedRequest {
  const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://scripted');
  const isThings = pathname === '/apis/boxgate.dev/v1/things';
  const kind = !isThings ? 'other' : query.get('watch') === 'true' ? 'watch' : 'list';
  return {
    kind,
    query,
    token: request.headers.authorization?.replace('Bearer ', ''),
    port: request.socket.remotePort,
  };
}
