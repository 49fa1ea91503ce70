import type { IncomingMessage } from 'node:http';
import { isFormToken } from '../../credentials/browser-token.ts';
import { parseParameters } from '../../oauth/token/parameters.ts';
import type { Parameters } from '../../oauth/token/parameters.ts';
import { Problem } from '../../problem.ts';
import { bodyLimits, readBody } from '../request/read-body.ts';
import type { Browser } from '../cookies/browser-cookie.ts';

/**
 * Reads the form of one of our pages. Throws Problem `forbidden` if another site sent it, or if it was created for
 * another browser.
 */
export async function readPageForm(request: IncomingMessage, browser: Browser): Promise<Parameters> {
  const body = await readBody(request, bodyLimits.oauth);
  // Most browsers send this header; the token in the form stops the others.
  const site = request.headers['sec-fetch-site'] ?? 'same-origin';
  if (site !== 'same-origin' && site !== 'none') throw forged();
  if (browser.isNew) throw forged();
  const form = parseParameters(request.headers['content-type'], body);
  if (!isFormToken(form.get('form_token'), browser.token)) throw forged();
  return form;
}

function forged(): Problem {
  return new Problem('forbidden', 'The form was not made for this browser');
}
