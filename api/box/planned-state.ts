import { createTurns } from '../../program/scheduling.ts';
import type { ConfigChanges } from '../db/box/config-changes.ts';
import { createPolicyIndex } from '../policy/policy-index.ts';
import type { BoxState, ClientState, MovingBoxState } from './box-state.ts';

/** The part of a box's configuration that decisions of its policies depend on. */
export interface DecidingState extends Pick<BoxState, 'box' | 'settings' | 'policies' | 'builtInFrom'> {
  readonly clients: Pick<ReadonlyMap<string, ClientState>, 'get'>;
}

/**
 * Returns the state that a box would have after changes that are not committed. `blank` is an empty state of the box.
 * It holds the changed rows alone; everything else is read from `before`, which must not move meanwhile.
 */
export async function plannedState(
  before: BoxState,
  changes: ConfigChanges,
  blank: MovingBoxState,
): Promise<DecidingState> {
  const turn = createTurns();
  // Each row as a version of its own.
  for (const [index, row] of changes.changed.entries()) {
    blank.take({ ...changes, version: index + 1, changed: [row], deleted: [], keys: [] });
    await turn();
  }
  if (changes.complete) return blank;
  const touched = new Set([...changes.changed, ...changes.deleted].map(({ kind, id }) => `${kind}/${id}`));
  const policies = createPolicyIndex();
  for (const policy of before.policies.all()) {
    if (!touched.has(`AccessPolicy/${policy.id}`)) policies.set(policy);
    await turn();
  }
  for (const policy of blank.policies.all()) {
    policies.set(policy);
    await turn();
  }
  return {
    box: before.box,
    settings: touched.has(`Box/${before.box}`) ? blank.settings : before.settings,
    policies,
    builtInFrom: before.builtInFrom,
    clients: { get: (id) => (touched.has(`Client/${id}`) ? blank.clients.get(id) : before.clients.get(id)) },
  };
}
