import type { Kind } from '../../crds/kind.ts';
import type { Identity } from '../desired/declared.ts';

/** An event of an object, for people: `kubectl describe` shows it below the object. */
export interface ObjectEvent {
  readonly object: Identity & { readonly kind: Kind };
  /** `Warning`: somebody should look. */
  readonly type: 'Normal' | 'Warning';
  /** One word in CamelCase. */
  readonly reason: string;
  /** A sentence; never a secret, nor anything of another namespace. */
  readonly message: string;
  /** True if the status of the object says the same: a program that shows statuses need not show the event. */
  readonly isInStatus?: true;
}

/** A recorder of events for people. Nothing depends on it: an event may be lost, and a record never fails or waits. */
export interface EventRecorder {
  record(event: ObjectEvent): void;
}
