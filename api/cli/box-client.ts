import { isList, isObject, parseJson } from '../../crds/path.ts';
import type { JsonObject } from '../../crds/path.ts';
import { ndjsonChunks } from '../client/ndjson.ts';
import { plainText } from '../../program/text.ts';
import type { UserFaults } from '../schemas/user.ts';
import type { AnswerTo, FaultsAt } from './output.ts';
import { CliError, EXIT } from './cli-error.ts';

/** An answer of a box: one with a status from 200 to 299, or one that the command asked to see itself. */
export interface BoxAnswer<Body = unknown> {
  readonly status: number;
  /** Parsed JSON; undefined if there is none. */
  readonly body: Body;
  /** Path and query of the next page of a list (RFC 8288). */
  readonly next: string | undefined;
  /** Version of the resource (RFC 9110 §8.8.3). */
  readonly etag: string | undefined;
}

/** Caller of the endpoints of one box, with a token. */
export type BoxClient = ReturnType<typeof createBoxClient>;

/** Options of a request. */
export interface RequestOptions {
  readonly body?: JsonObject;
  /** Media type of the body; JSON by default. */
  readonly type?: string;
  /** Version that the resource must still have: another one is 412 (RFC 9110 §13.1.1). */
  readonly ifMatch?: string | undefined;
  /** Objects of a body of newline-delimited JSON: work that the box may take minutes for. */
  readonly lines?: readonly object[];
  /** A status besides 200 to 299 that the command handles itself. */
  readonly expected?: number;
}

/** Milliseconds after which a box that does not answer counts as not reached. */
const PATIENCE = 30_000;
/** The same for newline-delimited JSON. */
const LONG_PATIENCE = 180_000;

/** Returns the client of a box at a base URL, which sends `token` in the Authorization header. */
export function createBoxClient(box: string, base: string, token: string) {
  /** Sends a request to a path below the base URL. Throws CliError unless it succeeds, or has the status `expected`. */
  function request<Method extends string, Path extends string>(
    method: Method,
    path: Path,
    options?: Omit<RequestOptions, 'expected'>,
  ): Promise<BoxAnswer<AnswerTo<Method, Path>>>;
  /** A 403, 404 or 412 has no body then. */
  function request<Method extends string, Path extends string>(
    method: Method,
    path: Path,
    options: RequestOptions & { readonly expected: 403 | 404 | 412 },
  ): Promise<BoxAnswer<AnswerTo<Method, Path> | undefined>>;
  function request<Method extends string, Path extends string>(
    method: Method,
    path: Path,
    options: RequestOptions & { readonly expected: 422 },
  ): Promise<BoxAnswer<AnswerTo<Method, Path> | FaultsAt<Path>>>;
  function request(method: string, path: string, options: RequestOptions): Promise<BoxAnswer>;
  async function request(
    method: string,
    path: string,
    { body, lines, type = 'application/json', ifMatch, expected }: RequestOptions = {},
  ): Promise<BoxAnswer> {
    const headers = {
      Accept: 'application/json',
      Authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'Content-Type': type }),
      ...(lines === undefined ? {} : { 'Content-Type': 'application/x-ndjson' }),
      ...(ifMatch === undefined ? {} : { 'If-Match': ifMatch }),
    };
    const sent = lines === undefined ? body && JSON.stringify(body) : [...ndjsonChunks(lines)].join('');
    const init = { method, headers, ...(sent === undefined ? {} : { body: sent }) };
    const response = await send(base + path, init, lines === undefined ? PATIENCE : LONG_PATIENCE);
    const answer = await read(response, base);
    const isExpected = response.status === expected;
    if (response.status === 404) await requireBox(base);
    // Only a 204 has no body: a DELETE of what is not there.
    if (response.ok && response.status !== 204 && !isObject(answer.body) && !isList(answer.body))
      throw noBoxAnswer(base);
    if (isExpected && (expected === 403 || expected === 404 || expected === 412)) return { ...answer, body: undefined };
    if (response.ok || isExpected) return answer;
    throw refusal(`${method} ${path.replace(/\?.*/s, '')}`, response, answer.body);
  }

  return { box, base, token, request };
}

/** Sends a request. Throws CliError with the reason if no answer comes. */
export async function send(url: string, init: RequestInit, patience = PATIENCE): Promise<Response> {
  try {
    return await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(patience) });
  } catch (error) {
    throw new CliError(EXIT.unreachable, `${new URL(url).origin} cannot be reached: ${reasonOf(error, patience)}`);
  }
}

/**
 * Reads an answer to its end. Throws CliError if it breaks off, if it redirects, or if it is a success with a body that
 * is not JSON: a portal, or an app, at an address that was meant to be an installation's.
 */
