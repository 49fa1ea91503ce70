import { isDeepStrictEqual } from 'node:util';
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
