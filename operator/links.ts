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

/** How many links a message names at most. */
const mostNamed = 5;

/** What a policy links and is not there, as text for people: `Client/x, Client/y`; empty when all is there. */
export function danglingLinks(judged: Desired['judged'], isThere: (rowKey: string) => boolean): string {
  const links = linksOf(judged);
  if (links.length === 0) return '';
  const missing = links
    .map(({ resourceType, id }) => rowKey({ kind: resourceType, id }))
    .filter((key) => !isThere(key));
  const named = missing.slice(0, mostNamed).join(', ');
  return missing.length > mostNamed ? `${named} and ${String(missing.length - mostNamed)} more` : named;
}

/** The links of a policy; none of anything else. */
export function linksOf({ traits }: Desired['judged']): readonly Link[] {
  return traits.kind === 'AccessPolicy' ? traits.links : [];
}
