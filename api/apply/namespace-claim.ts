import type { ApplyHead } from '../client/desired-state.ts';
import type { Binding } from '../db/box/namespace.ts';

/**
 * Action of a call on the namespace of its box: none; take the box out of service because the namespace is missing
 * (`retire`), or bring it back (`resume`, or `reopen` if no namespace is bound to it); bind the box to it for the first
 * time; bind it again with its data (`adopt`) or without (`discard`); refuse the call, and `lock` the box with it.
 */
export type ClaimVerdict =
  'proceed' | 'bind' | 'resume' | 'reopen' | 'retire' | 'adopt' | 'discard' | 'lock' | 'refuse';

/**
 * Validates the namespace that a call names. Pure. A box is locked only by its own cluster: a namespace of the same
 * name in another cluster is no reason to switch anything off.
 */
export function decideClaim({ cluster, namespace, missing }: ApplyHead, binding: Binding): ClaimVerdict {
  const ours = binding.cluster === undefined || binding.cluster === cluster;
  if (missing === true && ours && !binding.missing) return 'retire';
  if (namespace === undefined) {
    if (binding.locked) return 'refuse';
    // In a folder there are no namespaces: a box that is declared again is served again.
    return binding.missing && missing !== true && binding.cluster === undefined ? 'reopen' : 'proceed';
  }
  if (binding.uid === undefined) return ours ? 'bind' : 'refuse';
  const same = ours && binding.uid === namespace.uid;
  if (same && !binding.locked) return binding.missing ? 'resume' : 'proceed';
  const adopts = namespace.adopt === binding.uid;
  const discards = namespace.discard === binding.uid;
  // Both at once is no decision.
  if (adopts !== discards) return adopts ? 'adopt' : 'discard';
  return ours && !binding.locked ? 'lock' : 'refuse';
}

/** Returns the reason why a call is refused, for people. */
export function lockedMessage(box: string, { cluster, uid }: Binding): string {
  const bound = uid === undefined ? 'a namespace' : `the namespace with uid ${uid}`;
  return `box ${box} is bound to ${bound}${cluster === undefined ? '' : ` of cluster ${cluster}`}`;
}
