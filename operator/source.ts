import type { BoxHosts } from '../api/client/box-hosts.ts';
import type { NamespaceClaim } from '../api/client/desired-state.ts';
import type { AccountName, ExpectedAccount } from './account-state.ts';
import type { Kind } from '../crds/kind.ts';
import type { Declared, ObjectName } from './declared.ts';
import type { BoxQuota } from './box-quota.ts';
import type { InstalledKinds } from './installed-fields.ts';
import type { Holds } from './holds.ts';
import type { Tenancy } from './tenancy.ts';
import type { ObjectStatus } from './object-status.ts';
import type { SecretFinder } from './resolve-secret.ts';

/** Everything declared in one box. */
export interface Listing {
  readonly objects: readonly Declared[];
  /** False while something could not be read: then what is missing here may still be declared. */
  readonly complete: boolean;
  /** What the namespace says; absent where there are none. */
  readonly tenancy?: Tenancy;
  /** The namespace of the box is not there (a live read says so), or nothing in the folder declares anything of the box. */
  readonly isGone?: true;
  /** The definitions of the kinds in the cluster; another object when they change. Absent where there are none. */
  readonly definitions?: InstalledKinds | undefined;
  /** The quotas that the Namespace sets; absent where no Namespace is known. */
  readonly quota?: BoxQuota;
}

/** The grants of namespaces and the claims of Boxes, of all boxes together. */
export interface HostSource {
  /** A number that moves whenever {@link HostSource.read} would return something else. */
  readonly revision: () => number;
  /** Reads the hosts of every box that has one to gain or to lose, and of the boxes in `also`. */
  read(also: readonly string[], signal: AbortSignal): Promise<HostReading>;
}

/** The hosts of boxes at a revision. */
export interface HostReading {
  readonly revision: number;
  readonly boxes: readonly BoxHosts[];
}

/** What a box needs Secrets for. */
export interface SecretNeeds {
  /** Names of the Secrets that clients refer to. */
  readonly referred: ReadonlySet<string>;
  /** Whether any client has, or is to have, a generated secret. */
  readonly generated: boolean;
}

/** The Secrets of a box, as far as this source has heard. */
export interface BoxSecrets {
  readonly find: SecretFinder;
  /** Whether people have declared a Secret of this name: then it cannot be generated. */
  readonly isTaken: (name: string) => boolean;
}

/**
 * Where objects are declared: a cluster, a folder. The reconciler does not know which one it has. Every method throws
 * when it cannot answer; a list that failed is never an empty one.
 */
export interface Source {
  /** The boxes in which anything is declared. */
  boxes(signal: AbortSignal): Promise<readonly string[]>;
  /** How many statuses a pass writes before others have their turn; undefined: writing them costs nothing. */
  readonly statusesInTurn?: number;
  /** What is declared in a box, as far as this source has heard. */
  list(box: string, signal: AbortSignal): Promise<Listing>;
  /** Checks whether lists have the namespace of a box; absent where there are none. */
  readonly isListed?: (box: string) => boolean;
  /** Which namespace a box is now, past every cache; absent where there are none. */
  readonly namespaceOf?: (box: string, signal: AbortSignal) => Promise<NamespaceClaim>;
  /** Hosts that are granted outside of what is declared; absent where a Box gets the hosts that it names. */
  readonly hosts?: HostSource;
  /** The Secrets of a box. Where nothing needs any, the source listens for none. */
  boxSecrets(box: string, needs: SecretNeeds, signal: AbortSignal): Promise<BoxSecrets>;
  /**
   * Uids of the ServiceAccounts in `asked` by `namespace/name`: null for one that is not there, left out where that cannot be
   * told. The box hears of changes of those in `listed`. Absent where there are none.
   */
  readonly serviceAccounts?: (
    box: string,
    listed: readonly AccountName[],
    asked: readonly ExpectedAccount[],
    signal: AbortSignal,
  ) => Promise<ReadonlyMap<string, string | null>>;
  /** Calls back with each box in which something changed, and whenever the revision of the hosts moves, until aborted. */
  watch(onChange: (box: string) => void, signal: AbortSignal, onHosts?: () => void): void;
  /** Looks anew, past every cache: which of these objects are really gone (no object of the name, or one of another uid). */
  confirmGone(box: string, objects: readonly ObjectName[], signal: AbortSignal): Promise<ReadonlySet<ObjectName>>;
  /** Keys of objects whose status somebody may have written since this was last asked; absent where nobody else can. */
  readonly takeRewritten?: (box: string) => Iterable<string>;
  /** Whether this Secret was generated for a Client, by what is left of it beside the Secret; absent where nothing is. */
  readonly hadSecret?: (client: Declared, secret: string) => boolean;
  /** Whether a kind is being taken away with all of its objects; absent where kinds cannot go. */
  readonly isKindGoing?: (kind: Kind, signal: AbortSignal) => Promise<boolean>;
  /** How objects wait with their deletion, where they can. */
  readonly holds?: Holds;
  /** Publishes statuses that changed, and tells which objects are gone with their rows (their last statuses). */
  writeStatus(
    box: string,
    changed: readonly ObjectStatus[],
    gone: readonly ObjectStatus[],
    signal: AbortSignal,
  ): Promise<void>;
}
