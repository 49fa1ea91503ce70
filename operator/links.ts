import type { Link } from '../crds/links.ts';
import { rowKey, type Desired } from './desired.ts';

/** Ids of clients that policies link, that nobody declares here, and of which nothing is known yet. */
export function linksToProbe(
  desired: readonly Desired[],
  isHere: (rowKey: string) => boolean,
  elsewhere: ReadonlyMap<string, boolean>,
): readonly string[] {
  const unknown = new Set<string>();
  for (const { judged } of desired) {
    for (const link of linksOf(judged)) {
      const key = rowKey({ kind: link.resourceType, id: link.id });
      if (link.resourceType === 'Client' && !isHere(key) && !elsewhere.has(key)) unknown.add(link.id);
    }
  }
  return [...unknown];
}

/** What a policy links and is not there, as `Client/x`, each once. */
export function danglingLinks(judged: Desired['judged'], isThere: (rowKey: string) => boolean): readonly string[] {
  const links = linksOf(judged);
  if (links.every(({ resourceType, id }) => isThere(rowKey({ kind: resourceType, id })))) return none;
  return linkNames(judged).filter((key) => !isThere(key));
}

/** What a policy links, as `Client/x`, each once. */
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

/** The links of a policy; none of anything else. */
export function linksOf({ traits }: Desired['judged']): readonly Link[] {
  return traits.kind === 'AccessPolicy' ? traits.links : [];
}
