import type { JsonObject } from '../../../crds/path.ts';
import { DAY, objectsOf, referenceText, textOf } from '../connection/members.ts';
import { stringsOf } from '../record/json-draft.ts';

/** Times at which policies last granted a request. */
export interface PolicyUse {
  /** Since when this is known; '' before it was read. */
  readonly since: string;
  /** A policy has `id`, `created_at` and `last_used_at`. */
  readonly policies: readonly JsonObject[];
}

/** Milliseconds without a use after which a policy can probably go. */
const UNUSED = 90 * DAY;

/** Returns the IDs of policies that granted nothing for 90 days, as far as it is known. */
export function unusedIn({ since, policies }: PolicyUse, now: number): readonly string[] {
  const idle = policies.filter((policy) => {
    const known = [textOf(policy, 'created_at'), since].map((time) => Date.parse(time));
    const used = textOf(policy, 'last_used_at');
    return now - (used === '' ? Math.max(...known) : Date.parse(used)) > UNUSED;
  });
  return idle.map((policy) => textOf(policy, 'id'));
}

/** Returns the IDs of active clients that get tokens of their own which no policy concerns. */
export function withoutAccess(clients: readonly JsonObject[], policies: readonly JsonObject[]): readonly string[] {
  if (policies.some(({ subjects }) => subjects === 'authenticated' || subjects === 'anyone')) return [];
  const links = policies.flatMap(({ link }) => objectsOf(link));
  const linked = new Set(links.map(referenceText));
  return clients
    .filter(({ active, grant_types }) => active !== false && stringsOf(grant_types).includes('client_credentials'))
    .map((client) => textOf(client, 'id'))
    .filter((id) => !linked.has(`Client/${id}`));
}
