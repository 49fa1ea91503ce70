import { isObject, parseJson } from '../../../crds/path.ts';
import { API_GROUP } from '../../../crds/kind.ts';

/**
 * Meaning of a failed call of the Kubernetes API for its caller. `expired`: the requested version is too old (410),
 * list again. `garbled`: the answer is not what it should be. `too-large`: it has more bytes than the caller takes.
 * `terminating`: the namespace is being deleted, nothing can be created in it. `unavailable`: no answer, or none now;
 * try again later. `forbidden`: no right, or an admission rule denies it; a webhook that is away denies too.
 */
export type KubeErrorCode =
  | 'expired'
  | 'unauthorized'
  | 'forbidden'
  | 'terminating'
  | 'not-found'
  | 'conflict'
  | 'invalid'
  | 'garbled'
  | 'too-large'
  | 'unavailable';

/** Object that a refusal is about, as far as the API server named it. */
export interface Subject {
  readonly group: string;
  /** Plural name of the kind. */
  readonly kind: string;
  readonly name: string;
}

/** Failure of a call of the Kubernetes API: the only error class that this folder throws for it. */
export class KubeError extends Error {
  readonly code: KubeErrorCode;
  /** Status of the answer; 0 when there was none. */
  readonly status: number;
  /** Milliseconds that the server asks its clients to wait. */
  readonly retryAfter: number;
  readonly subject: Subject | undefined;

  constructor(
    code: KubeErrorCode,
    message: string,
    more: { status?: number; retryAfter?: number; subject?: Subject; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? {} : { cause: more.cause });
    this.name = 'KubeError';
    this.code = code;
    this.status = more.status ?? 0;
    this.retryAfter = more.retryAfter ?? 0;
    this.subject = more.subject;
  }
}

/** Returns the error of an answer: its body is text, a Status object if the API server itself answered. */
export function answerError(status: number, retryAfter: string | undefined, body: string): KubeError {
  return statusError(parseJson(body), status, retryAfter);
}

/** Milliseconds: a proxy that wants us to stay away for longer would keep every watch away from what changes. */
const longestRetryAfter = 30_000;

/** Returns the error that a Status object describes: the body of an answer, or the object of a watch's ERROR event. */
export function statusError(value: unknown, status = 0, retryAfter?: string): KubeError {
  const said = isObject(value) && value['kind'] === 'Status' ? value : {};
  const code = typeof said['code'] === 'number' ? said['code'] : status;
  const details = isObject(said['details']) ? said['details'] : {};
  const seconds = Number(retryAfter ?? details['retryAfterSeconds'] ?? 0);
  const message = messageOf(said, details) ?? `the API server answered ${String(code)}`;
  const subject = subjectOf(details);
  return new KubeError(codeOf(details, message, code), message, {
    status: code,
    retryAfter: Number.isFinite(seconds) ? Math.min(Math.max(0, seconds) * 1000, longestRetryAfter) : 0,
    ...(subject === undefined ? {} : { subject }),
  });
}

/**
 * Returns the verb that the operator may not use on Secrets or Services; undefined for another error: quotas and
 * admission rules forbid too, but name no verb.
 */
export function refusedVerb({ code, message }: KubeError, resource: 'secrets' | 'services'): string | undefined {
  return code === 'forbidden' ? refusals[resource].exec(message)?.[1] : undefined;
}

const refusals = {
  secrets: /cannot (\w+) resource "secrets"/,
  services: /cannot (\w+) resource "services"/,
} as const;

/** Returns the error of a call that got no answer: refused, reset, too late, not signed in. */
export function noAnswer(what: string, cause: unknown): KubeError {
  if (cause instanceof KubeError) return cause;
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  return new KubeError('unavailable', `${what}: ${inner instanceof Error ? inner.message : 'no answer'}`, { cause });
}

const codeByStatus: ReadonlyMap<number, KubeErrorCode> = new Map([
  [400, 'invalid'],
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'not-found'],
  [409, 'conflict'],
  [410, 'expired'],
  [413, 'invalid'],
  [415, 'invalid'],
  [422, 'invalid'],
]);

function codeOf(details: Record<string, unknown>, message: string, status: number): KubeErrorCode {
  if (isTerminating(details)) return 'terminating';
  return denial.test(message) ? 'forbidden' : (codeByStatus.get(status) ?? 'unavailable');
}

/** Sentence of an admission rule, whatever its status is: a webhook chooses it, and one that is away is a 500. */
const denial = /(?:admission|failed calling) webhook "|: ValidatingAdmissionPolicy '/;

/**
 * Returns the sentence of the API server. Where one of our objects breaks its schema, only the fields are named: the
 * sentence repeats their values, and one may be a secret.
 */
function messageOf(said: Record<string, unknown>, { group, causes }: Record<string, unknown>): string | undefined {
  const { message, reason } = said;
  if (typeof message !== 'string') return undefined;
  const end = message.indexOf(' is invalid: ');
  if (group !== API_GROUP || reason !== 'Invalid' || end === -1) return message;
  const fields = (Array.isArray(causes) ? causes : []).flatMap((cause: unknown) =>
    isObject(cause) && typeof cause['field'] === 'string' ? [cause['field']] : [],
  );
  return `${message.slice(0, end)} is invalid: ${[...new Set(fields)].join(', ')}`;
}

/** Checks whether the operator lacks a right, and may change no object. */
export function lacksRight({ code, message }: KubeError): boolean {
  return code === 'forbidden' && /cannot \w+ resource "/.test(message);
}

/** Checks whether the API server refuses a change of one object, or others keep changing it: all others go on. */
export function isRefused({ code }: KubeError): boolean {
  return code === 'forbidden' || code === 'invalid' || code === 'conflict';
}

/** Checks for the refusal of a terminating namespace (Kubernetes: the admission plugin NamespaceLifecycle). */
function isTerminating({ causes }: Record<string, unknown>): boolean {
  return Array.isArray(causes) && causes.some((cause) => isObject(cause) && cause['reason'] === 'NamespaceTerminating');
}

function subjectOf({ group, kind, name }: Record<string, unknown>): Subject | undefined {
  if (typeof kind !== 'string' || typeof name !== 'string') return undefined;
  return { group: typeof group === 'string' ? group : '', kind, name };
}

/**
 * Resolves with what a call resolves with; undefined if what it is about does not exist (404). Throws its other errors.
 */
export async function unlessMissing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof KubeError && error.code === 'not-found') return undefined;
    throw error;
  }
}
