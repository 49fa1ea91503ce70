import type { IncomingMessage, ServerResponse } from 'node:http';
import { replaceIdToken } from '../../oauth/authorization/request/user-hint.ts';
import type { ApiContext } from '../server/api-context.ts';
import { pageRequest } from './page-request.ts';
import type { PageRequest } from './page-request.ts';

/**
 * Returns the visit to a page between an app's request and the return to the app: the query carries the app's request.
 * Links of an older release may contain an `id_token_hint`; no address on the page does. Throws Problem `not-found`,
 * Outage.
 */
export async function appRequest(
  context: ApiContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<PageRequest> {
  const here = await pageRequest(context, request, response);
  if (here.query === '') return here;
  const { state, issuer } = here.box;
  return { ...here, query: `?${await replaceIdToken(here.query.slice(1), state, issuer, context.oauth.userHints)}` };
}
