import { inPortions } from '../../program/scheduling.ts';
import type { Turn } from '../../program/scheduling.ts';
import type { ConfigChanges } from '../db/box/config-changes.ts';
import { createPolicyIndex } from '../policy/policy-index.ts';
import type { BoxState, ClientState, MovingBoxState } from './box-state.ts';

/** The part of a box's configuration that decisions of its policies depend on. */
export interface DecidingState extends Pick<BoxState, 'box' | 'settings' | 'policies' | 'builtInFrom'> {
  readonly clients: Pick<ReadonlyMap<string, ClientState>, 'get'>;
}

/** Rows or policies of one slice: about two milliseconds. */
const portion = 100;

/**
 * Returns the state that a box would have after changes that are not committed. `blank` is an empty state of the box.
 * It holds the changed rows alone; everything else is read from `before`, which must not move meanwhile.
 */
export async function plannedState(
  before: BoxState,
  changes: ConfigChanges,
  blank: MovingBoxState,
  turn: Turn,
): Promise<DecidingState> {
  await takeInSlices(changes, blank, turn);
  if (changes.complete) return blank;
  const touched = new Set([...changes.changed, ...changes.deleted].map(({ kind, id }) => `${kind}/${id}`));
  const policies = createPolicyIndex();
  for (const part of inPortions([...before.policies.all()], portion)) {
    await turn(() => {
      for (const policy of part) if (!touched.has(`AccessPolicy/${policy.id}`)) policies.set(policy);
    });
  }
  for (const part of inPortions([...blank.policies.all()], portion)) {
    await turn(() => {
      for (const policy of part) policies.set(policy);
    });
  }
  return {
    box: before.box,
    settings: touched.has(`Box/${before.box}`) ? blank.settings : before.settings,
    policies,
    builtInFrom: before.builtInFrom,
    clients: { get: (id) => (touched.has(`Client/${id}`) ? blank.clients.get(id) : before.clients.get(id)) },
  };
}

/** Applies changes to an empty state, a portion of them as one version each. */
async function takeInSlices(changes: ConfigChanges, blank: MovingBoxState, turn: Turn): Promise<void> {
  let version = 0;
  for (const changed of inPortions(changes.changed, portion)) {
    version += 1;
    const part = { ...changes, version, changed, deleted: [], keys: [] };
    await turn(() => {
      blank.take(part);
    });
  }
}
