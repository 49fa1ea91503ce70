import { isDeepStrictEqual } from 'node:util';
import type { ClientUsage } from '../../api/client/desired-state.ts';
import type { Fault } from '../../crds/fault.ts';
import type { AccountState } from '../desired/declared.ts';
import type { ServiceState } from '../desired/source.ts';
import type { Desired } from '../desired/desired.ts';
import { ManagementError } from '../../api/client/management-error.ts';

/** Reason why an object is not applied; of a refusal not sent again until it changes, or until the next sweep. */
export interface Refusal {
  readonly digest: string;
  /**
   * `locked`: the box belongs to another namespace, and nothing of it is applied. `quota`: the object is one of the
   * youngest of a box that has used up its quota. `unknown-database`: the Namespace wants a database that does
   * not exist. `data-missing`: an admin has not accepted that the database of the box was restored from a backup.
   * `failed`: the pass failed for another reason, and not because the API is away.
   */
  readonly result: 'invalid' | 'conflict' | 'locked' | 'quota' | DatabaseFault | 'failed';
  readonly faults: readonly Fault[];
  readonly detail: string;
}

/** State of an object's row: as declared; not sent yet; not applied because the API is away; refused or failed. */
export type RowState = 'applied' | 'pending' | 'unreachable' | Refusal;

/** Result of a pass for one object, which its status is computed from. The same result keeps the same status. */
export interface ReconcileResult {
  readonly desired: Desired;
  readonly row: RowState;
  /** Sentence with which the API server refused the finalizer. */
  readonly refusal: string | undefined;
  /** Faults of parts without effect: a policy's rule, a client's `jwks_uri`, or hosts that a Box does not have. */
  readonly unusable: readonly Fault[];
  /** Number of declared policies that concern a client, or that a box has. */
  readonly policies: number;
  /** Number of clients declared in a box. */
  readonly clients: number;
  /** Links of a policy to missing resources, as `Client/x`. */
  readonly dangling: readonly string[];
  /** Issuer of a Box or a Client. */
  readonly issuer: string;
  /** Token URL of a Box or a Client inside the cluster; empty if there is no cluster. */
  readonly inClusterTokenUrl: string;
  /** State of the Service of a Box; of a Client if its namespace has no Box, and something is wrong. */
  readonly service: ServiceState | undefined;
  /** Reason why the quotas of a box's Namespace cannot be read. */
  readonly quotaFault: string | undefined;
  /** Database that a Box is in; undefined if that is unknown. */
  readonly database: string | undefined;
  /** Database that a Box has to be moved to. */
  readonly destination: string | undefined;
  /** Reason why the API cannot serve at present, for a box. */
  readonly apiFault: string | undefined;
  /** Usage of a client, once it was read. */
  readonly usage: ClientUsage | undefined;
  /** Number of users of a box, once it was read. */
  readonly users: number | undefined;
  /** Number of members of a group, once it was read. */
  readonly members: number | undefined;
  /** Time of the last use of a policy (RFC 3339), once it was read. */
  readonly lastUsed: string | undefined;
  /** True for a client with service accounts if the API knows the issuer and keys of their tokens. */
  readonly servesServiceAccounts: boolean;
  /** Pinned ServiceAccounts of a client. */
  readonly accounts: readonly AccountState[];
}

/** Checks whether a result has the same status as the one before, which may say more. */
export function isSameResult(result: ReconcileResult, before: ReconcileResult): boolean {
  if (result.desired !== before.desired) return false;
  return Object.keys(result).every((name) => {
    const now: unknown = Reflect.get(result, name);
    const known: unknown = Reflect.get(before, name);
    // Nearly always the same instance, of twenty thousand objects.
    return now === known || isDeepStrictEqual(now, known);
  });
}

/** Cause of a failed pass: `unreachable`, the API or its database does not answer; otherwise what the error says. */
export type Failure = 'unreachable' | Refusal;

/** Returns the cause of a failed pass, which is the state of each row that the pass should have written. */
export function failureOf(error: unknown): Failure {
  if (error instanceof ManagementError && error.code === 'unavailable') return 'unreachable';
  const detail = error instanceof Error ? error.message : String(error);
  const result = error instanceof ManagementError && isDatabaseFault(error.code) ? error.code : 'failed';
  return { digest: '', result, faults: [], detail };
}

/** Reasons of conditions for a box whose database is the cause of a failed pass. */
export const databaseReasons = { 'unknown-database': 'DatabaseUnknown', 'data-missing': 'DataMissing' } as const;

type DatabaseFault = keyof typeof databaseReasons;

function isDatabaseFault(code: string): code is DatabaseFault {
  return Object.hasOwn(databaseReasons, code);
}

/** Checks whether a pass failed because of the database that the Namespace wants, or that the box is in. */
export function isOfDatabase(state: RowState): state is Refusal & { readonly result: DatabaseFault } {
  return typeof state === 'object' && isDatabaseFault(state.result);
}

/** Returns the message for an object whose deletion waits because of a failure. */
export function deletionWaits(failure: Failure): string {
  if (failure === 'unreachable')
    return 'the deletion waits for the API, which does not answer: what the object declared still works. It goes on by itself when the API is back, or after a while without it';
  return `the deletion waits, because the last pass over the box failed: ${failure.detail}. What the object declared may still work. The operator tries again, and releases the object after a while`;
}
