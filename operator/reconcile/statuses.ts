import { doubtRows, type BoxCache, type Published } from './box-cache.ts';
import { objectKey } from '../desired/declared.ts';
import type { Desired } from '../desired/desired.ts';
import {
  deletionWaits,
  type Failure,
  isOfDatabase,
  isSameResult,
  failureOf,
  type Refusal,
} from '../status/reconcile-result.ts';
import { resultsOfBox } from '../status/box-results.ts';
import type { Condition, ObjectStatus } from '../status/object-status.ts';
import type { BoxPass, PassContext } from './box-pass.ts';
import { recordReadiness, statusOf, TransitionPool, withTransitionTimes } from '../status/status.ts';
import { ManagementError } from '../../api/client/management-error.ts';
import type { NamespaceClaim } from '../../api/client/desired-state.ts';

/** Work that a pass leaves: none, or some for the next pass. */
export type Remainder = 'done' | 'more';

/**
 * Writes the statuses that changed since they were last written, up to the share of a box in a pass; returns what
 * remains. Before an object is called Ready it gets the finalizer. Objects with the same result as before are skipped,
 * and so are those in `untouched` (their keys). The next pass reports an object whose finalizer the API server has just
 * refused.
 */
async function publish(
  pass: BoxPass,
  desired: readonly Desired[],
  open: 'pending' | Failure,
  untouched: ReadonlySet<string> = none,
): Promise<Remainder> {
  const { box, cache, context, signal } = pass;
  const { source } = context;
  const { changed, isCut } = dueStatuses(pass, desired, open, untouched);
  const seen = isCut ? changed.map(({ published }) => published.desired) : desired;
  await source.finalizers?.add(box, enforced(seen, cache), signal);
  await write(pass, changed);
  const remainder = isCut || !isEachReported(seen, pass) ? 'more' : 'done';
  const waiting = open === 'pending' ? [] : waitingStatuses(pass, open);
  const gone = open === 'pending' && remainder === 'done' ? forgotten(cache) : [];
  if (waiting.length + gone.length > 0) await source.writeStatus(box, waiting, gone, signal);
  return remainder;
}

/** A status to write. */
interface DueStatus {
  readonly status: ObjectStatus;
  /** The one that was published last. */
  readonly last: ObjectStatus | undefined;
  /** Memory of it: the result, and the times of its conditions. */
  readonly published: Published;
}

/**
 * Returns the statuses that differ from those published last, without the objects in `untouched`; `isCut` if the share
 * of a box in a pass did not reach all of them. Remembers results that leave a status as it is.
 */
function dueStatuses(
  pass: BoxPass,
  desired: readonly Desired[],
  open: 'pending' | Failure,
  untouched: ReadonlySet<string>,
): { readonly changed: readonly DueStatus[]; readonly isCut: boolean } {
  const { cache, context } = pass;
  const time = context.now().toISOString();
  const pool = new TransitionPool();
  const changed: DueStatus[] = [];
  for (const result of resultsOfBox(pass, desired, open)) {
    const { key } = result.desired.object;
    const before = cache.published.get(key);
    if (untouched.has(key) || (before !== undefined && isSameResult(result, before))) continue;
    if (changed.length >= (context.source.statusesInTurn ?? Infinity)) return { changed, isCut: true };
    const conditions = withTransitionTimes(result, before?.transitions ?? [], time);
    const status = statusOf(result, conditions);
    const last = before && lastStatus(before);
    const published = { ...result, transitions: pool.of(conditions) };
    if (last !== undefined && isSameStatus(last, status)) cache.published.set(key, published);
    else changed.push({ status, last, published });
  }
  return { changed, isCut: false };
}

/** Returns the last published status, rebuilt from its result: none of its conditions has changed since. */
function lastStatus(last: Published): ObjectStatus {
  return statusOf(last, withTransitionTimes(last, last.transitions, ''));
}

/** Compares two statuses without the place of the object, which is no part of the status. */
function isSameStatus(one: ObjectStatus, other: ObjectStatus): boolean {
  return JSON.stringify({ ...one, place: '' }) === JSON.stringify({ ...other, place: '' });
}

/** Writes statuses, but for those of objects whose finalizer was refused just now. */
async function write({ box, cache, context, signal }: BoxPass, changed: readonly DueStatus[]): Promise<void> {
  const { source, events } = context;
  const refused = source.finalizers?.refusals(box);
  const current = changed.filter(({ status, published }) => published.refusal === refused?.get(status.uid));
  if (current.length === 0) return;
  for (const { last, status, published } of current) {
    cache.published.set(objectKey(status), published);
    recordReadiness(last, status, events);
  }
  const statuses = current.map(({ status }) => status);
  try {
    await source.writeStatus(box, statuses, [], signal);
  } catch (error) {
    // The next pass writes them.
    for (const status of statuses) cache.published.delete(objectKey(status));
    throw error;
  }
}

/** Checks whether the published statuses say of which objects the API server refuses the finalizer. */
function isEachReported(seen: readonly Desired[], { box, cache, context: { source } }: BoxPass): boolean {
  const refused = source.finalizers?.refusals(box);
  return seen.every(({ object: { key, uid } }) => cache.published.get(key)?.refusal === refused?.get(uid));
}

const none: ReadonlySet<string> = new Set();

/** Forgets published statuses, of all objects unless their keys are given: this pass writes them again. */
export function publishAgain({ published }: BoxCache, keys: Iterable<string> = published.keys()): void {
  for (const key of keys) published.delete(key);
}

