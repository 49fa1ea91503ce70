import http, { type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { portOf } from '../../../program/environment.ts';
import { READING_TIME, type Write, type WriteLog } from './write-log.ts';

/** A proxy between one process and a server that it writes to. */
export interface WriteProxy {
  readonly port: number;
  /** Until it is called, requests wait at a proxy that was made `held`. */
  release(): void;
  close(): Promise<void>;
}

/** Options of an HTTP proxy. */
export interface HttpWritesOptions {
  /** Returns the target of a request, such as `https://127.0.0.1:6443`; called for each request. */
  readonly target: () => Promise<string>;
  /** The certificate that the target is known by. */
  readonly ca?: Buffer;
  /** Speaks TLS to the process with these, which may be the target's own. */
  readonly tls?: { readonly key: Buffer; readonly cert: Buffer };
  readonly log: WriteLog;
  /** Returns the write of a request; undefined if it only reads. */
  readonly describe: (method: string, path: string, body: Buffer) => Write | undefined;
  /** Ends the process. */
  readonly crash: () => void;
  readonly held?: boolean;
  /** Hears of every request that was not only reading, with its answer. */
  readonly onAnswer?: (path: string, body: Buffer, status: number, answer: Buffer) => void;
}

/** Starts a proxy on a free port that shows every write to a log, and ends the process where the log's plan says so. */
export async function startHttpWrites(options: HttpWritesOptions): Promise<WriteProxy> {
  const { tls } = options;
  const open = Promise.withResolvers<undefined>();
  if (options.held !== true) open.resolve(undefined);
  const agent = agentFor(options);
  const sockets = new Set<Socket>();
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    // What breaks off on one side breaks off on the other.
    open.promise.then(() => forward(options, agent, request, response)).catch(() => request.socket.destroy());
  };
  const server = tls === undefined ? http.createServer(answer) : https.createServer(tls, answer);
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => undefined);
  // A watch has no end, and a request that is held none either.
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: portOf(server),
    release: () => open.resolve(undefined),
    async close() {
      for (const socket of sockets) socket.destroy();
      agent.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function agentFor({ ca }: HttpWritesOptions): http.Agent {
  return ca === undefined ? new http.Agent({ keepAlive: true }) : new https.Agent({ keepAlive: true, ca });
}

async function forward(
  options: HttpWritesOptions,
  agent: http.Agent,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = 'GET', url = '/' } = request;
  const body = await bytesOf(request);
  const write = method === 'GET' ? undefined : options.describe(method, url, body);
  const way = write === undefined ? undefined : options.log.meet(write);
  if (way === 'before') {
    options.crash();
    request.socket.destroy();
    return;
  }
  const answer = await send(new URL(url, await options.target()), agent, request, body);
  const { statusCode: status = 502, headers } = answer;
  if (write === undefined) {
    pass(answer, request, response);
    return;
  }
  const bytes = await bytesOf(answer);
  options.onAnswer?.(url, body, status, bytes);
  if (way === 'answer lost' || way === 'connection cut') {
    if (way === 'answer lost') options.crash();
    request.socket.destroy();
    return;
  }
  response.writeHead(status, withLength(headers, bytes.length));
  response.end(bytes, () => {
    if (way === 'after') setTimeout(options.crash, READING_TIME);
  });
}

function send(
  to: URL,
  agent: http.Agent,
  { method = 'GET', headers }: IncomingMessage,
  body: Buffer,
): Promise<IncomingMessage> {
  const { request } = to.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const own = { ...headers, ...(body.length > 0 ? { 'content-length': String(body.length) } : {}) };
    if (body.length > 0) delete own['transfer-encoding'];
    const sent = request(to, { method, headers: own, agent }, resolve);
    sent.on('error', reject);
    sent.end(body);
  });
}

function pass(answer: IncomingMessage, request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  response.flushHeaders();
  answer.pipe(response);
  answer.on('error', () => request.socket.destroy());
  response.on('close', () => answer.destroy());
}

function withLength(headers: OutgoingHttpHeaders, length: number): OutgoingHttpHeaders {
  const { 'transfer-encoding': _chunked, ...rest } = headers;
  return { ...rest, 'content-length': String(length) };
}

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  message.on('data', (chunk: Buffer) => chunks.push(chunk));
  await new Promise((resolve, reject) => message.on('end', resolve).on('error', reject).on('close', reject));
  return Buffer.concat(chunks);
}
