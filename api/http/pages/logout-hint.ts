import { validateLogout } from '../../oauth/openid/logout-request.ts';
import type { ValidatedLogout } from '../../oauth/openid/logout-request.ts';
import { nothingHere } from '../../nothing-here.ts';
import { sendProblem } from './send.ts';
import type { PageExchange } from './page-request.ts';

/** A logout request that can be trusted. */
export type LogoutHint = Extract<ValidatedLogout, { readonly verdict: 'good' }>;

/**
 * Reads a logout request from a query without its question mark, or from the text of a form. Undefined if it cannot be
 * trusted: a page with status 400 has then been sent. Throws Problem `not-found`, Outage.
 */
export async function readLogoutHint(
  { context, here, request, response }: PageExchange,
  parameters: string,
): Promise<LogoutHint | undefined> {
  const validated = await validateLogout(here.box.state.box, parameters, context.oauth);
  if (validated === undefined) throw nothingHere();
  if (validated.verdict === 'good') return validated;
  sendProblem('logout-untrusted', { request, response, context });
  return undefined;
}
