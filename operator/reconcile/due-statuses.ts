import { boxStatusInput } from '../status/box-status-input.ts';
import type { Published } from './box-cache.ts';
import type { Desired } from '../desired/desired.ts';
import { sameStatusInput } from '../status/status-input.ts';
import type { ObjectStatus } from '../status/object-status.ts';
import type { Source } from '../desired/source.ts';
import type { BoxPass } from './box-pass.ts';
import type { Failure } from './failure.ts';
import type { PassContext } from './pass-context.ts';
import { TransitionPool, withTransitionTimes, statusOf } from '../status/status.ts';

/** A status to write. */
export interface DueStatus {
  readonly status: ObjectStatus;
  /** The one that was published last. */
  readonly last: ObjectStatus | undefined;
  /** Memory of it: its input, and the times of its conditions. */
  readonly published: Published;
}

/** Statuses to write in a pass. */
export interface DueStatuses {
  readonly changed: readonly DueStatus[];
  /** Objects that were checked. */
  readonly seen: readonly Desired[];
  /** True if the share of the box in this pass did not reach all of them. */
  readonly isCut: boolean;
  /** Large objects whose statuses wait for another turn. */
  readonly held: ReadonlySet<Desired>;
}

/**
 * Returns the statuses that differ from those published last, up to the share of a box in a pass, without the objects
 * in `later` (their keys) and large ones that are not in their turn. Remembers inputs that leave a status as it is.
 */
export function dueStatuses(
  pass: BoxPass,
  desired: readonly Desired[],
  open: 'pending' | Failure,
  later: ReadonlySet<string>,
): DueStatuses {
  const { cache, large, context } = pass;
  const time = context.now().toISOString();
  const turn = turnOf(context);
  const pool = new TransitionPool();
  const changed: DueStatus[] = [];
  const held = new Set<Desired>();
  const isHeld = (one: Desired): boolean => {
    if (large?.take(one.object.length ?? 0) !== false) return false;
    held.add(one);
    return true;
  };
  const result = (checked: readonly Desired[], isCut: boolean): DueStatuses => {
    const seen = held.size === 0 ? checked : checked.filter((one) => !held.has(one));
    return { changed, seen, isCut, held };
  };
  for (const [index, input] of boxStatusInput(pass, desired, open).entries()) {
    const { key } = input.desired.object;
    if (later.has(key)) continue;
    const before = cache.published.get(key);
    if (before !== undefined && sameStatusInput(before, input)) continue;
    if (changed.length >= turn) return result(desired.slice(0, index), true);
    // Most objects that wait have no status yet: it is not computed in each pass.
    if (before === undefined && isHeld(input.desired)) continue;
    const conditions = withTransitionTimes(input, before?.transitions ?? [], time);
    const status = statusOf(input, conditions);
    const last = before && lastStatus(before);
    const isSame = last !== undefined && isSameStatus(last, status);
    if (before !== undefined && !isSame && isHeld(input.desired)) continue;
    const published = { ...input, transitions: pool.of(conditions) };
    if (isSame) cache.published.set(key, published);
    else changed.push({ status, last, published });
  }
  return result(desired, false);
}

/** Returns the number of statuses that a pass writes at least: an eighth of the share of a box. */
export function portionOf({ statusesInTurn = Infinity }: Source): number {
  return Math.ceil(statusesInTurn / 8);
}

/** Returns the limit of statuses in this pass: a portion if other boxes wait already, as their rows come first. */
function turnOf({ source, isCrowded }: PassContext): number {
  return isCrowded() ? portionOf(source) : (source.statusesInTurn ?? Infinity);
}

/** Returns the last published status, rebuilt from its input: none of its conditions has changed since. */
export function lastStatus(last: Published): ObjectStatus {
  return statusOf(last, withTransitionTimes(last, last.transitions, ''));
}

/** Compares two statuses without the place of the object, which is no part of the status. */
function isSameStatus(one: ObjectStatus, other: ObjectStatus): boolean {
  return JSON.stringify({ ...one, place: '' }) === JSON.stringify({ ...other, place: '' });
}
