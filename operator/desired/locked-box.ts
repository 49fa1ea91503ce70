import type { NamespaceClaim } from '../../api/client/desired-state.ts';
import type { Refusal } from '../status/status-input.ts';

/** Returns the refusal of a box that is bound to another namespace; the earlier instance if it says the same. */
export function lockedBox(
  box: string,
  bound: string | undefined,
  claim: NamespaceClaim | undefined,
  before: Refusal | undefined,
): Refusal {
  const old = bound ?? '<its uid>';
  const detail =
    `the box ${box} belongs to the namespace with the uid ${old}; this one has the uid ${claim?.uid ?? ''}. ` +
    `To go on with the users, keys and sessions of that one: kubectl annotate namespace ${box} boxgate.dev/adopt-uid=${old}; ` +
    `to end them for good and start again: kubectl annotate namespace ${box} boxgate.dev/discard-uid=${old}`;
  return before?.detail === detail ? before : { digest: '', result: 'locked', faults: [], detail };
}
