import type { AuthorizationErrorCode } from './authorization-error.ts';
import type { ResponseMode } from './response-mode.ts';

/** Where an answer to an authorization request goes, and what goes with each. */
export interface AnswerPlace {
  readonly redirectUri: string;
  /** The redirect URI as the client has it configured: on a loopback address the port may differ. */
  readonly configuredUri: string;
  /** The request named it: so must the one that redeems its code (RFC 6749 §4.1.3). */
  readonly isNamed: boolean;
  readonly mode: ResponseMode;
  /** As it came; undefined: there was none. */
  readonly state: string | undefined;
  /** RFC 9207 §2. */
  readonly issuer: string;
}

/** What brings an answer to the client: an address to redirect to, or a form that is sent to one. */
export interface ClientAnswer {
  readonly address: string;
  /** Those of the form, in their order; undefined: it is a redirect. */
  readonly fields?: readonly (readonly [name: string, value: string])[];
}

/** Parameters of an answer in their order; undefined ones are left out. */
type Pairs = readonly (readonly [name: string, value: string | undefined])[];

/**
 * Brings an answer to the client: what was asked for, the state, then the rest. In an address every value is encoded by
 * itself, so that none adds a parameter, and read back by any decoder: a blank is %20, never `+`.
 */
export function clientAnswer(place: AnswerPlace, first: Pairs, rest: Pairs = []): ClientAnswer {
  const pairs: Pairs = [...first, ['state', place.state], ...rest, ['iss', place.issuer]];
  const fields = pairs.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  if (place.mode === 'form_post') return { address: place.redirectUri, fields };
  const text = fields.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  return { address: place.redirectUri + separator(place) + text };
}

function separator({ redirectUri, mode }: AnswerPlace): string {
  if (mode === 'fragment') return '#';
  return redirectUri.includes('?') ? '&' : '?';
}

/** Brings an error to the client. */
export function errorAnswer(place: AnswerPlace, code: AuthorizationErrorCode, description: string): ClientAnswer {
  return clientAnswer(place, [
    ['error', code],
    ['error_description', description],
  ]);
}
