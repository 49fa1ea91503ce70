import { isDeepStrictEqual } from 'node:util';
import { Problem } from '../../problem.ts';
import type { Preconditions } from './etag.ts';

/**
 * Compares the changes that the policies saw with those that a write finds in its own transaction. Throws
 * {@link ChangedMeanwhile} when they differ: no change is stored without a decision on it.
 */
export type ConfirmChanges = (found: () => readonly string[]) => void;

/** Conditions of a write: the versions that its caller names, and the changes that the policies have granted. */
export interface WriteConditions {
  readonly preconditions: Preconditions;
  readonly confirmChanges?: ConfirmChanges | undefined;
}

/** A record has changed since the policies decided about a change of it: they must decide again. */
export class ChangedMeanwhile extends Error {
  override readonly name = 'ChangedMeanwhile';

  constructor() {
    super('the record has changed since the request was granted');
  }
}

/** Returns the comparison with the changes that the policies saw; undefined when they looked at none. */
export function confirming(decided: readonly string[] | undefined): ConfirmChanges | undefined {
  if (decided === undefined) return undefined;
  return (found) => {
    if (!isDeepStrictEqual(decided, found())) throw new ChangedMeanwhile();
  };
}

/** Attempts at a change of a record that others change at the same time. */
const mostRounds = 3;

/**
 * Repeats work, including the decision, while others change the record that it changes. Throws Problem `conflict` if
 * they do not stop, and the errors of the work.
 */
export async function untilConfirmed<T>(work: () => Promise<T>): Promise<T> {
  for (let round = 0; round < mostRounds; round += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error;
    }
  }
  throw new Problem('conflict', 'The record is being changed by others; try again');
}
