import type { BoxMemory } from './box-memory.ts';
import { carryOut, takeStock } from './carry-out.ts';
import { declaredState } from './declared-state.ts';
import { forgetLeftovers, forgetUnwanted } from './forget-secrets.ts';
import type { PassContext, PassScope } from './pass-context.ts';
import { planOf } from './plan.ts';
import { publish } from './publish.ts';
import { takeUsage } from './usage.ts';

/**
 * One pass over a box: reads what is declared, sends what differs, publishes the statuses that changed. Throws
 * ManagementError (and whatever the source throws) when it could not; then the next pass looks at everything.
 */
export async function reconcileBox(
  box: string,
  memory: BoxMemory,
  scope: PassScope,
  context: PassContext,
  signal: AbortSignal,
): Promise<void> {
  const listing = await context.source.list(box, signal);
  const desired = await declaredState(box, listing, scope, memory, context, signal);
  try {
    if (scope === 'everything' || !memory.known) await takeStock(box, desired, memory, context, signal);
    const { rows, refusals } = memory;
    const plan = planOf({ desired, rows, refusals, complete: listing.complete });
    const removed = await carryOut(box, plan, desired, memory, context, signal);
    await forgetUnwanted(box, desired, removed, memory, context.keeper, signal);
  } catch (error) {
    memory.known = false;
    await publish(box, desired, 'unreachable', memory, context, signal);
    throw error;
  }
  if (scope === 'everything') await takeUsage(box, memory, context, signal);
  if (scope === 'everything' && listing.complete) await forgetLeftovers(box, desired, memory, context.keeper, signal);
  await publish(box, desired, 'pending', memory, context, signal);
}
