import { faultSentence, joinedSentences } from '../crds/fault.ts';
import type { Fault } from '../crds/fault.ts';

/** Kinds of faulty requests to the resource endpoints, each with its HTTP status. */
export const problemStatus = {
  'not-parsable': 400,
  'bad-request': 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'not-acceptable': 406,
  conflict: 409,
  'precondition-failed': 412,
  'too-large': 413,
  'unsupported-media-type': 415,
  invalid: 422,
  throttled: 429,
  unavailable: 503,
} as const satisfies Record<string, number>;

/** The stable code of a {@link Problem}. */
export type ProblemCode = keyof typeof problemStatus;

/** A caller's mistake (or a limit it met), sent to the caller unchanged, so it must never contain a secret. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly faults: readonly Fault[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ProblemCode, faults: string | readonly Fault[], headers: Readonly<Record<string, string>> = {}) {
    const list = typeof faults === 'string' ? [{ path: '', message: faults }] : faults;
    super(joinedSentences(list.map(faultSentence)));
    this.code = code;
    this.faults = list;
    this.headers = headers;
  }
}

/** Creates the 404 for an unknown path; one below an unknown box gets the same, so that it does not reveal boxes. */
export function nothingHere(): Problem {
  return new Problem('not-found', 'There is nothing at this address');
}
