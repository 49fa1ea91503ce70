import type { AuthorizationErrorCode } from './authorization-error.ts';

/** Where an answer to an authorization request goes, and what goes with each. */
export interface AnswerPlace {
  readonly redirectUri: string;
  /** The request named it: so must the one that redeems its code (RFC 6749 §4.1.3). */
  readonly isNamed: boolean;
  /** The fragment for a token, the query for a code (RFC 6749 §4.2.2, §4.1.2). */
  readonly part: 'fragment' | 'query';
  /** As it came; undefined: there was none. */
  readonly state: string | undefined;
  /** RFC 9207 §2. */
  readonly issuer: string;
}

/** Parameters of an answer in their order; undefined ones are left out. */
type Pairs = readonly (readonly [name: string, value: string | undefined])[];

/**
 * The address that brings an answer to the client: what was asked for, the state, then the rest. Every value is encoded by
 * itself, so that none adds a parameter, and read back by any decoder: a blank is %20, never `+`.
 */
export function answerAddress(place: AnswerPlace, first: Pairs, rest: Pairs = []): string {
  const pairs: Pairs = [...first, ['state', place.state], ...rest, ['iss', place.issuer]];
  const text = pairs
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`]))
    .join('&');
  return place.redirectUri + separator(place) + text;
}

function separator({ redirectUri, part }: AnswerPlace): string {
  if (part === 'fragment') return '#';
  return redirectUri.includes('?') ? '&' : '?';
}

/** The address that brings an error to the client. */
export function errorAddress(place: AnswerPlace, code: AuthorizationErrorCode, description: string): string {
  return answerAddress(place, [
    ['error', code],
    ['error_description', description],
  ]);
}
