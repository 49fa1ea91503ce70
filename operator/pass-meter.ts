import type { ConditionCount } from './condition-counts.ts';
import type { Missing } from './missing.ts';

/** Measures the passes of a reconciler. */
export interface PassMeter {
  /**
   * Is told how to ask how many boxes wait for their pass, what lists of the cluster lack in all boxes, and which conditions
   * objects have.
   */
  measure(waiting: () => number, missing: () => Missing, conditions: () => readonly ConditionCount[]): void;
  /** Something changed in a box. */
  heard(box: string): void;
  /** A pass begins; the result is called when it has ended, well or not. */
  begin(box: string): (isGood: boolean) => void;
}

/** Measures nothing. */
export const noMeter: PassMeter = {
  measure: () => undefined,
  heard: () => undefined,
  begin: () => () => undefined,
};

/** Runs a pass, measured; its result. Throws what it throws. */
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