/** Returns the last published statuses of objects whose deletion waits for a pass that succeeds, but not Ready. */
function waitingStatuses(
  { box, cache: { published: all }, context }: BoxPass,
  failure: Failure,
): readonly ObjectStatus[] {
  return (context.source.finalizers?.terminating(box) ?? []).flatMap((going) => {
    const last = all.get(objectKey(going));
    if (last?.desired.object.uid !== going.uid) return [];
    const status = lastStatus(last);
    return [{ ...status, conditions: status.conditions.map((one) => waitingCondition(one, failure, context)) }];
  });
}

function waitingCondition(condition: Condition, failure: Failure, { now }: PassContext): Condition {
  if (condition.type !== 'Ready' && condition.type !== 'Synced') return condition;
  const lastTransitionTime = condition.status === 'False' ? condition.lastTransitionTime : now().toISOString();
  const message = deletionWaits(failure);
  return { ...condition, status: 'False', reason: 'DeletionWaits', message, lastTransitionTime };
}

/** Returns the objects that have their rows. */
function enforced(desired: readonly Desired[], { stored: { rows } }: BoxCache): readonly Desired['object'][] {
  return desired.flatMap(({ object, validated }) =>
    rows.get(validated.rowKey)?.declarer.uid === object.uid ? [object] : [],
  );
}

/** Returns and forgets the objects that are no longer declared, once their rows are gone too. */
function forgotten({ published: all, declared: { objects } }: BoxCache): readonly ObjectStatus[] {
  // All declared objects have just been published: any additional one is gone.
  if (all.size === objects.size) return [];
  const gone = [...all].filter(([key]) => !objects.has(key));
  for (const [key] of gone) all.delete(key);
  return gone.map(([, last]) => lastStatus(last));
}

/** Outcome of applying the desired state of a box, which its statuses report. */
type Outcome =
  /** `isCut`: the next pass sends the rest. */
  | { readonly result: 'applied'; readonly isCut: boolean }
  /** The box belongs to another namespace, whose uid is `bound`. */
  | { readonly result: 'locked'; readonly bound: string | undefined }
  | { readonly result: 'failed'; readonly error: unknown };

/** Returns the outcome of `apply`, which returns whether anything is left for the next pass. */
export async function outcomeOf(apply: () => Promise<boolean>): Promise<Outcome> {
  try {
    return { result: 'applied', isCut: await apply() };
  } catch (error) {
    return isLocked(error) ? { result: 'locked', bound: error.bound } : { result: 'failed', error };
  }
}

/** Checks whether the API refuses a call because the box belongs to another namespace. */
export function isLocked(error: unknown): error is ManagementError {
  return error instanceof ManagementError && error.code === 'locked';
}

/** Writes the statuses that follow from an outcome; returns what remains. Throws the error of a failure. */
export async function writeStatuses(pass: BoxPass, desired: readonly Desired[], outcome: Outcome): Promise<Remainder> {
  const { box, namespace, cache } = pass;
  if (outcome.result !== 'applied') doubtRows(cache.stored);
  switch (outcome.result) {
    case 'applied':
      cache.locked = undefined;
      // Rows come before statuses.
      return outcome.isCut ? 'more' : publish(pass, desired, 'pending');
    case 'locked':
      cache.locked = lockedBox(box, outcome.bound, namespace, cache.locked);
      // Only an admin's decision helps, which is seen immediately: there is no reason to retry.
      await releaseTerminating(pass);
      return publish(pass, desired, 'pending');
    case 'failed': {
      const failure = failureOf(outcome.error);
      await publish(pass, desired, failure, reported(pass, desired, failure));
      throw outcome.error;
    }
  }
}

/**
 * Returns the keys of the objects whose statuses a failure leaves as they are. Before the rows were ever read, nobody
 * knows whether an object is in force: a status about what it declares now stays. A Box tells whether the API answers,
 * and has the database that its Namespace wants.
 */
function reported({ cache, context }: BoxPass, desired: readonly Desired[], failure: Failure): ReadonlySet<string> {
  const { source, apiFault } = context;
  if (cache.stored.certainty !== 'unknown') return new Set();
  const isOfBox = apiFault() !== undefined || isOfDatabase(failure);
  const objects = desired.map(({ object }) => object).filter(({ kind }) => kind !== 'Box' || !isOfBox);
  return new Set(objects.filter((one) => source.isReported?.(one) === true).map(({ key }) => key));
}

/** Releases the terminating objects of a locked box. They have no row: its rows belong to the earlier namespace. */
async function releaseTerminating({ box, context: { source }, signal }: BoxPass): Promise<void> {
  const going = source.finalizers?.terminating(box) ?? [];
  if (going.length > 0) await source.finalizers?.remove(box, going, signal);
}

/** Returns the refusal of a box that is bound to another namespace; the earlier instance if it says the same. */
function lockedBox(
  box: string,
  bound: string | undefined,
  claim: NamespaceClaim | undefined,
  before: Refusal | undefined,
): Refusal {
  const old = bound ?? '<its uid>';
  const detail =
    `the box ${box} belongs to the namespace with the uid ${old}; this one has the uid ${claim?.uid ?? ''}. ` +
    `To go on with the users, keys and sessions of that one: kubectl annotate namespace ${box} boxgate.dev/adopt-uid=${old}; ` +
    `to end them for good and start again: kubectl annotate namespace ${box} boxgate.dev/discard-uid=${old}`;
  return before?.detail === detail ? before : { digest: '', result: 'locked', faults: [], detail };
}
