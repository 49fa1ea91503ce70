import { boxFacts } from './box-facts.ts';
import type { BoxMemory, Published } from './box-memory.ts';
import { objectKey } from './declared.ts';
import type { Desired } from './desired.ts';
import { sameFacts, type Facts } from './facts.ts';
import type { Condition, ObjectStatus } from './object-status.ts';
import type { PassContext } from './pass-context.ts';
import { ConditionPool, stampedConditions, statusOf } from './status.ts';

/** Writes the statuses that changed since they were last written. What has the same facts is not looked at. */
export async function publish(
  box: string,
  desired: readonly Desired[],
  open: 'pending' | 'unreachable',
  memory: BoxMemory,
  { source, now }: PassContext,
  signal: AbortSignal,
): Promise<void> {
  const time = now().toISOString();
  const pool = new ConditionPool();
  const changed: ObjectStatus[] = [];
  for (const facts of boxFacts(desired, memory, open)) {
    const { key } = facts.desired.object;
    const before = memory.published.get(key);
    if (before !== undefined && sameFacts(before, facts)) continue;
    const conditions = stampedConditions(facts, before?.conditions ?? [], time, pool);
    const status = statusOf(facts, conditions);
    memory.published.set(key, published(facts, conditions));
    if (before === undefined || !isSameStatus(statusOf(before, before.conditions), status)) changed.push(status);
  }
  const gone = open === 'pending' ? forgotten(memory) : [];
  if (changed.length === 0 && gone.length === 0) return;
  try {
    await source.writeStatus(box, changed, gone, signal);
  } catch (error) {
    // The next pass writes them.
    for (const status of changed) memory.published.delete(objectKey(status));
    throw error;
  }
}

/** Written out: a spread takes half as much memory again, and there may be twenty thousand. */
function published(facts: Facts, conditions: readonly Condition[]): Published {
  const { desired, row, unusable, policies, clients, dangling, issuer, usage, users } = facts;
  return { desired, row, unusable, policies, clients, dangling, issuer, usage, users, conditions };
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
  return gone.map(([, last]) => statusOf(last, last.conditions));
}
