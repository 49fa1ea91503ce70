import type { ApplyLine, ApplyResult, LastUses, NamespaceClaim } from '../../api/client/desired-state.ts';
import type { PinnedServiceAccount, SeenServiceAccount } from '../../api/client/service-accounts.ts';
import type { Link } from '../../crds/links.ts';
import type { Quota } from '../../crds/quota.ts';
import type { PassContext } from './pass-context.ts';

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
export interface BoxHead {
  readonly box: string;
  /** True if its namespace does not exist. */
  readonly isGone: boolean;
  /** Absent in the calls that only remove. */
  readonly namespace?: NamespaceClaim | undefined;
  /** Quotas that the Namespace sets. If absent, the API keeps those that it has. */
  readonly quota?: Partial<Quota> | undefined;
}

/** Returns the API for a box. */
export function boxApi(
  { box, isGone, namespace, quota }: BoxHead,
  { management, cluster, epoch, onProgress }: Pick<PassContext, 'management' | 'cluster' | 'epoch' | 'onProgress'>,
  signal: AbortSignal,
): BoxApi {
  const told = {
    ...(namespace === undefined ? {} : { namespace }),
    ...(isGone ? { missing: true as const } : {}),
    ...(quota === undefined ? {} : { quota }),
  };
  return {
    async apply(complete, lines) {
      const head = { cluster, epoch: await epoch(signal), complete, ...told };
      return management.apply({ box, head, lines, onProgress: (progress) => onProgress(box, progress) }, signal);
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
