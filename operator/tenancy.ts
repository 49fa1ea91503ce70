import type { NamespaceClaim } from '../api/client/desired-state.ts';

/** What the namespace of a box says of it, outside of what is declared in it; a folder says nothing. */
export interface Tenancy {
  /** Which namespace it is, and what an admin decided about the one of its name that was there before. */
  readonly claim: NamespaceClaim;
  /** It is being deleted: nothing can be made in it any more. */
  readonly isTerminating: boolean;
  readonly hosts: HostVerdict;
  /** Keys of labels and annotations that generated Secrets may have: `example.com/name` or `example.com/*`. */
  readonly secretLabels?: readonly string[];
}

/** What becomes of the hosts that a Box claims. */
export interface HostVerdict {
  /** In lower case. */
  readonly allowed: readonly string[];
  readonly refused: readonly RefusedHost[];
}

/** A host that a Box does not get. The message names nothing of another namespace. */
export interface RefusedHost {
  readonly host: string;
  readonly reason: 'HostNotGranted' | 'HostConflict';
  readonly message: string;
}

/** What a Box asks for and does not get. */
export interface Withheld {
  readonly hosts: readonly string[];
  readonly issuer: boolean;
  readonly reason: RefusedHost['reason'];
  readonly message: string;
}
