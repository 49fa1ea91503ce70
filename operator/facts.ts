import type { ClientUsage } from '../api/client/desired-state.ts';
import type { Fault } from '../crds/fault.ts';
import type { AccountState } from './account-state.ts';
import type { Desired } from './desired.ts';

/** Why the API did not take what an object declares; not sent again until that changes, or the next sweep. */
export interface Refusal {
  readonly digest: string;
  /**
   * `locked`: the box is that of another namespace, and nothing of it is applied. `quota`: the object is one of the
   * youngest of a box that has all that its quota allows.
   */
  readonly result: 'invalid' | 'conflict' | 'locked' | 'quota';
  readonly faults: readonly Fault[];
  readonly detail: string;
}

/** How far the row of an object is: as declared; not tried or not tried again yet; refused. */
export type RowState = 'applied' | 'pending' | 'unreachable' | Refusal;

/** Everything a status is made from. Compared member by member: an object whose facts are the same keeps its status. */
export interface Facts {
  readonly desired: Desired;
  readonly row: RowState;
  /** Of a policy: why its rule cannot be used. Of a client: why its `jwks_uri` is never asked for keys. Of a Box: hosts that it does not have. */
  readonly unusable: readonly Fault[];
  /** Of a client: how many declared policies concern it. Of a box: how many it has. */
  readonly policies: number;
  /** Of a box: how many clients are declared in it. */
  readonly clients: number;
  /** Of a policy: what it links and is not there, as `Client/x`. */
  readonly dangling: readonly string[];
  /** Of a box: its issuer. */
  readonly issuer: string;
  /** Of a box: why the quotas of its Namespace cannot be read. */
  readonly quotaFault: string | undefined;
  /** Of a box: the API does not answer. */
  readonly isApiAway: boolean;
  /** Of a client: how much it is used, once that was asked. */
  readonly usage: ClientUsage | undefined;
  /** Of a box: how many users it has, once that was asked. */
  readonly users: number | undefined;
  /** Of a client with service accounts: whether the API knows who makes their tokens. */
  readonly servesServiceAccounts: boolean;
  /** Of a client: its pinned ServiceAccounts. */
  readonly accounts: readonly AccountState[];
}

/** Whether two sets of facts make the same status. */
export function sameFacts(one: Facts, other: Facts): boolean {
  return (
    one.desired === other.desired &&
    one.row === other.row &&
    (one.unusable === other.unusable || one.unusable.length + other.unusable.length === 0) &&
    one.policies === other.policies &&
    one.clients === other.clients &&
    isSameList(one.dangling, other.dangling) &&
    one.issuer === other.issuer &&
    one.quotaFault === other.quotaFault &&
    one.isApiAway === other.isApiAway &&
    isSameUsage(one.usage, other.usage) &&
    one.users === other.users &&
    one.servesServiceAccounts === other.servesServiceAccounts &&
    (one.accounts === other.accounts || one.accounts.length + other.accounts.length === 0)
  );
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one === other || (one.length === other.length && one.every((entry, index) => entry === other[index]));
}

function isSameUsage(one: ClientUsage | undefined, other: ClientUsage | undefined): boolean {
  return (
    one === other ||
    (one?.last_token_at === other?.last_token_at &&
      one?.live_sessions === other?.live_sessions &&
      one?.previous_secret_last_used === other?.previous_secret_last_used)
  );
}
