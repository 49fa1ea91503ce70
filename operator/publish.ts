import { boxFacts } from './box-facts.ts';
import type { BoxMemory, Published } from './box-memory.ts';
import { objectKey } from './declared.ts';
import type { Desired } from './desired.ts';
import { sameFacts, type Facts } from './facts.ts';
import type { ObjectStatus } from './object-status.ts';
import type { PassContext } from './pass-context.ts';
import { FlipPool, stampedConditions, statusOf, type Flip } from './status.ts';

/**
 * Writes the statuses that changed since they were last written, as many as it is this box's turn for; whether others are
 * left. Before any object is called Ready its deletion must wait for us. What has the same facts is not looked at.
 */
export async function publish(
  box: string,
  desired: readonly Desired[],
  open: 'pending' | 'unreachable',
  memory: BoxMemory,
  context: PassContext,
  signal: AbortSignal,
): Promise<'done' | 'more'> {
  const { source } = context;
  const { changed, seen, isAll } = dueStatuses(desired, open, memory, context);
  const gone = open === 'pending' && isAll ? forgotten(memory) : [];
  try {
    await source.holds?.hold(box, enforced(seen, memory), signal);
    if (changed.length + gone.length > 0) await source.writeStatus(box, changed, gone, signal);
  } catch (error) {
    // The next pass writes them.
    for (const status of changed) memory.published.delete(objectKey(status));
    throw error;
  }
  return isAll ? 'done' : 'more';
}

/** The objects that have their rows. */
function enforced(desired: readonly Desired[], { rows }: BoxMemory): readonly Desired['object'][] {
  return desired.flatMap(({ object, judged }) =>
    rows.get(judged.rowKey)?.declarer.uid === object.uid ? [object] : [],
  );
}

interface DueStatuses {
  readonly changed: readonly ObjectStatus[];
  /** The objects that were looked at. */
  readonly seen: readonly Desired[];
  readonly isAll: boolean;
}

function dueStatuses(
  desired: readonly Desired[],
  open: 'pending' | 'unreachable',
  memory: BoxMemory,
  context: PassContext,
): DueStatuses {
  const time = context.now().toISOString();
  const turn = turnOf(context);
  const pool = new FlipPool();
  const changed: ObjectStatus[] = [];
  for (const [index, facts] of boxFacts(desired, memory, open, context.servesServiceAccounts()).entries()) {
    const { key } = facts.desired.object;
    const before = memory.published.get(key);
    if (before !== undefined && sameFacts(before, facts)) continue;
    if (changed.length >= turn) return { changed, seen: desired.slice(0, index), isAll: false };
    const conditions = stampedConditions(facts, before?.flips ?? [], time);
    const status = statusOf(facts, conditions);
    memory.published.set(key, published(facts, pool.of(conditions)));
    if (before === undefined || !isSameStatus(lastStatus(before), status)) changed.push(status);
  }
  return { changed, seen: desired, isAll: true };
}

/** While other boxes wait for their rows the statuses of this one get a smaller turn: what is enforced comes first. */
function turnOf({ source, isCrowded }: PassContext): number {
  const { statusesInTurn = Infinity } = source;
  return isCrowded?.() === true ? Math.ceil(statusesInTurn / 8) : statusesInTurn;
}

/** Written out: a spread takes half as much memory again, and there may be twenty thousand. */
function published(facts: Facts, flips: readonly Flip[]): Published {
  const { desired, row, unusable, policies, clients, dangling, issuer, servesServiceAccounts, usage, users } = facts;
  return { desired, row, unusable, policies, clients, dangling, issuer, servesServiceAccounts, usage, users, flips };
}

/** The status that was published last, made anew from its facts: none of its conditions has flipped since. */
function lastStatus(last: Published): ObjectStatus {
  return statusOf(last, stampedConditions(last, last.flips, ''));
}

/** Where an object stands is no part of its status. */
function isSameStatus(one: ObjectStatus, other: ObjectStatus): boolean {
  return JSON.stringify({ ...one, place: '' }) === JSON.stringify({ ...other, place: '' });
}

/** The objects that are no longer declared, once their rows have gone too. */
function forgotten({ published: all, objects }: BoxMemory): readonly ObjectStatus[] {
  // All that is declared has just been published: who is gone is one more.
  if (all.size === objects.size) return [];
  const gone = [...all].filter(([key]) => !objects.has(key));
  for (const [key] of gone) all.delete(key);
  return gone.map(([, last]) => lastStatus(last));
}
