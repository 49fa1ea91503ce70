import { ManagementError } from '../../api/client/management-error.ts';
import type { Refusal } from '../status/status-input.ts';

/** Cause of a failed pass: `unreachable`, the API or its database does not answer; otherwise what the error says. */
export type Failure = 'unreachable' | Refusal;

/** Returns the cause of a failed pass, which is the state of each row that the pass should have written. */
export function failureOf(error: unknown): Failure {
  if (error instanceof ManagementError && error.code === 'unavailable') return 'unreachable';
  const detail = error instanceof Error ? error.message : String(error);
  return { digest: '', result: 'failed', faults: [], detail };
}

/** Returns the message for an object whose deletion waits because of a failure. */
export function deletionWaits(failure: Failure): string {
  if (failure === 'unreachable')
    return 'the deletion waits for the API, which does not answer: what the object declared still works. It goes on by itself when the API is back, or after a while without it';
  return `the deletion waits, because the last pass over the box failed: ${failure.detail}. What the object declared may still work. The operator tries again, and releases the object after a while`;
}
