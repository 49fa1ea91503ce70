import type {
  Applied,
  NamespaceClaim,
  ApplyLine,
  ApplyResult,
  LastUses,
  ApplyProgress,
} from '../../api/client/desired-state.ts';
import type { ManagementError } from '../../api/client/management-error.ts';
import type { Quota } from '../../crds/quota.ts';
import type { Candidate, Desired } from '../desired/desired.ts';
import type { Listing, Source } from '../desired/source.ts';
import type { KeptSecrets, SecretKeeper } from '../secrets/keeper.ts';
import type { BoxCache, StoredState } from './box-cache.ts';
import type { PinnedServiceAccount, SeenServiceAccount } from '../../api/client/cluster.ts';
import type { Link } from '../../crds/links.ts';
import type { KeyObject } from 'node:crypto';
import type { Management } from '../../api/client/management.ts';
import type { EventRecorder } from '../status/status.ts';
import type { HostKeeper } from '../desired/hosts.ts';

/** Scope of a pass: changes only, or everything (at the start, periodically, after a failure). */
export type PassScope = 'changes' | 'everything';

/** Request for one pass over a box. */
export interface PassRequest {
  readonly box: string;
  readonly scope: PassScope;
  readonly cache: BoxCache;
  readonly context: PassContext;
  readonly signal: AbortSignal;
}

/** One pass over a box: the facts that its steps share. None of them changes during the pass but the cache. */
export interface BoxPass extends PassRequest {
  /** Milliseconds since 1970. */
  readonly began: number;
  readonly listing: Listing;
  /** Reason why the hosts of all boxes are not assigned; until then nothing of this box is sent. */
  readonly hostsFailure?: ManagementError | undefined;
  /** Validated objects of the listing. */
  readonly candidates: readonly Candidate[];
  /** By object key: the desired state at the last pass; empty if the definitions have changed since. */
  readonly known: ReadonlyMap<string, Desired>;
  /** True if stored rows are compared: in a pass over everything, and when the stored rows are unknown. */
  readonly isSweep: boolean;
  /** Namespace of the box, as the API is told. Absent in the calls that only remove. */
  readonly namespace?: NamespaceClaim | undefined;
  /** Quotas that the Namespace sets. If absent, the API keeps those that it has. */
  readonly quota?: Partial<Quota> | undefined;
  readonly api: BoxApi;
  readonly secrets: KeptSecrets;
}

/** Checks whether the namespace of the box is being deleted. */
export function isTerminating({ listing }: BoxPass): boolean {
  return listing.tenancy?.isTerminating === true;
}

/**
 * The API for one box in one pass: this installation and its epoch are part of each call. All throw ManagementError.
 */
export interface BoxApi {
  /**
   * Sends lines in one call and returns its results, once all of it is committed. `complete` asks for all rows of this
   * cluster.
   */
  apply(complete: boolean, lines: Iterable<ApplyLine>): Promise<readonly ApplyResult[]>;
  /** Returns the links without a target. */
  missingLinks(links: readonly Link[]): Promise<readonly Link[]>;
  /** Returns the last use of each client with a row of this cluster. */
  lastUses(): Promise<LastUses['clients']>;
  /** Tells of ServiceAccounts that exist or are gone; returns every pin of the box. */
  serviceAccounts(seen: readonly SeenServiceAccount[]): Promise<readonly PinnedServiceAccount[]>;
}

/** Facts about a box that every apply call tells. */
interface BoxHead {
  readonly box: string;
  /** Learns the database that the box is in. */
  readonly stored: StoredState;
  /** True if its namespace does not exist. */
  readonly isGone: boolean;
  /** Absent in the calls that only remove. */
  readonly namespace?: NamespaceClaim | undefined;
  /** Quotas that the Namespace sets. If absent, the API keeps those that it has. */
  readonly quota?: Partial<Quota> | undefined;
  /** Database that the Namespace wants. If absent, a box stays where it is. */
  readonly database?: string | undefined;
}

/** Returns the API for a box. */
export function boxApi(
  { box, stored, isGone, namespace, quota, database }: BoxHead,
  context: Pick<PassContext, 'management' | 'cluster' | 'epoch' | 'onProgress'>,
  signal: AbortSignal,
): BoxApi {
  const { management, cluster, epoch } = context;
  const told = {
    ...(namespace === undefined ? {} : { namespace }),
    ...(isGone ? { missing: true as const } : {}),
    ...(quota === undefined ? {} : { quota }),
    ...(database === undefined ? {} : { database }),
  };
  const onProgress = (progress: ApplyProgress['progress']): void => context.onProgress(box, progress);
  const onApplied = (applied: Applied): void => {
    stored.database = applied.database;
  };
  return {
    async apply(complete, lines) {
      const head = { cluster, epoch: await epoch(signal), complete, ...told };
      return management.apply({ box, head, lines, onProgress, onApplied }, signal);
    },
    missingLinks: (links) => management.missingLinks(box, links, signal),
    async lastUses() {
      // Claiming an epoch adopts the rows of the older cluster.
      await epoch(signal);
      return (await management.lastUses(box, cluster, signal)).clients;
    },
    async serviceAccounts(seen) {
      return management.serviceAccounts(box, { cluster, epoch: await epoch(signal), seen }, signal);
    },
  };
}

/** Dependencies of every reconcile pass; the same for all boxes. */
export interface PassContext {
  readonly source: Source;
  readonly keeper: SecretKeeper;
  readonly management: Management;
  readonly events: EventRecorder;
  /** Id of this installation: rows of others are not ours. */
  readonly cluster: string;
  /** Older installation whose rows and boxes this one takes over (a cluster that is rebuilt over its database). */
  readonly adopts?: string | undefined;
  /** Returns the epoch of the calls. Throws ManagementError if none could be claimed yet. */
  readonly epoch: (signal: AbortSignal) => Promise<number>;
  /** Assigns hosts before any pass; absent if nobody grants them. */
  readonly hosts?: HostKeeper | undefined;
  /** Key of the digests that are stored with the rows. */
  readonly digestKey: KeyObject;
  /** Returns the issuer of a box that declares none. */
  readonly defaultIssuer: (box: string) => string;
  /** Returns the token URL of a box for the pods of its cluster; absent if there is no cluster. */
  readonly inClusterTokenUrl?: (box: string) => string;
  /** Checks whether the API knows the issuer and keys of ServiceAccount tokens; a folder has none. */
  readonly servesServiceAccounts: () => boolean;
  readonly now: () => Date;
  /** Returns why the API cannot serve at present; undefined if it can. */
  readonly apiFault: () => string | undefined;
  /** Checks whether lists lack so many objects in all boxes together that they must be wrong. */
  readonly isMuchMissing: () => boolean;
  readonly random: () => number;
  /** Milliseconds between two reads of a box's usage; undefined: it is never read. */
  readonly usagePeriod?: number;
  /** Called when the usage of a box could not be read. */
  readonly onUsageFailure?: (box: string, error: ManagementError) => void;
  readonly onProgress: (box: string, progress: ApplyProgress['progress']) => void;
}
