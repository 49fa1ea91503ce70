import type { RequestListener, Server } from 'node:http';
import { Server as TlsServer } from 'node:tls';
import type { Socket } from 'node:net';
import { answerBroken, refuseConnect } from './broken-request.ts';
import type { OnBroken } from './broken-request.ts';
import type { Certificate } from '../tls/certificate.ts';
import type { MessageClasses } from './router.ts';
import { portOf } from '../../../program/environment.ts';

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
export interface ServerVariant extends Partial<MessageClasses> {
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
  { certificate, onFailedHandshake, ...messages }: ServerVariant = {},
): Server {
  const options = {
    ...messages,
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

/** Makes a TLS server use another certificate for new connections; open ones go on. Throws if it cannot be used. */
export function replaceCertificate(server: Server, certificate: Certificate): void {
  if (!(server instanceof TlsServer)) throw new TypeError('this server speaks no TLS');
  server.setSecureContext(withTls(certificate));
}

function withTls({ cert, key }: Certificate) {
  return { cert, key, minVersion: 'TLSv1.2' } as const;
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