export async function read(response: Response, base: string): Promise<BoxAnswer> {
  const text = await response.text().catch((error: unknown) => {
    throw new CliError(EXIT.unreachable, `the answer of ${new URL(base).origin} broke off: ${reasonOf(error)}`);
  });
  if (response.status >= 300 && response.status < 400) throw redirected(response, base);
  const body = parseJson(text);
  if (response.ok && text !== '' && body === undefined) throw noBoxAnswer(base);
  const etag = response.headers.get('ETag') ?? undefined;
  return { status: response.status, body, next: nextPage(response.headers.get('Link'), base), etag };
}

/**
 * Asks after a 404 whether there is a box at all, by its metadata (RFC 8414 §3): an unknown box has the same answer as
 * an unknown path. Throws CliError if there is none.
 */
export async function requireBox(base: string): Promise<void> {
  const response = await send(`${base}/.well-known/oauth-authorization-server`, { method: 'GET' });
  await read(response, base);
  if (response.status !== 404) return;
  const [, server = base, box = ''] = /^(.*)\/boxes\/([^/]+)$/.exec(base) ?? [];
  throw new CliError(EXIT.refused, box === '' ? `there is no box at ${server}` : `there is no box ${box} at ${server}`);
}

/** Returns the error for an answer that no box gives; `base` is the base URL that was called. */
export function noBoxAnswer(base: string): CliError {
  return new CliError(EXIT.unreachable, `${serverOf(base)} does not answer as a box does: check the address`);
}

/** Returns the error for a redirect, which is not followed: the credential is for the address that was named. */
function redirected(response: Response, base: string): CliError {
  const target = URL.parse(response.headers.get('Location') ?? '', `${base}/`);
  const server = serverOf(base);
  if (target === null || target.origin === new URL(base).origin) return noBoxAnswer(base);
  return new CliError(EXIT.unreachable, `${server} redirects to ${plainText(target.origin)}: name that address`);
}

/** Returns the public URL of the installation in the base URL of a box. */
function serverOf(base: string): string {
  return base.replace(/\/boxes\/[^/]+$/, '');
}

/** Returns the path and query below the base URL that a Link header names as the next page. */
function nextPage(link: string | null, base: string): string | undefined {
  const [, target] = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link ?? '') ?? [];
  if (target === undefined) return undefined;
  const { pathname, search } = new URL(target, `${base}/`);
  // Links begin with the issuer, whose host and path may be other ones than those that this caller uses.
  return pathname.slice(pathname.lastIndexOf('/')) + search;
}

/** Returns the error for an answer that is no success: its exit code, and what it means for the caller. */
export function refusal(what: string, response: Response, body: unknown): CliError {
  const { status } = response;
  const wait = response.headers.get('Retry-After');
  const again = wait === null ? '' : `; try again in ${plainText(wait)} s`;
  if (status >= 500) return new CliError(EXIT.unreachable, `the box cannot answer now (${String(status)})${again}`);
  return new CliError(EXIT.refused, `${what} is refused (${String(status)})${meaning(status)}${details(body)}${again}`);
}

function meaning(status: number): string {
  if (status === 401) return ': the credential is not valid here, or no longer (`boxctl login` signs in)';
  if (status === 403) return ': no access policy of the box allows it to this caller';
  return '';
}

/** Returns what the body says: of an OAuth error, an OperationOutcome, or the faults of a user's fields. */
function details(body: unknown): string {
  if (!isObject(body)) return '';
  const { error_description: description, issue, errors } = body;
  if (typeof description === 'string') return `: ${plainText(description)}`;
  if (isObject(errors))
    return faultLines(errors)
      .map((line) => `\n  ${line}`)
      .join('');
  if (!Array.isArray(issue)) return '';
  return issue
    .filter(isObject)
    .flatMap(({ diagnostics }) => (typeof diagnostics === 'string' ? [`\n  ${plainText(diagnostics)}`] : []))
    .join('');
}

/** Returns the faults of a 422 of `/users`, a line each: `email: is taken: another user has it`. */
export function faultLines(errors: UserFaults['errors'] | JsonObject): readonly string[] {
  return Object.entries(errors).flatMap(([field, messages]) =>
    (Array.isArray(messages) ? messages : []).map((message) => plainText(`${field}: ${String(message)}`)),
  );
}

function reasonOf(error: unknown, patience = PATIENCE): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return 'unknown reason';
  if (cause.name === 'TimeoutError') return `no answer within ${String(patience / 1000)} s`;
  return plainText(cause.message);
}
