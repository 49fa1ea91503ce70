import type { BoxMemory } from './box-memory.ts';
import { carryOut, takeStock } from './carry-out.ts';
import { candidatesOf, declaredState } from './declared-state.ts';
import { letGo, removeDeparted, type Departures } from './departures.ts';
import type { Desired } from './desired.ts';
import { forgetLeftovers, forgetUnwanted } from './forget-secrets.ts';
import type { PassContext, PassScope } from './pass-context.ts';
import { planOf } from './plan.ts';
import { publish } from './publish.ts';
import type { Listing } from './source.ts';
import { takeUsage } from './usage.ts';

/**
 * One pass over a box: reads what is declared, removes what is gone, sends what differs, publishes the statuses that
 * changed. Tells whether statuses are left for a next pass, so that what changes meanwhile need not wait for all of them.
 * Throws ManagementError (and whatever the source throws) when it could not; then the next pass looks at everything.
 */
export async function reconcileBox(
  box: string,
  memory: BoxMemory,
  scope: PassScope,
  context: PassContext,
  signal: AbortSignal,
): Promise<'done' | 'more'> {
  const listing = await context.source.list(box, signal);
  const candidates = candidatesOf(listing, memory);
  const isSweep = scope === 'everything' || !memory.known;
  // A failure is thrown where statuses can tell of it.
  const [departed] = await Promise.allSettled([removeDeparted(box, listing, candidates, memory, context, signal)]);
  const desired = await declaredState(box, listing, candidates, scope, memory, context, signal);
  try {
    if (departed.status === 'rejected') throw departed.reason;
    if (isSweep) await takeStock(box, desired, memory, context, signal);
    await enforce(box, listing, departed.value, desired, memory, context, signal);
  } catch (error) {
    memory.known = false;
    await publish(box, desired, 'unreachable', memory, context, signal);
    throw error;
  }
  if (scope === 'everything') await takeUsage(box, memory, context, signal);
  if (scope === 'everything' && listing.complete) await forgetLeftovers(box, desired, memory, context.keeper, signal);
  return publish(box, desired, 'pending', memory, context, signal);
}

async function enforce(
  box: string,
  { complete }: Listing,
  departures: Departures,
  desired: readonly Desired[],
  memory: BoxMemory,
  context: PassContext,
  signal: AbortSignal,
): Promise<void> {
  const { rows, refusals } = memory;
  const plan = planOf({ desired, rows, refusals, complete, open: departures.open });
  const removed = await carryOut(box, plan, desired, memory, context, signal);
  await letGo(box, memory, context, signal);
  await forgetUnwanted(box, desired, [...departures.removed, ...removed], memory, context.keeper, signal);
}
