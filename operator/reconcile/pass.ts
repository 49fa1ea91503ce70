import type { Desired } from '../desired/desired.ts';
import { declaredState } from '../desired/declared-state.ts';
import { forgetLeftovers } from '../secrets/forget.ts';
import { lookAt } from '../secrets/generated-secrets.ts';
import { takeUsage } from '../status/usage.ts';
import { applyDesired } from './apply/apply-desired.ts';
import { compareWithStored } from './apply/apply-plan.ts';
import { deletionsOf, removeDeleted } from './apply/deletion.ts';
import type { BoxMemory } from './box-memory.ts';
import { isTerminating, type BoxPass, type PassRequest } from './box-pass.ts';
import { inNamespace, openPass } from './open-pass.ts';
import { outcomeOf, writeStatuses } from './outcome.ts';

/**
 * Runs one pass over a box: reads what is declared, removes what is gone, sends what differs, publishes the statuses
 * that changed. Returns whether changes or statuses are left for a next pass, so that other boxes and new changes need
 * not wait for all of them. Throws ManagementError (and whatever the source throws) on failure; the next pass then
 * checks everything.
 */
export async function reconcileBox(request: PassRequest): Promise<'done' | 'more'> {
  const opened = await openPass(request);
  // A failure is thrown below, where statuses can report it.
  const [removal] = await Promise.allSettled([removeDeleted(opened)]);
  const [pass, desired] = await Promise.all([inNamespace(opened), declaredState(opened)]);
  const outcome = await outcomeOf(pass, async () => {
    const deletions = deletionsOf(removal);
    if (pass.isSweep) await compareWithStored(pass, desired);
    return applyDesired(pass, desired, deletions);
  });
  if (outcome.result === 'applied') await followUp(pass, desired);
  return writeStatuses(pass, desired, outcome);
}

/** Does what follows a pass that has applied everything: none of it concerns rows. */
async function followUp(pass: BoxPass, desired: readonly Desired[]): Promise<void> {
  const { scope, listing, memory } = pass;
  if (scope === 'everything') await takeUsage(pass);
  if (scope === 'everything' && listing.complete && !isTerminating(pass)) await forgetLeftovers(pass, desired);
  memory.nextLook = nextLook(desired, memory);
}

function nextLook(desired: readonly Desired[], { stored }: BoxMemory): number | undefined {
  let next: number | undefined;
  for (const one of desired) {
    const look = lookAt(one, stored);
    if (look !== undefined && look < (next ?? Infinity)) next = look;
  }
  return next;
}
