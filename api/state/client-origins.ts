import type { Client } from '../../crds/client.ts';

/** Number of active clients of a box for each origin that one of them lists. */
export type ClientOrigins = ReadonlyMap<string, number>;

/**
 * Counts the origins of a client in place of those it had before; undefined: there is no such client. A request of
 * another origin costs one lookup then, however many clients there are.
 */
export function replaceOrigins(
  counts: Map<string, number>,
  before: Client | undefined,
  after: Client | undefined,
): void {
  for (const origin of originsOf(before)) {
    const left = (counts.get(origin) ?? 1) - 1;
    if (left > 0) counts.set(origin, left);
    else counts.delete(origin);
  }
  for (const origin of originsOf(after)) counts.set(origin, (counts.get(origin) ?? 0) + 1);
}

function originsOf(client: Client | undefined): readonly string[] {
  return client === undefined || client.active === false ? [] : (client.allowed_origins ?? []);
}
