import { allows } from '../../../../crds/compatibility.ts';
import type { BoxState, ClientState } from '../../../box/box-state.ts';
import type { Parameters } from '../../token/parameters.ts';
import { OAuthError } from '../../oauth-error.ts';

/** Response types that are supported (RFC 6749 §3.1.1, OAuth 2.0 Multiple Response Type Encoding Practices §3, §5). */
export const RESPONSE_TYPES = ['code', 'token', 'id_token', 'id_token token'] as const;

/** One of {@link RESPONSE_TYPES}. */
export type ResponseType = (typeof RESPONSE_TYPES)[number];

/** Returns the type that a `response_type` means, in any order of its words; undefined when it is not supported. */
export function knownResponseType(text: string | undefined): ResponseType | undefined {
  const words = text?.split(' ').toSorted().join(' ');
  return RESPONSE_TYPES.find((one) => one === words);
}

/** Checks whether an answer of this type holds an access token. */
export function givesToken(type: ResponseType): boolean {
  return type === 'token' || type === 'id_token token';
}

/** Checks whether an answer of this type holds an id_token. */
export function givesIdToken(type: ResponseType): boolean {
  return type === 'id_token' || type === 'id_token token';
}

/** Returns the grant whose settings apply to a type. */
export function grantOf(type: ResponseType): 'authorization_code' | 'implicit' {
  return type === 'code' ? 'authorization_code' : 'implicit';
}

/**
 * Returns the default response mode for a `response_type`. The requested type decides, even if the client may not use
 * it (OAuth 2.0 Multiple Response Type Encoding Practices §2.1, §5). The query if it names neither token nor id_token,
 * or is missing (RFC 6749 §3.1.1, §4.1.2.1).
 */
export function usualMode(text: string | undefined): 'query' | 'fragment' {
  const words = text?.split(' ') ?? [];
  return words.includes('token') || words.includes('id_token') ? 'fragment' : 'query';
}

/** Reads the response type. Throws OAuthError unless the client may use it here. */
export function readResponseType(
  parameters: Parameters,
  { client }: ClientState,
  { settings }: Pick<BoxState, 'settings'>,
): ResponseType {
  const text = parameters.get('response_type');
  if (text === undefined) throw new OAuthError('invalid_request', 'response_type is missing');
  const type = knownResponseType(text);
  if (type === undefined) {
    const names = `${RESPONSE_TYPES.slice(0, -1).join(', ')} or ${RESPONSE_TYPES.at(-1) ?? ''}`;
    throw new OAuthError('unsupported_response_type', `response_type must be ${names}`);
  }
  const grant = grantOf(type);
  if (!client.grant_types.includes(grant)) {
    throw new OAuthError('unauthorized_client', `The client may not use the grant ${grant}`);
  }
  if (grant === 'implicit' && !allows(settings, 'implicit')) {
    throw new OAuthError('unsupported_response_type', 'The implicit grant is switched off here: use code');
  }
  return type;
}

/** Response modes (OAuth 2.0 Multiple Response Type Encoding Practices §2.1, Form Post Response Mode §2). */
export const RESPONSE_MODES = ['query', 'fragment', 'form_post'] as const;

/** One of {@link RESPONSE_MODES}. */
export type ResponseMode = (typeof RESPONSE_MODES)[number];

/**
 * Returns the requested mode if the answer may have it, otherwise `usual`: the query for a code, the fragment for a
 * token (RFC 6749 §4.1.2, §4.2.2). A query never holds a token; a form is sent only to an http or https address.
 */
export function chooseMode(parameters: Parameters, usual: 'query' | 'fragment', redirectUri: string): ResponseMode {
  const requested = parameters.get('response_mode');
  const isPossible =
    requested === usual || requested === 'fragment' || (requested === 'form_post' && /^https?:/.test(redirectUri));
  return RESPONSE_MODES.find((mode) => mode === requested && isPossible) ?? usual;
}

/** Throws OAuthError `invalid_request` when the answer does not come in the requested mode. */
export function refuseOtherMode(parameters: Parameters, mode: ResponseMode): void {
  const requested = parameters.get('response_mode');
  if (requested === undefined || requested === mode) return;
  throw new OAuthError(
    'invalid_request',
    'response_mode must be fragment, form_post of an http address, query of a code, or left out',
  );
}
