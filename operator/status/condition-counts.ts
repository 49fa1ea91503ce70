import type { Kind } from '../../crds/kind.ts';
import type { BoxCache } from '../reconcile/box-cache.ts';
import type { ConditionType } from './reasons.ts';
import type { Transition } from './status.ts';

/** Number of objects of a kind whose condition has a status. */
export interface ConditionCount {
  readonly kind: Kind;
  readonly condition: ConditionType;
  readonly status: Transition['status'];
  readonly objects: number;
}

/** Counts the conditions of all objects with a published status. */
export function countConditions(boxes: Iterable<Pick<BoxCache, 'published'>>): readonly ConditionCount[] {
  const counts = new Map<string, ConditionCount & { objects: number }>();
  for (const { published } of boxes) {
    for (const { desired, transitions } of published.values()) {
      const { kind } = desired.object;
      for (const { type: condition, status } of transitions) {
        const key = `${kind} ${condition} ${status}`;
        const known = counts.get(key);
        if (known === undefined) counts.set(key, { kind, condition, status, objects: 1 });
        else known.objects += 1;
      }
    }
  }
  return [...counts.values()];
}
