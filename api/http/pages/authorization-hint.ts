import { describeRequest } from '../../oauth/authorization/request/describe-request.ts';
import type { Prompt } from '../../oauth/authorization/request/prompt.ts';
import type { ApiContext } from '../server/api-context.ts';
import type { PageRequest } from './page-request.ts';

/** The app that a user comes from, and the user that it expects. */
export interface AuthorizationHint {
  readonly app: string | undefined;
  readonly email: string | undefined;
  /** Undefined for a request that its client will get an error for. */
  readonly prompt: Prompt | undefined;
}

/** Reads the app from the address of a page; undefined if the user does not come from one. Throws Outage. */
export async function authorizationHint(
  { oauth }: ApiContext,
  { box, query }: PageRequest,
): Promise<AuthorizationHint | 'untrusted' | undefined> {
  if (!hasRequest(query)) return undefined;
  const described = await describeRequest(box.state.box, query.slice(1), oauth);
  if (described === 'untrusted') return 'untrusted';
  if (described === 'refused' || described === undefined)
    return { app: undefined, email: undefined, prompt: undefined };
  const { client, loginHint, prompt } = described;
  return { app: client.name ?? client.id, email: loginHint, prompt };
}

/** Checks for an authorization request, which the page's address carries: nothing is stored before the sign-in. */
export function hasRequest(query: string): boolean {
  return new URLSearchParams(query).has('client_id');
}
