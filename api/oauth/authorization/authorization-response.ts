import type { OAuthError } from '../oauth-error.ts';
import type { ResponseMode } from './request/response-type.ts';

/** The redirect URIs that the settings of a grant have: one, a list, or both. */
export interface ConfiguredUris {
  readonly redirect_uri?: string;
  readonly redirect_uris?: readonly string[];
}

/**
 * Returns the configured redirect URI that a requested one is ({@link isRedirectUri}); undefined if there is none. The
 * same string wins over one that differs in the port, so that a consent is found again for the URI that it was given
 * for.
 */
export function configuredUri(requested: string, { redirect_uri, redirect_uris }: ConfiguredUris): string | undefined {
  if (requested === redirect_uri || redirect_uris?.includes(requested) === true) return requested;
  if (redirect_uri !== undefined && isRedirectUri(requested, redirect_uri)) return redirect_uri;
  return redirect_uris?.find((configured) => isRedirectUri(requested, configured));
}

/** Returns the redirect URI of settings that have exactly one: a request may leave it out (RFC 6749 §3.1.2.3). */
export function onlyUri({ redirect_uri, redirect_uris = [] }: ConfiguredUris): string | undefined {
  const only = redirect_uri ?? redirect_uris[0];
  return redirect_uris.every((one) => one === only) ? only : undefined;
}

const loopback = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(:[1-9][0-9]{0,4})?((?:[/?].*)?)$/s;

/**
 * Checks whether a requested redirect URI is the configured one: the same string (RFC 9700 §4.1.3), or the same except
 * for the port if both are http on a loopback address (RFC 8252 §7.3).
 */
export function isRedirectUri(requested: string, configured: string): boolean {
  if (requested === configured) return true;
  const [, origin, port, rest] = loopback.exec(requested) ?? [];
  const [, itsOrigin, , itsRest] = loopback.exec(configured) ?? [];
  return (
    origin !== undefined &&
    origin === itsOrigin &&
    rest === itsRest &&
    /^[\x21-\x7e]*$/.test(rest ?? '') &&
    isPort(port)
  );
}

function isPort(port: string | undefined): boolean {
  return port === undefined || Number(port.slice(1)) <= 65_535;
}

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

/** Error codes at a redirect URI, instead of a code or token (RFC 6749 §4.1.2.1, OpenID Connect Core §3.1.2.6). */
const ERROR_CODES = [
  ...(['invalid_request', 'unauthorized_client', 'access_denied', 'unsupported_response_type'] as const),
  ...(['invalid_scope', 'invalid_target', 'temporarily_unavailable', 'login_required', 'consent_required'] as const),
  ...(['request_not_supported', 'request_uri_not_supported'] as const),
] as const;

/** One of {@link ERROR_CODES}. */
type AuthorizationErrorCode = (typeof ERROR_CODES)[number];

/** Returns the code of a refusal at a redirect URI. */
export function codeAt({ code }: OAuthError): AuthorizationErrorCode {
  return ERROR_CODES.find((known) => known === code) ?? 'invalid_request';
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
