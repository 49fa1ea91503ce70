import type { ObjectName } from '../desired/declared.ts';

/** An object whose deletion was requested and waits until its row is gone. */
export interface Going extends ObjectName {
  /** Its box. */
  readonly namespace: string;
  /** Milliseconds since its deletion was first seen, on a clock that never goes back. */
  readonly waited: number;
}

/** Holds of deletions, until nobody can use what the objects declared. A folder has nothing like it. */
export interface Holds {
  /** Makes the deletion of these objects wait for {@link release}; objects that are already held cost nothing. */
  hold(box: string, objects: readonly ObjectName[], signal: AbortSignal): Promise<void>;
  /** Returns the held objects that are being deleted, in one box or in all. */
  going(box?: string): readonly Going[];
  /** Releases objects. */
  release(box: string, objects: readonly ObjectName[], signal: AbortSignal): Promise<void>;
}
