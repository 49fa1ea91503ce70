import type { BoxCache } from './box-cache.ts';
import { objectKey } from '../desired/declared.ts';
import type { Desired } from '../desired/desired.ts';
import { deletionWaits, type Failure } from './failure.ts';
import { dueStatuses, lastStatus, portionOf, type DueStatus, type DueStatuses } from './due-statuses.ts';
import type { Condition, ObjectStatus } from '../status/object-status.ts';
import type { BoxPass } from './box-pass.ts';
import type { PassContext } from './pass-context.ts';
import { recordReadiness } from '../status/ready-events.ts';

/** Work that a pass leaves: none; some for the next pass, at once; or large objects, for the next turn of the box. */
export type Remainder = 'done' | 'more' | 'large';

/**
 * Writes the statuses that changed since they were last written, up to the share of this box in a pass; returns what
 * remains. Before an object is called Ready it gets the finalizer. Objects with the same input as before are
 * skipped, and so are those in `later` (their keys), which another pass tells about. The next pass reports an object
 * whose finalizer the API server has just refused.
 */
export async function publish(
  pass: BoxPass,
  desired: readonly Desired[],
  open: 'pending' | Failure,
  later: ReadonlySet<string> = none,
): Promise<Remainder> {
  const { box, cache, context, signal } = pass;
  const { source } = context;
  const due = dueStatuses(pass, desired, open, later);
  const isAll = await writeInPortions(pass, due.changed);
  if (isAll) await source.finalizers?.add(box, enforced(due.seen, cache), signal);
  const isCurrent = isAll && isEachReported(due.seen, pass);
  const remainder = isCurrent ? remainderOf(due, later, pass) : 'more';
  const waiting = open === 'pending' ? [] : waitingStatuses(pass, open);
  const gone = open === 'pending' && remainder === 'done' ? forgotten(cache) : [];
  if (waiting.length + gone.length > 0) await source.writeStatus(box, waiting, gone, signal);
  return remainder;
}

/**
 * Writes statuses, each portion after the finalizers of its objects, until something waits for the end of this pass: an
 * eighth of the box's share at least. Returns whether all were written; the next pass writes the others.
 */
async function writeInPortions(pass: BoxPass, changed: readonly DueStatus[]): Promise<boolean> {
  const isAwaited = awaitedBy(pass);
  const portion = portionOf(pass.context.source);
  for (let first = 0; first < changed.length; first += portion) {
    if (first > 0 && isAwaited()) return false;
    await writePortion(pass, changed.slice(first, first + portion));
  }
  return true;
}

/**
 * Returns the check whether rows wait for this pass to end: of other boxes, or of what has changed in this one since it
 * began. The latter wait until statuses were written for as long as the pass took before: in a large box half of the
 * time would else be lost with each change.
 */
function awaitedBy({ box, began, context }: BoxPass): () => boolean {
  const { isCrowded, isChangedMeanwhile, now } = context;
  const start = now().getTime();
  return () => {
    if (isCrowded()) return true;
    return isChangedMeanwhile(box) && now().getTime() - start >= start - began;
  };
}

async function writePortion(pass: BoxPass, portion: readonly DueStatus[]): Promise<void> {
  const { box, cache, context, signal } = pass;
  const { source, events } = context;
  const declared = portion.map(({ published }) => published.desired);
  await source.finalizers?.add(box, enforced(declared, cache), signal);
  const refused = source.finalizers?.refusals(box);
  const current = portion.filter(({ status, published }) => published.refusal === refused?.get(status.uid));
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

function remainderOf({ isCut, held }: DueStatuses, later: ReadonlySet<string>, { large }: BoxPass): Remainder {
  if (isCut) return 'more';
  if (later.size > 0) return large?.isRefused === true ? 'large' : 'more';
  return held.size === 0 ? 'done' : 'large';
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
