import type { Link } from '../../crds/links.ts';
import { rowKey, type Desired } from './desired.ts';

/** Returns the links of policies that nobody declares here and of which nothing is known yet, each once. */
export function linksToAsk(
  desired: readonly Desired[],
  isHere: (rowKey: string) => boolean,
  known: ReadonlyMap<string, boolean>,
): readonly Link[] {
  const unknown = new Map<string, Link>();
  for (const { validated } of desired) {
    for (const link of linksOf(validated)) {
      const key = linkKey(link);
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
  return [...new Set(linksOf(validated).map(linkKey))];
}

/** Shared: nearly every object has none. */
const noLinks: readonly never[] = [];

/** Returns the links of a policy; none for other kinds. */
export function linksOf({ traits }: Desired['validated']): readonly Link[] {
  return traits.kind === 'AccessPolicy' ? traits.links : noLinks;
}

/** Returns the row key of a link's target. */
export function linkKey({ resourceType, id }: Link): string {
  return rowKey({ kind: resourceType, id });
}
