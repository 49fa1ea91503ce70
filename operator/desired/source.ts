import type { BoxHosts } from '../../api/client/cluster.ts';
import type { NamespaceClaim } from '../../api/client/desired-state.ts';
import type { AccountName, ExpectedAccount, Declared, ObjectName } from './declared.ts';
import type { Kind } from '../../crds/kind.ts';
import type { Quota } from '../../crds/quota.ts';
import type { ObjectStatus } from '../status/object-status.ts';
import type { SecretFinder } from '../secrets/resolve.ts';

/** Everything declared in one box. */
export interface Listing {
  readonly objects: readonly Declared[];
  /** False if something could not be read: then objects that are missing here may still be declared. */
  readonly complete: boolean;
  /** Settings of the namespace; absent if there are no namespaces. */
  readonly tenancy?: Tenancy;
  /** True if the namespace does not exist (a live read says so), or the folder declares nothing of the box. */
  readonly isGone?: true;
  /** Definitions of the kinds in the cluster; a new object when they change. Absent if there are none. */
  readonly definitions?: InstalledKinds | undefined;
  /** Quotas that the Namespace sets; absent if no Namespace is known. */
  readonly quota?: BoxQuota;
  /** Database that the Namespace wants for the box; absent if no Namespace is known. */
  readonly database?: BoxDatabase;
}

/** The grants of namespaces and the claims of Boxes, of all boxes together. */
export interface HostSource {
  /** Returns a number that changes whenever {@link HostSource.read} would return something else. */
  readonly revision: () => number;
  /** Reads the hosts of every box that has one to gain or to lose, and of the boxes in `also`. */
  read(also: readonly string[], signal: AbortSignal): Promise<HostReading>;
}

/** The hosts of boxes at a revision. */
export interface HostReading {
  readonly revision: number;
  readonly boxes: readonly BoxHosts[];
}

/** Secrets that a box needs. */
export interface SecretNeeds {
  /** Names of the Secrets that clients refer to. */
  readonly referred: ReadonlySet<string>;
  /** True if any client has, or needs, a generated secret. */
  readonly generated: boolean;
}

/** Secrets of a box, as far as this source knows them. */
export interface BoxSecrets {
  readonly find: SecretFinder;
  /** Checks whether people have declared a Secret of this name: then it cannot be generated. */
  readonly isTaken: (name: string) => boolean;
}

/**
 * A source of declared objects: a cluster, a folder. The reconciler does not know which one it has. Every method throws
 * if it cannot answer; a list that failed is never an empty one.
 */
export interface Source {
  /** Returns the boxes in which anything is declared. */
  boxes(signal: AbortSignal): Promise<readonly string[]>;
  /** Limit of the statuses that a pass writes; undefined: they cost nothing. */
  readonly statusesInTurn?: number;
  /** Returns the declarations of a box, as far as this source knows them. */
  list(box: string, signal: AbortSignal): Promise<Listing>;
  /** Checks whether lists have the namespace of a box; absent if there are no namespaces. */
  readonly isListed?: (box: string) => boolean;
  /** Reads the namespace of a box past every cache; absent if there are no namespaces. */
  readonly namespaceOf?: (box: string, signal: AbortSignal) => Promise<NamespaceClaim>;
  /** Hosts that are granted outside of the declarations; absent if a Box gets the hosts that it names. */
  readonly hosts?: HostSource;
  /** Returns the Secrets of a box. If nothing needs any, the source does not watch them. */
  boxSecrets(box: string, needs: SecretNeeds, signal: AbortSignal): Promise<BoxSecrets>;
  /**
   * Returns the uids of the ServiceAccounts in `asked` by `namespace/name`: null for a missing one, left out if
   * unknown. The box is called back for changes of those in `listed`. Absent if there are none.
   */
  readonly serviceAccounts?: (
    box: string,
    listed: readonly AccountName[],
    asked: readonly ExpectedAccount[],
    signal: AbortSignal,
  ) => Promise<ReadonlyMap<string, string | null>>;
  /** Calls back with each box in which something changed, and when the revision of the hosts does, until aborted. */
  watch(onChange: (box: string) => void, signal: AbortSignal, onHosts?: () => void): void;
  /** Reads again past every cache; returns the objects that are gone (none of the name, or of another uid). */
  confirmGone(box: string, objects: readonly ObjectName[], signal: AbortSignal): Promise<ReadonlySet<ObjectName>>;
  /** Checks whether the status of an object is about what it declares now; absent if no status outlives us. */
  readonly isReported?: (object: Declared) => boolean;
  /** Returns keys of objects whose status somebody may have written since the last call; absent if nobody can. */
  readonly takeForeignStatusWrites?: (box: string) => Iterable<string>;
  /**
   * Keeps the Service of a box, by which pods of the cluster reach it; returns its state, undefined if that is unknown
   * now. Absent if there are no Services, or boxes need none.
   */
  readonly keepService?: (box: string, signal: AbortSignal) => Promise<ServiceState | undefined>;
  /** Checks whether this Secret was generated for a Client, by traces outside of it; absent if there are none. */
  readonly hadGeneratedSecret?: (client: Declared, secret: string) => boolean;
  /** Checks whether a kind is being deleted with all of its objects; absent if kinds cannot be deleted. */
  readonly isKindGoing?: (kind: Kind, signal: AbortSignal) => Promise<boolean>;
  /** Holds of deletions; absent if the source has none. */
  readonly finalizers?: Finalizers;
  /** Publishes changed statuses, and reports which objects are gone with their rows (their last statuses). */
  writeStatus(
    box: string,
    changed: readonly ObjectStatus[],
    gone: readonly ObjectStatus[],
    signal: AbortSignal,
  ): Promise<void>;
}

/** An object whose deletion was requested and waits until its row is gone. */
export interface TerminatingObject extends ObjectName {
  /** Its box. */
  readonly namespace: string;
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

/** State of the Service `boxgate` in the namespace of a box, by which pods of the cluster reach the box. */
export type ServiceState =
  | { readonly state: 'ready' }
  | {
      readonly state: 'missing';
      readonly reason: 'ServiceForbidden' | 'ServiceNotOwned' | 'ServiceRefused';
      readonly message: string;
    };

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

/** Differences between the definition of a kind in the cluster and in this release; paths below spec or status. */
export interface InstalledFields {
  /** Fields of the spec that only the cluster knows: its definition is newer. */
  readonly newer: ReadonlySet<string>;
  /** Fields of the spec that only this release knows: the definition is older. */
  readonly missing: ReadonlySet<string>;
  /** Fields of the status that only this release knows: they cannot be written. */
  readonly unwritable: ReadonlySet<string>;
}

/** Definitions of kinds, as far as they could be read. */
export type InstalledKinds = ReadonlyMap<Kind, InstalledFields>;

/** Database that a Namespace wants for its box. */
export interface BoxDatabase {
  /** Absent if the Namespace names none: the box stays where it is. */
  readonly name?: string;
  /** The mistake in the annotation, for people; until it is corrected, nothing of the box is applied. */
  readonly fault?: string;
}

/** Quotas that a Namespace sets for its box. */
export interface BoxQuota {
  /** Absent if the annotation cannot be read: the box then keeps its quotas. */
  readonly quota?: Partial<Quota>;
  /** The first mistake in the annotation, for people; absent if there is none. */
  readonly fault?: string;
}
