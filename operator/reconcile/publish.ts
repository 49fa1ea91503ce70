import { boxStatusInput } from '../status/box-status-input.ts';
import type { BoxCache, Published } from './box-cache.ts';
import { objectKey } from '../desired/declared.ts';
import type { Desired } from '../desired/desired.ts';
import { sameStatusInput } from '../status/status-input.ts';
import { DELETION_WAITS } from './deadlines.ts';
import type { Condition, ObjectStatus } from '../status/object-status.ts';
import type { BoxPass } from './box-pass.ts';
import type { PassContext } from './pass-context.ts';
import type { KnownRow } from './stored-state.ts';
import { recordReadiness } from '../status/ready-events.ts';
import { TransitionPool, withTransitionTimes, statusOf } from '../status/status.ts';

/** Work that a pass leaves: none; some for the next pass, at once; or large objects, for the next turn of the box. */
export type Remainder = 'done' | 'more' | 'large';

/**
 * Writes the statuses that changed since they were last written, up to the share of this box in a pass; returns what
 * remains. Before an object is called Ready it gets the finalizer. Objects with the same input as before are
 * skipped, and so are those in `later` (their keys), which have not been sent to the API yet.
 */
export async function publish(
  pass: BoxPass,
  desired: readonly Desired[],
  open: 'pending' | 'unreachable',
  later: ReadonlySet<string> = none,
): Promise<Remainder> {
  const { box, cache, context, signal } = pass;
  const { source } = context;
  const due = dueStatuses(pass, desired, open, later);
  const { seen } = due;
  const remainder = remainderOf(due, later, pass);
  const waiting = open === 'unreachable' ? waitingStatuses(pass) : [];
  const changed = [...due.changed, ...waiting];
  const gone = open === 'pending' && remainder === 'done' ? forgotten(cache) : [];
  try {
    await source.finalizers?.add(box, enforced(seen, cache.stored.rows), signal);
    if (changed.length + gone.length > 0) await source.writeStatus(box, changed, gone, signal);
  } catch (error) {
    // The next pass writes them.
    for (const status of due.changed) cache.published.delete(objectKey(status));
    throw error;
  }
  return remainder;
}

function remainderOf({ isCut, held }: DueStatuses, later: ReadonlySet<string>, { large }: BoxPass): Remainder {
  if (isCut) return 'more';
  if (later.size > 0) return large?.isRefused === true ? 'large' : 'more';
  return held.size === 0 ? 'done' : 'large';
}

const none: ReadonlySet<string> = new Set();

/** Forgets published statuses, of all objects unless their keys are given: this pass writes them again. */
export function publishAnew({ published }: BoxCache, keys: Iterable<string> = published.keys()): void {
  for (const key of keys) published.delete(key);
}

/** Returns the last published statuses of objects whose deletion waits for the API, but not Ready. */
function waitingStatuses({ box, cache: { published: all }, context }: BoxPass): readonly ObjectStatus[] {
  return (context.source.finalizers?.terminating(box) ?? []).flatMap((going) => {
    const last = all.get(objectKey(going));
    if (last?.desired.object.uid !== going.uid) return [];
    const status = lastStatus(last);
    return [{ ...status, conditions: status.conditions.map((one) => waitingCondition(one, context)) }];
  });
}

function waitingCondition(condition: Condition, { now }: PassContext): Condition {
  if (condition.type !== 'Ready' && condition.type !== 'Synced') return condition;
  const lastTransitionTime = condition.status === 'False' ? condition.lastTransitionTime : now().toISOString();
  return { ...condition, status: 'False', reason: 'DeletionWaits', message: DELETION_WAITS, lastTransitionTime };
}

/** Returns the objects that have their rows. */
function enforced(desired: readonly Desired[], rows: ReadonlyMap<string, KnownRow>): readonly Desired['object'][] {
  return desired.flatMap(({ object, validated }) =>
    rows.get(validated.rowKey)?.declarer.uid === object.uid ? [object] : [],
  );
}

interface DueStatuses {
  readonly changed: readonly ObjectStatus[];
  /** Objects that were checked. */
  readonly seen: readonly Desired[];
  /** True if the share of the box in this pass did not reach all of them. */
  readonly isCut: boolean;
  /** Large objects whose statuses wait for another turn. */
  readonly held: ReadonlySet<Desired>;
}

function dueStatuses(
  pass: BoxPass,
  desired: readonly Desired[],
  open: 'pending' | 'unreachable',
  later: ReadonlySet<string>,
): DueStatuses {
  const { cache, large, context } = pass;
  const time = context.now().toISOString();
  const turn = turnOf(context);
  const pool = new TransitionPool();
  const changed: ObjectStatus[] = [];
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
    cache.published.set(key, { ...input, transitions: pool.of(conditions) });
    if (isSame) continue;
    changed.push(status);
    recordReadiness(last, status, context.events);
  }
  return result(desired, false);
}

/** Returns the limit of statuses in this pass: smaller while other boxes wait, as their rows come first. */
function turnOf({ source, isCrowded }: PassContext): number {
  const { statusesInTurn = Infinity } = source;
  return isCrowded?.() === true ? Math.ceil(statusesInTurn / 8) : statusesInTurn;
}

/** Returns the last published status, rebuilt from its input: none of its conditions has changed since. */
function lastStatus(last: Published): ObjectStatus {
  return statusOf(last, withTransitionTimes(last, last.transitions, ''));
}

/** Compares two statuses without the place of the object, which is no part of the status. */
function isSameStatus(one: ObjectStatus, other: ObjectStatus): boolean {
  return JSON.stringify({ ...one, place: '' }) === JSON.stringify({ ...other, place: '' });
}

/** Returns and forgets the objects that are no longer declared, once their rows are gone too. */
function forgotten({ published: all, declared: { objects } }: BoxCache): readonly ObjectStatus[] {
  // All declared objects have just been published: any additional one is gone.
  if (all.size === objects.size) return [];
  const gone = [...all].filter(([key]) => !objects.has(key));
  for (const [key] of gone) all.delete(key);
  return gone.map(([, last]) => lastStatus(last));
}
