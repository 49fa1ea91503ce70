import { describeRequest } from '../../oauth/authorization/describe-request.ts';
import type { ApiContext } from '../api-context.ts';
import type { Visit } from './visit.ts';

/** The app that somebody comes from, and who it thinks they are. */
export interface AppsWish {
  readonly app: string | undefined;
  readonly email: string | undefined;
}

/** What the address of a page says of an app; undefined: somebody comes from none. Throws Outage. */
export async function appsWish(
  { oauth }: ApiContext,
  { box, query }: Visit,
): Promise<AppsWish | 'untrusted' | undefined> {
  if (!hasRequest(query)) return undefined;
  const described = await describeRequest(box.state.box, query.slice(1), oauth);
  if (described === 'untrusted') return 'untrusted';
  if (described === 'refused' || described === undefined) return { app: undefined, email: undefined };
  return { app: described.client.name ?? described.client.id, email: described.loginHint };
}

/** The address of the page carries the authorization request that it is for: nothing is stored for who has not signed in. */
export function hasRequest(query: string): boolean {
  return new URLSearchParams(query).has('client_id');
}
