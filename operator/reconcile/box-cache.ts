import type { Desired } from '../desired/desired.ts';
import type { ReconcileResult, Refusal } from '../status/reconcile-result.ts';
import type { InstalledKinds, ServiceState } from '../desired/source.ts';
import type { SecretCache } from '../secrets/keeper.ts';
import type { AccountState, Identity } from '../desired/declared.ts';
import type { Transition } from '../status/status.ts';
import type { ClientUsage, RowName } from '../../api/client/desired-state.ts';
import type { Fault } from '../../crds/fault.ts';

/** A row of this cluster in the database. */
export interface KnownRow extends RowName {
  /** The object itself if it is known, otherwise its names and uid. */
  readonly declarer: Identity;
  /** Undefined when only the row's existence is known. */
  readonly digest: string | undefined;
  /** True if the row stays, without an owner, when its object is deleted. */
  readonly retain: boolean;
  /** Faults of parts without effect: a policy's rule (it grants nothing), a client's `jwks_uri`, a Box's hosts. */
  readonly faults: readonly Fault[];
}

/** State of a box in the database, as the API has last told it; written by `apply.ts` and `deletion.ts`. */
export interface StoredState {
  /** By row key: the rows of this cluster. */
  rows: Map<string, KnownRow>;
  /** By object key: the last refusal of an object, which is not sent again in this form. */
  readonly refusals: Map<string, Refusal>;
  /** By row key: true if a resource exists that a policy links and nobody here declares. */
  readonly undeclaredLinks: Map<string, boolean>;
  /** Quotas last sent to the API, as JSON. */
  quota: string;
  /** Database that the box is in; undefined if no answer has told it yet. */
  database: string | undefined;
  /**
   * `matched`: the rows are those of the database, as far as anybody can know. `doubtful`: the next pass compares
   * everything. `unknown`: they were never read, and a missing row says nothing.
   */
  certainty: 'unknown' | 'doubtful' | 'matched';
}

/** Notes all rows, as they were just read. */
export function replaceRows(stored: StoredState, rows: Map<string, KnownRow>): void {
  stored.rows = rows;
  stored.certainty = 'matched';
}

/** Notes that the rows may have changed: the next pass compares everything. */
export function doubtRows(stored: StoredState): void {
  if (stored.certainty === 'matched') stored.certainty = 'doubtful';
}

/** Result of the last published status, and the times at which its conditions changed. */
export interface Published extends ReconcileResult {
  readonly transitions: readonly Transition[];
}

/** Declarations at the last pass; replaced by `open-pass.ts`. */
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
  /** Database that it wants for the box. */
  database: string | undefined;
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
  /** The round of portions that is running: its results so far, and the client after which it continues. */
  round: { readonly told: Map<string, ClientUsage>; readonly after: string } | undefined;
}

/**
 * State of a box that is kept between two passes, so that one change among thousands of objects costs only one. Each
 * part has one owner, and nothing else writes it.
 */
export interface BoxCache {
  declared: DeclaredCache;
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
  /** Written by `status/box-results.ts`. */
  usage: UsageCache | undefined;
  /** Time of the next pass that is due without any change, in milliseconds since 1970; written by `pass.ts`. */
  nextLook: number | undefined;
}

/** Returns the database that a box has to be moved to; undefined if it is where its Namespace wants it. */
export function destinationOf({ namespace, stored, locked }: BoxCache): string | undefined {
  if (locked !== undefined || stored.database === undefined) return undefined;
  return namespace.database === stored.database ? undefined : namespace.database;
}

/** Returns the cache of a box of which nothing is known. */
export function emptyCache(): BoxCache {
  return {
    declared: { objects: new Map(), definitions: undefined, issuer: '' },
    stored: {
      rows: new Map(),
      refusals: new Map(),
      undeclaredLinks: new Map(),
      quota: '{}',
      database: undefined,
      certainty: 'unknown',
    },
    deletions: { missing: 0, hasPending: false },
    namespace: { claim: undefined, isRetired: false, quotaFault: undefined, database: undefined },
    secrets: { generated: new Map(), leftovers: new Set() },
    published: new Map(),
    locked: undefined,
    accounts: new Map(),
    service: undefined,
    usage: undefined,
    nextLook: undefined,
  };
}
