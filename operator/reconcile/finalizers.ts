import type { ObjectName } from '../desired/declared.ts';

/** An object whose deletion was requested and waits until its row is gone. */
export interface TerminatingObject extends ObjectName {
  /** Its box. */
  readonly namespace: string;
  /** Characters of its spec as JSON. */
  readonly length: number;
  /** Milliseconds since its deletion was first seen, on a clock that never goes back. */
  readonly waited: number;
}

/** Finalizers: they delay a deletion until nobody can use what the object declared. A folder has nothing like it. */
export interface Finalizers {
  /** Makes the deletion of these objects wait for {@link remove}; objects that have the finalizer cost nothing. */
  add(box: string, objects: readonly ObjectName[], signal: AbortSignal): Promise<void>;
  /** Returns the objects with the finalizer that are being deleted, in one box or in all. */
  terminating(box?: string): readonly TerminatingObject[];
  /** Removes the finalizer of objects. */
  remove(box: string, objects: readonly ObjectName[], signal: AbortSignal): Promise<void>;
}
