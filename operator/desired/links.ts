import type { Link } from '../../crds/links.ts';
import { rowKey, type Desired } from './desired.ts';

/** Returns the links of policies that nobody declares here and of which nothing is known yet, each once. */
export function linksToAsk(
  desired: readonly Desired[],
  isHere: (rowKey: string) => boolean,
  known: ReadonlyMap<string, boolean>,
): readonly Link[] {
  const unknown = new Map<string, Link>();
  for (const { judged } of desired) {
    for (const link of linksOf(judged)) {
      const key = rowKey({ kind: link.resourceType, id: link.id });
      if (!isHere(key) && !known.has(key)) unknown.set(key, link);
    }
  }
  return [...unknown.values()];
}

/** Returns a policy's links to missing resources, as `Client/x`, each once. */
export function danglingLinks(judged: Desired['judged'], isThere: (rowKey: string) => boolean): readonly string[] {
  const links = linksOf(judged);
  if (links.every(({ resourceType, id }) => isThere(rowKey({ kind: resourceType, id })))) return none;
  return linkNames(judged).filter((key) => !isThere(key));
}

/** Returns a policy's links, as `Client/x`, each once. */
export function linkNames(judged: Desired['judged']): readonly string[] {
  const links = linksOf(judged);
  const [only] = links;
  if (only === undefined) return none;
  return links.length === 1
    ? [rowKey({ kind: only.resourceType, id: only.id })]
    : [...new Set(links.map(({ resourceType, id }) => rowKey({ kind: resourceType, id })))];
}

/** Shared: nearly every object has none. */
const none: readonly never[] = [];

/** Returns the links of a policy; none for other kinds. */
export function linksOf({ traits }: Desired['judged']): readonly Link[] {
  return traits.kind === 'AccessPolicy' ? traits.links : [];
}
