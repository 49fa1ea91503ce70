import type { IncomingMessage, ServerResponse } from 'node:http';
import { CHECK_PATH } from '../gateway/original-request.ts';
import { requestContextOf } from '../request/request-context.ts';
import type { RequestContext } from '../request/request-context.ts';

/** Headers of an answer; each element of a list is sent as a header of the same name. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>;

/** An answer before it is sent: `body` is text already, or pieces of UTF-8 that answers share. */
export interface Answer {
  readonly status: number;
  readonly headers?: AnswerHeaders;
  readonly contentType?: string;
  readonly body?: string | readonly Buffer[] | undefined;
  /** Replaces the Content-Security-Policy that lets an answer load and do nothing. */
  readonly policy?: string;
}

/** Headers of a personal answer: no cache on the way may keep it (RFC 9111 §5.2.2). */
export const personal = { 'Cache-Control': 'private, no-store' } as const;

/** A listener for every answer as it is sent: logs and metrics. */
export type OnAnswer = (requestContext: RequestContext, response: ServerResponse, status: number) => void;

const json = 'application/json; charset=utf-8';

/** Headers of every answer: no framing, no sniffing, no referrer. */
const always: readonly (readonly [string, string])[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Referrer-Policy', 'no-referrer'],
];

/** The same headers: name, value, name, value. */
export const everyAnswer: readonly string[] = always.flat();

/**
 * Headers of every answer of `/auth/check`: a gateway passes its answers on to the callers of an app, whose host has
 * policies of its own.
 */
const checkAnswer: readonly string[] = always.filter(([name]) => name !== 'Content-Security-Policy').flat();

/**
 * Checks whether a request came by TLS, here or at a proxy: otherwise HSTS must not be sent (RFC 6797 §7.2). Whoever
 * lies about it gets a header that a browser ignores.
 */
function isSecure({ socket, headers }: IncomingMessage): boolean {
  return 'encrypted' in socket || headers['x-forwarded-proto'] === 'https';
}

/** Paths of the check, of a request that was refused before it had a route. */
const checkPath = new RegExp(`^(?:/boxes/[^/?]*)?${CHECK_PATH}(?:[/?]|$)`);

function isOfCheck({ route, path }: RequestContext): boolean {
  return route === CHECK_PATH || (route === '(none)' && checkPath.test(path));
}

/** Headers of every answer to a script of another origin. */
const shared: readonly string[] = [
  'Access-Control-Expose-Headers',
  'ETag, Link, Location, Retry-After, WWW-Authenticate, X-Request-Id, X-Total-Count',
  'Vary',
  'Origin',
];

const policyAt = everyAnswer.indexOf('Content-Security-Policy') + 1;

/**
 * Sends an answer in one write: status, headers and body together. `onAnswer` is called first.
 */
export function send(response: ServerResponse, answer: Answer, onAnswer: OnAnswer): void {
  const requestContext = requestContextOf(response);
  const usual = isOfCheck(requestContext) ? checkAnswer : everyAnswer;
  const headers = [...usual, 'X-Request-Id', requestContext.requestId];
  if (answer.policy !== undefined && usual === everyAnswer) headers[policyAt] = answer.policy;
  let cached = false;
  for (const [name, value] of Object.entries(answer.headers ?? {})) {
    if (typeof value === 'string') headers.push(name, headerSafe(value));
    else for (const one of value) headers.push(name, headerSafe(one));
    cached ||= name === 'Cache-Control';
  }
  if (!cached) headers.push('Cache-Control', 'no-store');
  if (usual === everyAnswer && isSecure(response.req)) headers.push('Strict-Transport-Security', 'max-age=31536000');
  if (requestContext.allowedOrigin !== undefined)
    headers.push('Access-Control-Allow-Origin', requestContext.allowedOrigin, ...shared);
  const { body } = answer;
  // Most answers are ASCII, which node writes as latin1 in a third of the time of UTF-8.
  const encoding = typeof body !== 'string' || isAscii(body) ? 'latin1' : 'utf8';
  if (body !== undefined) {
    headers.push('Content-Type', answer.contentType ?? json, 'Content-Length', String(lengthOf(body, encoding)));
  } else if (answer.status !== 204 && answer.status !== 304) headers.push('Content-Length', '0');
  onAnswer(requestContext, response, answer.status);
  const isLeft = isBodyLeft(response.req);
  if (isLeft) response.shouldKeepAlive = false;
  response.writeHead(answer.status, headers);
  if (typeof body === 'object') for (const piece of body) response.write(piece);
  const text = typeof body === 'object' ? undefined : body;
  if (isLeft) endAfterBody(response, text, encoding);
  else response.end(text, encoding);
}

/**
 * Checks whether an announced body is still to come. The caller may never send it, and the next request on the
 * connection would then be read as the body: so the answer closes the connection (RFC 9112 §9.6).
 */
function isBodyLeft({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  const length = headers['content-length'];
  return (length !== undefined && Number(length) !== 0) || headers['transfer-encoding'] !== undefined;
}

/** Milliseconds for which a body is discarded: a connection closed on unread bytes is reset, and the answer lost. */
const lingering = 1_000;

/** Sends the whole answer, and closes the connection once the body has come or time is up. */
function endAfterBody(response: ServerResponse, body: string | undefined, encoding: 'latin1' | 'utf8'): void {
  if (body !== undefined) response.write(body, encoding);
  response.flushHeaders();
  void discarded(response.req).then(() => response.end());
}

/** Discards a body; resolves once it has come, or time is up. */
function discarded(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(resolve, lingering);
    request.once('close', () => {
      clearTimeout(cut);
      resolve();
    });
    request.resume();
    if (request.destroyed) resolve();
  });
}

function lengthOf(body: string | readonly Buffer[], encoding: 'latin1' | 'utf8'): number {
  if (typeof body !== 'string') return body.reduce((sum, piece) => sum + piece.length, 0);
  return encoding === 'latin1' ? body.length : Buffer.byteLength(body);
}

function isAscii(text: string): boolean {
  // eslint-disable-next-line no-control-regex -- the whole of ASCII is meant
  return /^[\x00-\x7f]*$/.test(text);
}

/** Sends a value as JSON, with status 200. */
export function sendJson(
  response: ServerResponse,
  value: unknown,
  onAnswer: OnAnswer,
  headers: Readonly<Record<string, string>> = {},
): void {
  send(response, { status: 200, headers, body: JSON.stringify(value) }, onAnswer);
}

/** Encodes all but visible ASCII: a value from a request must not end the header that contains it. */
export function headerSafe(value: string): string {
  return /^[\x20-\x7e]*$/.test(value)
    ? value
    : value.replace(/[^\x20-\x7e]/gu, (sign) => encodeURIComponent(sign.toWellFormed()));
}
