import type { RequestListener, Server } from 'node:http';
import { answerBroken, refuseConnect } from './broken-request.ts';
import type { OnBroken } from './broken-request.ts';

// Not by `import`: for its named exports that loads all of undici, 14 MB that a server has no use for (Node 24).
const { createServer } = process.getBuiltinModule('node:http');

/** Limits of a server; times in milliseconds, after which a slow caller is cut off: node's own are minutes. */
export interface ServerLimits {
  readonly headers: number;
  /** For the whole request, its body included. */
  readonly request: number;
  /** For a request on whose connection nothing moves, in whichever direction; 0: for ever. */
  readonly idle: number;
  /** For a connection that waits for its next request. */
  readonly keepAlive: number;
  readonly connections: number;
  /** How often the first two are looked at. */
  readonly interval: number;
}

/** The limits that ship. */
export const defaultServerLimits: ServerLimits = {
  headers: 10_000,
  request: 15_000,
  idle: 30_000,
  keepAlive: 30_000,
  connections: 20_000,
  interval: 2_000,
};

/** An HTTP server with every limit set. Broken requests get a bare 400, 408, 413 or 431 and lose their connection. */
export function createHttpServer(
  listener: RequestListener,
  limits: ServerLimits,
  onBroken: OnBroken = () => undefined,
): Server {
  const server = createServer(
    {
      headersTimeout: limits.headers,
      requestTimeout: limits.request,
      connectionsCheckingInterval: limits.interval,
      keepAliveTimeout: limits.keepAlive,
      maxHeaderSize: 16_384,
      noDelay: true,
      // The listener refuses a request without it, with the headers of every answer.
      requireHostHeader: false,
    },
    listener,
  );
  server.maxConnections = limits.connections;
  server.maxRequestsPerSocket = 1_000_000;
  // More than we take, so that who sends too many is told so instead of having them dropped in silence.
  server.maxHeadersCount = 2_000;
  server.timeout = limits.idle;
  server.on('clientError', answerBroken(onBroken));
  server.on('connect', refuseConnect(onBroken));
  // RFC 9110 §10.1.1 lets us pass over an expectation that we do not know; node's own 417 is a bare one.
  server.on('checkExpectation', listener);
  server.on('checkContinue', continuing(listener));
  return server;
}

/**
 * Returns a listener that answers `Expect: 100-continue` when the body begins to be read (RFC 9110 §10.1.1), so that a caller
 * who is refused without it does not send it. Nobody knows whether such a body follows, so that answer closes the connection.
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

/** Listens; resolves with the port. Throws an Error of one sentence when the address is taken. */
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
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}
