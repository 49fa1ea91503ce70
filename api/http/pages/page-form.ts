import type { IncomingMessage } from 'node:http';
import { browserHash, isFormToken } from '../../credentials/browser-token.ts';
import type { SignIn } from '../../db/authorization/sign-in.ts';
import { parseParameters } from '../../oauth/token/parameters.ts';
import type { Parameters } from '../../oauth/token/parameters.ts';
import { Problem } from '../../problem.ts';
import { bodyLimits, readBody } from '../request/read-body.ts';
import type { ApiContext } from '../server/api-context.ts';
import type { PageRequest } from './page-request.ts';
import { findSignedInUser } from './signed-in-user.ts';

/** A form of one of our pages. */
export interface PageForm {
  readonly form: Parameters;
  /** The sign-in that has replaced the cookie for which the form was made, in another tab; undefined: none has. */
  readonly signedInSince: SignIn | undefined;
}

/**
 * Reads the form of one of our pages. Throws Problem `forbidden` if another site sent it, or if it was created for
 * another browser.
 */
export async function readPageForm(
  context: ApiContext,
  here: PageRequest,
  request: IncomingMessage,
): Promise<PageForm> {
  const { browser } = here;
  const body = await readBody(request, bodyLimits.oauth);
  // Most browsers send this header; the token in the form stops the others.
  const site = request.headers['sec-fetch-site'] ?? 'same-origin';
  if (site !== 'same-origin' && site !== 'none') throw forged();
  if (browser.isNew) throw forged();
  const form = parseParameters(request.headers['content-type'], body);
  const text = form.get('form_token');
  if (isFormToken(text, browserHash(browser.token))) return { form, signedInSince: undefined };
  const signedInSince = await findSignedInUser(context, here);
  if (signedInSince?.replaced.some((hash) => isFormToken(text, hash)) !== true) throw forged();
  return { form, signedInSince };
}

function forged(): Problem {
  return new Problem('forbidden', 'The form was not made for this browser');
}
