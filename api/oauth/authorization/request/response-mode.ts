import type { Parameters } from '../../token/parameters.ts';
import { AuthorizationError } from './authorization-error.ts';

/** Response modes (OAuth 2.0 Multiple Response Type Encoding Practices §2.1, Form Post Response Mode §2). */
export const RESPONSE_MODES = ['query', 'fragment', 'form_post'] as const;

/** One of {@link RESPONSE_MODES}. */
export type ResponseMode = (typeof RESPONSE_MODES)[number];

/**
 * Returns the requested mode if the answer may have it, otherwise `usual`: the query for a code, the fragment for a
 * token (RFC 6749 §4.1.2, §4.2.2). A query never holds a token; a form is sent only to an http or https address.
 */
export function chooseMode(parameters: Parameters, usual: 'query' | 'fragment', redirectUri: string): ResponseMode {
  const asked = parameters.get('response_mode');
  const isPossible = asked === usual || asked === 'fragment' || (asked === 'form_post' && /^https?:/.test(redirectUri));
  return RESPONSE_MODES.find((mode) => mode === asked && isPossible) ?? usual;
}

/** Throws AuthorizationError `invalid_request` when the answer does not come in the requested mode. */
export function refuseOtherMode(parameters: Parameters, mode: ResponseMode): void {
  const asked = parameters.get('response_mode');
  if (asked === undefined || asked === mode) return;
  throw new AuthorizationError(
    'invalid_request',
    'response_mode must be fragment, form_post of an http address, query of a code, or left out',
  );
}
