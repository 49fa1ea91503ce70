import type { NamespaceClaim } from '../../api/client/desired-state.ts';

/** Settings of a box in its namespace, outside of the declarations; a folder has none. */
export interface Tenancy {
  /** The namespace, and an admin's decision about an earlier one of its name. */
  readonly claim: NamespaceClaim;
  /** True while it is being deleted: nothing can be created in it any more. */
  readonly isTerminating: boolean;
  readonly hosts: HostGrants;
  /** Keys of labels and annotations that generated Secrets may have. */
  readonly secretMetadata?: readonly string[];
}

/** Decision on the hosts that a Box claims. */
export interface HostGrants {
  /** In lower case. */
  readonly allowed: readonly string[];
  readonly refused: readonly RefusedHost[];
}

/** A host that a Box does not get. The message reveals nothing about another namespace. */
export interface RefusedHost {
  readonly host: string;
  readonly reason: 'HostNotGranted' | 'HostConflict';
  readonly message: string;
}

/** Hosts and issuer that a Box requests and does not get. */
export interface DeniedHosts {
  readonly hosts: readonly string[];
  readonly issuer: boolean;
  readonly reason: RefusedHost['reason'];
  readonly message: string;
}
