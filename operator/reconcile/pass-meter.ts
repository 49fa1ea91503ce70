import type { ConditionCount } from '../status/condition-counts.ts';
import type { Missing } from '../desired/mass-deletion-guard.ts';

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
