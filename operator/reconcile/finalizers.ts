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

/** Milliseconds until a refused change of an object is tried again. */
export const REFUSAL_RETRY = 10_000;

/** Returns the message for a terminating object that the API server does not let the operator release. */
export function notReleased(refusal: string): string {
  return `the object is being deleted, and the operator cannot release it: ${refusal}`;
}

/** Finalizers: they delay a deletion until nobody can use what the object declared. A folder has nothing like it. */
export interface Finalizers {
  /**
   * Makes the deletion of these objects wait for {@link remove}; objects that have the finalizer cost nothing. Neither
   * call throws if an object may not be changed: {@link refusals} has it, and the calls try it again after a while.
   */
  add(box: string, objects: readonly ObjectName[], signal: AbortSignal): Promise<void>;
  /** Returns the objects with the finalizer that are being deleted, in one box or in all. */
  terminating(box?: string): readonly TerminatingObject[];
  /** Removes the finalizer of objects. */
  remove(box: string, objects: readonly ObjectName[], signal: AbortSignal): Promise<void>;
  /** Returns the sentences with which the API server refused the last change of objects of a box, by their uid. */
  refusals(box: string): ReadonlyMap<string, string>;
}
