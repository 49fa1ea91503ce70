import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { everyAnswer } from './send.ts';

/** A request that was refused before it was one: no handler saw it. */
export interface BrokenRequest {
  readonly requestId: string;
  readonly status: number;
  readonly remoteAddr: string;
}

/** Hears of every such request: logs and metrics. */
export type OnBroken = (broken: BrokenRequest) => void;

const statusOf: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Answers what is no HTTP, or too slow, as bare as it came, and closes its connection. */
export function answerBroken(onBroken: OnBroken) {
  return (error: Error & { code?: string }, socket: Duplex): void => {
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else refuse(socket, statusOf[error.code ?? ''] ?? 400, [], onBroken);
  };
}

/** CONNECT asks for a proxy, which this is not: 405, where node would hang up without a word. */
export function refuseConnect(onBroken: OnBroken) {
  return (_request: IncomingMessage, socket: Duplex): void => {
    // Nobody else listens to this socket any more.
    socket.on('error', () => socket.destroy());
    refuse(socket, 405, ['Allow', 'GET, HEAD, POST, PUT, PATCH, DELETE'], onBroken);
  };
}

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Content Too Large',
  431: 'Request Header Fields Too Large',
};

const body = '{"error":"invalid_request"}';

/** Milliseconds that a refused connection is read on, so that its answer is not lost with a reset (RFC 9112 §9.6). */
const lingering = 1_000;

function refuse(socket: Duplex, status: number, headers: readonly string[], onBroken: OnBroken): void {
  const requestId = randomBytes(8).toString('hex');
  const all = [
    ...['Connection', 'close', 'Cache-Control', 'no-store', 'X-Request-Id', requestId],
    ...['Content-Type', 'application/json; charset=utf-8', 'Content-Length', String(body.length)],
    ...everyAnswer,
    ...headers,
  ];
  const lines = all.map((part, index) => (index % 2 === 0 ? `${part}: ` : `${part}\r\n`));
  onBroken({ requestId, status, remoteAddr: socket instanceof Socket ? (socket.remoteAddress ?? '') : '' });
  socket.end(`HTTP/1.1 ${String(status)} ${reasons[status] ?? ''}\r\n${lines.join('')}\r\n${body}`);
  endLater(socket);
}

/** Passes over what still comes, and destroys the connection: of one that nobody reads, node does not notice the end. */
function endLater(socket: Duplex): void {
  const cut = setTimeout(() => socket.destroy(), lingering);
  socket.once('close', () => {
    clearTimeout(cut);
  });
  socket.resume();
}
