import type { Missing } from './deletion.ts';
import type { Kind } from '../../crds/kind.ts';
import type { BoxCache } from './box-cache.ts';
import type { ConditionType } from '../status/reasons.ts';
import type { Transition } from '../status/status.ts';

/** Measures the passes of a reconciler. */
export interface PassMeter {
  /**
   * Sets the sources of three readings: the boxes that wait for their pass, the objects that lists of the cluster lack
   * in all boxes, and the conditions of objects.
   */
  measure(waiting: () => number, missing: () => Missing, conditions: () => readonly ConditionCount[]): void;
  /** Notes a change in a box. */
  heard(box: string): void;
  /** Notes the start of a pass; the returned function notes its end, successful or not. */
  begin(box: string): (isGood: boolean) => void;
}

/** A meter that measures nothing. */
export const noMeter: PassMeter = {
  measure: () => undefined,
  heard: () => undefined,
  begin: () => () => undefined,
};

/** Runs and measures a pass, and returns its result. Throws what the pass throws. */
export async function measured<T>(meter: PassMeter, box: string, pass: () => Promise<T>): Promise<T> {
  const ended = meter.begin(box);
  try {
    const result = await pass();
    ended(true);
    return result;
  } catch (error) {
    ended(false);
    throw error;
  }
}

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
