import type { ObjectName } from './declared.ts';

/** An object whose deletion was asked for, and which waits until its row is gone. */
export interface Going extends ObjectName {
  /** Its box. */
  readonly namespace: string;
  /** Milliseconds since we first saw that it is going, on a clock that never goes back. */
  readonly waited: number;
}

/** How objects wait with their deletion until nobody can use what they declared. A folder has nothing like it. */
export interface Holds {
  /** From now on the deletion of these objects waits for {@link release}; those of which it does already cost nothing. */
  hold(box: string, objects: readonly ObjectName[], signal: AbortSignal): Promise<void>;
  /** The objects that are going and wait, in one box or in all. */
  going(box?: string): readonly Going[];
  /** Lets objects go. */
  release(box: string, objects: readonly ObjectName[], signal: AbortSignal): Promise<void>;
}
