import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pagePolicy } from '../../pages/page.ts';
import { problemPage } from '../../pages/problem-page.ts';
import { HTML } from '../pages/send.ts';
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

/**
 * Answers data that is not HTTP, or too slow, with a bare error, and closes its connection; a browser that sends too
 * many cookies gets a page. A connection on which nothing was sent, such as one that a browser keeps ready, is closed
 * without an answer: the browser would take it for that of its next request.
 */
export function answerBroken(onBroken: OnBroken) {
  return (error: Error & { code?: string; rawPacket?: Buffer }, socket: Duplex): void => {
    const isUnused = socket instanceof Socket && socket.bytesRead === 0;
    const status = statusOf[error.code ?? ''] ?? 400;
    if (!socket.writable || error.code === 'ECONNRESET' || isUnused) socket.destroy();
    else refuse(socket, status, { page: status === 431 ? pageForBrowser(error.rawPacket) : undefined }, onBroken);
  };
}

/** Creates the page for a head that is too long; undefined if its beginning shows that no browser sent it. */
function pageForBrowser(packet: Buffer | undefined): Refusal['page'] {
  const head = packet?.toString('latin1') ?? '';
  // The packet may be a later part of the head, which tells nothing.
  const beginsHere = /^[A-Z]+ \S+ HTTP\/1\.[01]\r\n/.test(head);
  if (beginsHere && !/^accept:[^\r\n]*text\/html/im.test(head)) return undefined;
  const [, language] = /^accept-language: *([^\r\n]*)/im.exec(head) ?? [];
  return (requestId) => {
    const page = problemPage('headers-too-large', language, requestId);
    return { body: page.text, contentType: HTML, policy: pagePolicy(page, false) };
  };
}

/** Answers CONNECT with 405, because this is not a proxy; node would close the connection without an answer. */
export function refuseConnect(onBroken: OnBroken) {
  return (_request: IncomingMessage, socket: Duplex): void => {
    // This socket has no other listener any more.
    socket.on('error', () => socket.destroy());
    refuse(socket, 405, { headers: ['Allow', 'GET, HEAD, POST, PUT, PATCH, DELETE'] }, onBroken);
  };
}

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Content Too Large',
  431: 'Request Header Fields Too Large',
};

const json: Sent = { body: '{"error":"invalid_request"}' };
const jsonType = 'application/json; charset=utf-8';
const policyAt = everyAnswer.indexOf('Content-Security-Policy') + 1;

/** Milliseconds that a refused connection is read on, so that its answer is not lost with a reset (RFC 9112 §9.6). */
const lingering = 1_000;

interface Sent {
  readonly body: string;
  readonly contentType?: string;
  readonly policy?: string;
}

interface Refusal {
  readonly headers?: readonly string[];
  /** Creates the page that is sent instead of JSON. */
  readonly page?: ((requestId: string) => Sent) | undefined;
}

function refuse(socket: Duplex, status: number, { headers = [], page }: Refusal, onBroken: OnBroken): void {
  const requestId = randomBytes(8).toString('hex');
  const { body: text, contentType = jsonType, policy } = page?.(requestId) ?? json;
  const all = [
    ...['Connection', 'close', 'Cache-Control', 'no-store', 'X-Request-Id', requestId],
    ...['Content-Type', contentType, 'Content-Length', String(Buffer.byteLength(text))],
    ...(policy === undefined ? everyAnswer : everyAnswer.with(policyAt, policy)),
    ...headers,
  ];
  const lines = all.map((part, index) => (index % 2 === 0 ? `${part}: ` : `${part}\r\n`));
  onBroken({ requestId, status, remoteAddr: socket instanceof Socket ? (socket.remoteAddress ?? '') : '' });
  socket.end(`HTTP/1.1 ${String(status)} ${reasons[status] ?? ''}\r\n${lines.join('')}\r\n${text}`);
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
