import type { Desired } from '../desired/desired.ts';
import type { ReconcileResult, Refusal } from '../status/reconcile-result.ts';
import type { InstalledKinds, ServiceState } from '../desired/source.ts';
import type { SecretCache } from '../secrets/keeper.ts';
import type { AccountState } from '../desired/account-state.ts';
import type { Transition } from '../status/status.ts';
import type { ClientUsage } from '../../api/client/desired-state.ts';
import { StoredState } from './stored-state.ts';

/** Result of the last published status, and the times at which its conditions changed. */
export interface Published extends ReconcileResult {
  readonly transitions: readonly Transition[];
}

/** Declarations at the last pass; replaced by `desired-state.ts`. */
export interface DeclaredCache {
  /** By object key: the desired state. */
  readonly objects: ReadonlyMap<string, Desired>;
  /** Definitions that the objects were validated with. */
  readonly definitions: InstalledKinds | undefined;
  /** Issuer that generated secrets name. */
  readonly issuer: string;
}

/** Removals that are left; written by `deletion.ts`. */
export interface DeletionCache {
  /** Number of rows whose objects are in no list, and which the last pass could not confirm as gone. */
  missing: number;
  /** True if rows of deleted objects remain: the next pass removes them first. */
  hasPending: boolean;
}

/** Namespace of the box, as the last pass found it; written by `open-pass.ts`. */
interface NamespaceCache {
  /** Its claim, as JSON; undefined if there was none. */
  claim: string | undefined;
  /** True once the API knows that it does not exist. */
  isRetired: boolean;
  /** Last event about quotas of the Namespace that cannot be read. */
  quotaFault: string | undefined;
}

/** Usage of a box, as it was last read. */
export interface KnownUsage {
  /** By id. */
  readonly clients: ReadonlyMap<string, ClientUsage>;
  readonly users: number;
  /** Members of groups, by the name of the group. */
  readonly groups: ReadonlyMap<string, number>;
  /** Times of the last use of policies (RFC 3339, to the hour), by id. */
  readonly policies: ReadonlyMap<string, string>;
}

/** State of reading a box's usage. */
export interface UsageCache {
  known: KnownUsage | undefined;
  /** Time of the next read, in milliseconds since 1970. */
  due: number;
  /** Time of the last failure that was new; the failures of a period after it are one. */
  failed: number | undefined;
  /** The round of portions that is running: its results so far, and the client after which it continues. */
  round: { readonly told: Map<string, ClientUsage>; readonly after: string } | undefined;
}

/**
 * State of a box that is kept between two passes, so that one change among thousands of objects costs only one. Each
 * part has one owner, and nothing else writes it.
 */
export interface BoxCache {
  declared: DeclaredCache;
  /** Changed by its methods only. */
  readonly stored: StoredState;
  readonly deletions: DeletionCache;
  readonly namespace: NamespaceCache;
  /** Written by `secrets/`. */
  readonly secrets: SecretCache;
  /** By object key; written by `statuses.ts`. */
  readonly published: Map<string, Published>;
  /** Refusal of the whole box, because it belongs to another namespace; written by `statuses.ts`. */
  locked: Refusal | undefined;
  /** By object key: the pinned ServiceAccounts of clients; replaced by `pass.ts`. */
  accounts: ReadonlyMap<string, readonly AccountState[]>;
  /** State of the Service of the box; written by `pass.ts`. */
  service: ServiceState | undefined;
  /** Written by `status/usage.ts`. */
  usage: UsageCache | undefined;
  /** Time of the next pass that is due without any change, in milliseconds since 1970; written by `pass.ts`. */
  nextLook: number | undefined;
}

/** Returns the cache of a box of which nothing is known. */
export function emptyCache(): BoxCache {
  return {
    declared: { objects: new Map(), definitions: undefined, issuer: '' },
    stored: new StoredState(),
    deletions: { missing: 0, hasPending: false },
    namespace: { claim: undefined, isRetired: false, quotaFault: undefined },
    secrets: { generated: new Map(), leftovers: new Set() },
    published: new Map(),
    locked: undefined,
    accounts: new Map(),
    service: undefined,
    usage: undefined,
    nextLook: undefined,
  };
}
