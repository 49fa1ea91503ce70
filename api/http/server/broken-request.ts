import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { everyAnswer } from './send.ts';

/** A request refused before it was complete: no handler saw it. */
export interface BrokenRequest {
  readonly requestId: string;
  readonly status: number;
  readonly remoteAddr: string;
}

/** A listener for every such request: logs and metrics. */
export type OnBroken = (broken: BrokenRequest) => void;

const statusOf: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Answers data that is not HTTP, or too slow, with a bare error, and closes its connection. */
export function answerBroken(onBroken: OnBroken) {
  return (error: Error & { code?: string }, socket: Duplex): void => {
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else refuse(socket, statusOf[error.code ?? ''] ?? 400, [], onBroken);
  };
}

/** Answers CONNECT with 405, because this is not a proxy; node would close the connection without an answer. */
export function refuseConnect(onBroken: OnBroken) {
  return (_request: IncomingMessage, socket: Duplex): void => {
    // This socket has no other listener any more.
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

/** Discards further data, then destroys the connection: node does not notice the end of one that is not read. */
function endLater(socket: Duplex): void {
  const cut = setTimeout(() => socket.destroy(), lingering);
  socket.once('close', () => {
    clearTimeout(cut);
  });
  socket.resume();
}
