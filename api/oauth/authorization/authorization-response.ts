import type { AuthorizationErrorCode } from './request/authorization-error.ts';
import type { ResponseMode } from './request/response-type.ts';

/** Destination of the answer to an authorization request, and the parameters that every answer carries. */
export interface RedirectTarget {
  readonly redirectUri: string;
  /** The redirect URI as the client has it configured: on a loopback address the port may differ. */
  readonly configuredUri: string;
  /** True if the request named the redirect URI: then the token request must name it too (RFC 6749 §4.1.3). */
  readonly isNamed: boolean;
  readonly mode: ResponseMode;
  /** Parameter `state` as it came; undefined if there was none. */
  readonly state: string | undefined;
  /** Parameter `iss` (RFC 9207 §2). */
  readonly issuer: string;
}

/** An answer on its way to the client: an address to redirect to, or a form that is sent to one. */
export interface AuthorizationResponse {
  readonly address: string;
  /** Fields of the form in their order; undefined for a redirect. */
  readonly fields?: readonly (readonly [name: string, value: string])[];
}

/** Parameters of an answer in their order; undefined ones are left out. */
type Pairs = readonly (readonly [name: string, value: string | undefined])[];

/**
 * Builds the answer to the client: the requested values, the state, then the rest. In an address every value is encoded
 * separately, so that none adds a parameter. A space is %20, never `+`, so that any decoder can read it.
 */
export function authorizationResponse(target: RedirectTarget, first: Pairs, rest: Pairs = []): AuthorizationResponse {
  const pairs: Pairs = [...first, ['state', target.state], ...rest, ['iss', target.issuer]];
  const fields = pairs.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  if (target.mode === 'form_post') return { address: target.redirectUri, fields };
  const text = fields.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  return { address: target.redirectUri + separator(target) + text };
}

function separator({ redirectUri, mode }: RedirectTarget): string {
  if (mode === 'fragment') return '#';
  return redirectUri.includes('?') ? '&' : '?';
}

/** Builds an error answer to the client. */
export function errorResponse(
  target: RedirectTarget,
  code: AuthorizationErrorCode,
  description: string,
): AuthorizationResponse {
  return authorizationResponse(target, [
    ['error', code],
    ['error_description', description],
  ]);
}
