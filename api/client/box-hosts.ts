import { isObject } from '../../crds/path.ts';
import { ManagementError } from './management-error.ts';

/** Body of `PUT /hosts`: the hosts of the boxes of a cluster, before any of them is applied. */
export interface BoxHostsCall {
  readonly cluster: string;
  /** The claimed epoch; refused as `fenced` once a later one has been claimed. */
  readonly epoch: number;
  /** The default issuer of a box is this text with the box's name after it: it needs no host. */
  readonly default_issuers: string;
  readonly boxes: readonly BoxHosts[];
}

/** Hosts of one box in a call, granted or claimed, at most. */
export const MOST_HOSTS = 10_000;

/** The hosts of one box; in lower case. */
export interface BoxHosts {
  readonly box: string;
  /** The hosts that its Namespace grants. Any other host of the box is released, and an issuer on it removed. */
  readonly granted: readonly string[];
  /** The granted hosts that the box gets. A host that it has but does not claim stays until another box claims it. */
  readonly claimed: readonly string[];
}

/** Answer of `PUT /hosts`, once it is committed. */
export interface StoredHosts {
  /** Boxes whose hosts or settings this call has changed. */
  readonly changed: readonly string[];
  /** Claims that were not met, because a box of another cluster has the host. */
  readonly refused: readonly { readonly box: string; readonly host: string }[];
  /** Boxes of this cluster that have a host and that the call does not name. They keep their hosts. */
  readonly unnamed: readonly string[];
}

/** Reads the answer of `PUT /hosts`. Throws ManagementError for an answer that is not understood. */
export function storedHostsOf(answer: unknown): StoredHosts {
  if (!isObject(answer)) throw notUnderstood();
  const { changed, refused, unnamed } = answer;
  if (!Array.isArray(refused)) throw notUnderstood();
  return { changed: textsOf(changed), refused: refused.map(refusedHost), unnamed: textsOf(unnamed) };
}

function refusedHost(value: unknown): StoredHosts['refused'][number] {
  if (isObject(value) && typeof value['box'] === 'string' && typeof value['host'] === 'string') {
    return { box: value['box'], host: value['host'] };
  }
  throw notUnderstood();
}

function textsOf(value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
  throw notUnderstood();
}

function notUnderstood(): ManagementError {
  return new ManagementError('refused', 'the API answered hosts that are not understood');
}
