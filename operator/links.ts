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
  const missing = linkNames(judged).filter((key) => !isThere(key));
  return missing.length === 0 ? none : missing;
}

/** What a policy links, as `Client/x`, each once. */
export function linkNames(judged: Desired['judged']): readonly string[] {
  const links = linksOf(judged);
  return links.length === 0
    ? none
    : [...new Set(links.map(({ resourceType, id }) => rowKey({ kind: resourceType, id })))];
}

/** Shared: nearly every object has none. */
const none: readonly never[] = [];

/** The links of a policy; none of anything else. */
export function linksOf({ traits }: Desired['judged']): readonly Link[] {
  return traits.kind === 'AccessPolicy' ? traits.links : [];
}
