import type { Fault } from '../../../crds/fault.ts';
import { faultSentence } from '../../../crds/fault.ts';
import type { Problem, ProblemCode } from '../../problem.ts';
import type { Issue, OperationOutcome } from '../../schemas/problems.ts';

/** Returns a problem in the form of the resource endpoints: one issue for each fault. */
export function operationOutcome({ code, faults }: Problem, id: string): OperationOutcome {
  return { resourceType: 'OperationOutcome', id, issue: faults.map((fault) => issueOf(issueCodes[code], fault)) };
}

function issueOf(code: Issue['code'], fault: Fault): Issue {
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
