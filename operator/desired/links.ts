import type { Link } from '../../crds/links.ts';
import { rowKey, type Desired } from './desired.ts';
import type { StoredState } from '../reconcile/stored-state.ts';

/** Returns the links of policies that nobody declares here and of which nothing is known yet, each once. */
export function linksToAsk(
  desired: readonly Desired[],
  isHere: (rowKey: string) => boolean,
  known: ReadonlyMap<string, boolean>,
): readonly Link[] {
  const unknown = new Map<string, Link>();
  for (const { validated } of desired) {
    for (const link of linksOf(validated)) {
      const key = keyOf(link);
      if (!isHere(key) && !known.has(key)) unknown.set(key, link);
    }
  }
  return [...unknown.values()];
}

/** Returns a policy's links to missing resources, as `Client/x`, each once. */
export function danglingLinks(
  validated: Desired['validated'],
  isThere: (rowKey: string) => boolean,
): readonly string[] {
  return linkNames(validated).filter((key) => !isThere(key));
}

/** Returns a policy's links, as `Client/x`, each once. */
export function linkNames(validated: Desired['validated']): readonly string[] {
  return [...new Set(linksOf(validated).map(keyOf))];
}

/** Shared: nearly every object has none. */
const none: readonly never[] = [];

/** Returns the links of a policy; none for other kinds. */
export function linksOf({ traits }: Desired['validated']): readonly Link[] {
  return traits.kind === 'AccessPolicy' ? traits.links : none;
}

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

function keyOf({ resourceType, id }: Link): string {
  return rowKey({ kind: resourceType, id });
}
