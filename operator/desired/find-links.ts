import { rowKey, type Desired } from './desired.ts';
import { linksToAsk } from './links.ts';
import type { BoxPass } from '../reconcile/box-pass.ts';

/**
 * Asks the API for linked resources that nobody declares: clients created over REST, users, groups. The answers are
 * remembered until the next sweep. Throws ManagementError.
 */
export async function findLinks(
  { box, memory: { stored }, context, signal }: BoxPass,
  desired: readonly Desired[],
): Promise<void> {
  const links = linksToAsk(desired, (key) => stored.rows.has(key), stored.elsewhere);
  if (links.length === 0) return;
  const missing = new Set((await context.management.missingLinks(box, links, signal)).map(keyOf));
  for (const link of links) stored.setElsewhere(keyOf(link), !missing.has(keyOf(link)));
}

function keyOf({ resourceType, id }: ReturnType<typeof linksToAsk>[number]): string {
  return rowKey({ kind: resourceType, id });
}
