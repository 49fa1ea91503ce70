import type { Fault } from '../crds/fault.ts';
import type { Desired } from './desired.ts';

/** Why the API did not take what an object declares; not sent again until that changes, or the next sweep. */
export interface Refusal {
  readonly digest: string;
  readonly result: 'invalid' | 'conflict';
  readonly faults: readonly Fault[];
  readonly detail: string;
}

/** How far the row of an object is: as declared; not tried or not tried again yet; refused. */
export type RowState = 'applied' | 'pending' | 'unreachable' | Refusal;

/** Everything a status is made from. Compared member by member: an object whose facts are the same keeps its status. */
export interface Facts {
  readonly desired: Desired;
  readonly row: RowState;
  /** Of a policy: why its rule cannot be used. */
  readonly unusable: readonly Fault[];
  /** Of a client: how many declared policies concern it. Of a box: how many it has. */
  readonly policies: number;
  /** Of a box: how many clients are declared in it. */
  readonly clients: number;
  /** Of a policy: what it links and is not there, as `Client/x`. */
  readonly dangling: readonly string[];
  /** Of a box: its issuer. */
  readonly issuer: string;
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
    one.issuer === other.issuer
  );
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one === other || (one.length === other.length && one.every((entry, index) => entry === other[index]));
}
