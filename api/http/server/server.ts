import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { answerBroken, refuseConnect } from './broken-request.ts';
import type { OnBroken } from './broken-request.ts';
import { withTls } from '../tls/certificates.ts';
import type { Certificate } from '../tls/certificates.ts';
import { portOf } from '../../../program/environment.ts';
import type { Log } from '../../../program/log.ts';

/** Files that a process has beside its connections to callers and to Postgres, and requests on its management port. */
const otherFiles = 100;

/** Milliseconds between two lines of the log about refused connections. */
const quiet = 60_000;

/**
 * Returns how many connections of callers a process serves that may have so many files open: so many that those to
 * Postgres, keys that have to be fetched and probes find a file even while all of them are open. `poolSize` is the
 * number of connections in each of the two pools; another one may be needed by each of them to cancel a statement.
 */
export function connectionLimit(openFiles: number, poolSize: number): number {
  return Math.max(1, Math.min(defaultServerLimits.connections, openFiles - otherFiles - 4 * poolSize));
}

/** Fewer connections than these are worth a warning at the start. */
const few = 1_000;

/** Settings that limits of the public port depend on. */
interface LimitSettings {
  readonly poolSize: number;
  readonly keepAliveSeconds: number;
}

/** Returns the limits of the public port of this process. A limit of few connections is logged. */
export function publicServerLimits({ poolSize, keepAliveSeconds }: LimitSettings, log: Log): ServerLimits {
  const connections = ownConnectionLimit(poolSize, log);
  return { ...defaultServerLimits, connections, keepAlive: 1_000 * keepAliveSeconds };
}

/** Returns the connections of callers that this process serves; see {@link connectionLimit}. */
function ownConnectionLimit(poolSize: number, log: Log): number {
  const files = openFilesLimit();
  const connections = connectionLimit(files, poolSize);
  if (connections < few) {
    log.warn(
      { open_files: files, connections },
      'few connections are served: raise the number of files that may be open',
    );
  }
  return connections;
}

/** Says in the log, once a minute at most, that a server closes new connections because it has as many as it may. */
export function logRefusedConnections(server: Server, log: Log, now: () => number = () => performance.now()): void {
  let last = -Infinity;
  let refused = 0;
  server.on('drop', () => {
    refused += 1;
    if (now() - last < quiet) return;
    last = now();
    log.warn({ refused, limit: server.maxConnections }, 'new connections are closed: as many as there may be are open');
    refused = 0;
  });
}

/**
 * Returns how many files and connections this process may have open: RLIMIT_NOFILE, which Node.js raises to its hard
 * limit at the start. Infinity where there is no limit, or the system does not tell it.
 */
export function openFilesLimit(): number {
  // Without it the report looks up the names of all peers. The types do not know it yet.
  Reflect.set(process.report, 'excludeNetwork', true);
  const soft = ['userLimits', 'open_files', 'soft'].reduce<unknown>(
    (found, key) => Reflect.get(Object(found), key),
    process.report.getReport(),
  );
  return typeof soft === 'number' ? soft : Infinity;
}

// Not by `import`: its named exports load all of undici, 14 MB that a server does not use (Node 24).
const { createServer } = process.getBuiltinModule('node:http');
const { createServer: createTlsServer } = process.getBuiltinModule('node:https');

/** Limits of a server; times in milliseconds, after which a slow caller is disconnected: node's own are minutes. */
export interface ServerLimits {
  readonly headers: number;
  /** For the whole request, its body included. */
  readonly request: number;
  /** For a request on whose connection no byte moves in either direction; 0: unlimited. */
  readonly idle: number;
  /** For a connection that waits for its next request. */
  readonly keepAlive: number;
  readonly connections: number;
  /** Interval between checks of the first two. */
  readonly interval: number;
}

/** Bytes of a request's head, with the cookies of other services of the same domain. */
const LONGEST_HEAD = 32_768;

/** Default limits. */
export const defaultServerLimits: ServerLimits = {
  headers: 10_000,
  request: 15_000,
  idle: 30_000,
  keepAlive: 30_000,
  connections: 20_000,
  interval: 2_000,
};

/** Variants of a server. */
export interface ServerVariant {
  /** With it the server speaks TLS only, of version 1.2 or newer. */
  readonly certificate?: Certificate | undefined;
  /** Called with the error code of a failed TLS handshake and the address of the peer. */
  readonly onFailedHandshake?: (code: string, peer: string) => void;
}

/** Creates an HTTP server with every limit set. Broken requests get a bare 400, 408, 413 or 431, then a disconnect. */
export function createHttpServer(
  listener: RequestListener,
  limits: ServerLimits,
  onBroken: OnBroken = () => undefined,
  { certificate, onFailedHandshake }: ServerVariant = {},
): Server {
  const options = {
    headersTimeout: limits.headers,
    requestTimeout: limits.request,
    connectionsCheckingInterval: limits.interval,
    keepAliveTimeout: limits.keepAlive,
    maxHeaderSize: LONGEST_HEAD,
    noDelay: true,
    // The listener refuses a request without it, with the headers of every answer.
    requireHostHeader: false,
  };
  const server =
    certificate === undefined
      ? createServer(options, listener)
      : createTlsServer({ ...options, ...withTls(certificate), handshakeTimeout: limits.headers }, listener);
  server.maxConnections = limits.connections;
  server.maxRequestsPerSocket = 1_000_000;
  // More than we accept, so that excess headers get an error instead of being dropped silently.
  server.maxHeadersCount = 2_000;
  server.timeout = limits.idle;
  server.on('clientError', answerBroken(onBroken));
  server.on('connect', refuseConnect(onBroken));
  // RFC 9110 §10.1.1 lets us ignore an unknown expectation; node's own 417 has no headers of ours.
  server.on('checkExpectation', listener);
  server.on('checkContinue', continuing(listener));
  if (certificate !== undefined) closeFailedHandshakes(server, onFailedHandshake);
  return server;
}

/** Closes connections whose handshake failed: node would have them answered as broken HTTP, which nobody can read. */
function closeFailedHandshakes(server: Server, onFailed: ServerVariant['onFailedHandshake']): void {
  server.removeAllListeners('tlsClientError');
  server.on('tlsClientError', (error: Error & { code?: string }, socket: Socket) => {
    onFailed?.(error.code ?? 'unknown', socket.remoteAddress ?? '');
    socket.destroy();
  });
}

/**
 * Returns a listener that answers `Expect: 100-continue` when reading of the body begins (RFC 9110 §10.1.1), so that a
 * caller refused earlier does not send it. Such a body may still follow, so the refusal closes the connection.
 */
function continuing(listener: RequestListener): RequestListener {
  return (request, response) => {
    const keepsAlive = response.shouldKeepAlive;
    response.shouldKeepAlive = false;
    const goOn = (event: string | symbol): void => {
      if ((event !== 'data' && event !== 'readable') || response.headersSent) return;
      request.off('newListener', goOn);
      response.shouldKeepAlive = keepsAlive;
      response.writeContinue();
    };
    request.on('newListener', goOn);
    listener(request, response);
  };
}

/** Listens; resolves with the port. Throws an Error of one sentence if the address is taken. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error & { code?: string }): void => {
      const taken =
        cause.code === 'EADDRINUSE' ? 'is in use by another program' : `cannot be listened on (${cause.message})`;
      reject(new Error(`Port ${String(port)} of ${host} ${taken}`, { cause }));
    };
    server.once('error', fail);
    server.listen({ host, port, backlog: 1024 }, () => {
      server.off('error', fail);
      resolve(portOf(server));
    });
  });
}
