import { faultSentence, joinedSentences } from '../crds/fault.ts';
import type { Fault } from '../crds/fault.ts';
import type { RefusalDetails } from './schemas/refusals.ts';

/**
 * Kinds of faulty requests: the HTTP status, the error at an OAuth endpoint (RFC 6749 §5.2, RFC 6750 §3.1), and the
 * code in an OperationOutcome (FHIR's value set IssueType).
 */
export const problemKinds = {
  'not-parsable': [400, 'invalid_request', 'structure'],
  'bad-request': [400, 'invalid_request', 'invalid'],
  unauthenticated: [401, 'invalid_token', 'login'],
  forbidden: [403, 'insufficient_scope', 'forbidden'],
  'not-found': [404, 'not_found', 'not-found'],
  'method-not-allowed': [405, 'invalid_request', 'not-supported'],
  'not-acceptable': [406, 'invalid_request', 'not-supported'],
  conflict: [409, 'invalid_request', 'conflict'],
  'precondition-failed': [412, 'invalid_request', 'conflict'],
  'too-large': [413, 'invalid_request', 'too-long'],
  'unsupported-media-type': [415, 'invalid_request', 'not-supported'],
  invalid: [422, 'invalid_request', 'invalid'],
  throttled: [429, 'slow_down', 'throttled'],
  unavailable: [503, 'temporarily_unavailable', 'transient'],
} as const satisfies Record<string, readonly [status: number, oauth: string, issue: string]>;

/** The stable code of a {@link Problem}. */
export type ProblemCode = keyof typeof problemKinds;

/** A caller's mistake (or a limit it met), sent to the caller unchanged, so it must never contain a secret. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly faults: readonly Fault[];
  readonly headers: Readonly<Record<string, string>>;
  /** The reason, for the log and the audit trail; undefined if the answer tells all of it. */
  readonly details: RefusalDetails | undefined;

  constructor(
    code: ProblemCode,
    faults: string | readonly Fault[],
    headers: Readonly<Record<string, string>> = {},
    details?: RefusalDetails,
  ) {
    const list = typeof faults === 'string' ? [{ path: '', message: faults }] : faults;
    super(joinedSentences(list.map(faultSentence)));
    this.code = code;
    this.faults = list;
    this.headers = headers;
    this.details = details;
  }
}

/** Creates the 404 for an unknown path; one below an unknown box gets the same, so that it does not reveal boxes. */
export function nothingHere(): Problem {
  return new Problem('not-found', 'There is nothing at this address');
}

/** Creates the 503 for a box whose database was restored from a backup, until an admin accepts the loss of data. */
export function dataMissing(): Problem {
  const message =
    'DataMissing: the database of this box was restored from a backup, and an admin has not accepted it yet';
  return new Problem('unavailable', message, { 'Retry-After': '60' });
}
