import type { Fault } from '../../../crds/fault.ts';
import { faultSentence } from '../../../crds/fault.ts';
import type { Problem, ProblemCode } from '../../problem.ts';

/** One fault of a request. */
export interface Issue {
  readonly severity: 'error';
  readonly code: string;
  /** A sentence for people: the field, the fault, and the remedy. */
  readonly diagnostics: string;
  /** The field; absent if the fault concerns the whole request. */
  readonly expression?: readonly string[];
}

/** The body of every error of the resource endpoints. */
export interface OperationOutcome {
  readonly resourceType: 'OperationOutcome';
  /** The id of the request. */
  readonly id: string;
  readonly issue: readonly Issue[];
}

/** Returns a problem in the form of the resource endpoints: one issue for each fault. */
export function operationOutcome({ code, faults }: Problem, id: string): OperationOutcome {
  return { resourceType: 'OperationOutcome', id, issue: faults.map((fault) => issueOf(issueCodes[code], fault)) };
}

function issueOf(code: string, fault: Fault): Issue {
  const issue = { severity: 'error', code, diagnostics: faultSentence(fault) } as const;
  return fault.path === '' ? issue : { ...issue, expression: [fault.path] };
}

/** Codes from FHIR's value set IssueType, whose OperationOutcome this is. */
const issueCodes = {
  'not-parsable': 'structure',
  'bad-request': 'invalid',
  unauthenticated: 'login',
  forbidden: 'forbidden',
  'not-found': 'not-found',
  'method-not-allowed': 'not-supported',
  'not-acceptable': 'not-supported',
  conflict: 'conflict',
  'precondition-failed': 'conflict',
  'too-large': 'too-long',
  'unsupported-media-type': 'not-supported',
  invalid: 'invalid',
  throttled: 'throttled',
  unavailable: 'transient',
} as const satisfies Record<ProblemCode, string>;
