import { rowKey, type Desired } from './desired.ts';
import { linksToAsk } from './links.ts';
import type { Link } from '../../crds/links.ts';
import type { StoredState } from '../reconcile/stored-state.ts';

/**
 * Asks the API for linked resources that nobody declares: clients created over REST, users, groups. The answers are
 * remembered until the next sweep. Throws what `missingLinks` throws.
 */
export async function findLinks(
  desired: readonly Desired[],
  stored: StoredState,
  missingLinks: (links: readonly Link[]) => Promise<readonly Link[]>,
): Promise<void> {
  const links = linksToAsk(desired, (key) => stored.rows.has(key), stored.undeclaredLinks);
  if (links.length === 0) return;
  const missing = new Set((await missingLinks(links)).map(keyOf));
  for (const link of links) stored.setUndeclaredLink(keyOf(link), !missing.has(keyOf(link)));
}

function keyOf({ resourceType, id }: ReturnType<typeof linksToAsk>[number]): string {
  return rowKey({ kind: resourceType, id });
}
