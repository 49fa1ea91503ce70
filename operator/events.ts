import type { Kind } from '../crds/kind.ts';
import type { Identity } from './declared.ts';

/** Something that happened to an object, for people: `kubectl describe` shows it below the object. */
export interface ObjectEvent {
  readonly object: Identity & { readonly kind: Kind };
  /** `Warning`: somebody should look. */
  readonly type: 'Normal' | 'Warning';
  /** One word in CamelCase. */
  readonly reason: string;
  /** A sentence; never a secret, nor anything of another namespace. */
  readonly message: string;
  /** The status of the object says the same: who shows statuses need not show it. */
  readonly isInStatus?: true;
}

/** Who tells people of events. Nothing depends on it: an event may be lost, and a record never fails nor waits. */
export interface EventRecorder {
  record(event: ObjectEvent): void;
}
