import type { Scopes } from '../box/scopes.ts';

/** Returns the single scopes of a scope's text (RFC 6749 §3.3); none if there is no text. */
export function scopesOf(text: string | null | undefined): readonly string[] {
  return text?.split(' ') ?? [];
}

/** Returns the text of scopes; null if there are none. */
export function scopeText(scopes: readonly string[]): string | null {
  return scopes.length === 0 ? null : scopes.join(' ');
}

/** Checks whether the text of a scope has a single scope. */
export function hasScope(text: string | null, scope: string): boolean {
  return text?.split(' ').includes(scope) ?? false;
}

/**
 * Returns the allowed part of a scope's text; undefined if no scope is left of it. No text is always allowed. A claim
 * that was requested by name is allowed like the scope that has it.
 */
export function scopeWithin(text: string | null, allowed: Scopes): string | null | undefined {
  if (text === null) return null;
  const left = scopesOf(text).filter((word) => allowed.has(isClaim(word) ? readClaim(word).scope : word));
  return left.every(isClaim) ? undefined : left.join(' ');
}

/** A claim that is requested by name (OpenID Connect Core §5.5), and the scope that has it (§5.4). */
export interface RequestedClaim {
  readonly scope: string;
  readonly member: 'userinfo' | 'id_token';
  readonly name: string;
}

/**
 * Returns the word for a requested claim in the text of a scope: it is granted, remembered and stored like a scope. Its
 * first character is a quote, which no scope can have (RFC 6749 §3.3), so no client can request it as a scope.
 */
export function claimWord({ scope, member, name }: RequestedClaim): string {
  return `"${member}:${scope}:${name}`;
}

/** Returns the requested claims in the words of a scope. */
export function requestedClaims(words: readonly string[]): readonly RequestedClaim[] {
  return words.filter(isClaim).map(readClaim);
}

/** Returns the names of the claims that a scope's text has for a member. */
export function claimsFor(member: RequestedClaim['member'], text: string | null): readonly string[] {
  return requestedClaims(scopesOf(text)).flatMap((claim) => (claim.member === member ? [claim.name] : []));
}

/** Returns a scope's text without claims, as clients, policies and people see it. */
export function withoutClaims(text: string | null): string | null {
  return text?.includes('"') === true ? scopeText(scopesOf(text).filter((word) => !isClaim(word))) : text;
}

function isClaim(word: string): boolean {
  return word.startsWith('"');
}

function readClaim(word: string): RequestedClaim {
  const [member = '', scope = '', name = ''] = word.slice(1).split(':');
  return { member: member === 'id_token' ? member : 'userinfo', scope, name };
}

/** Checks whether a scope requests an id_token (OpenID Connect Core §3.1.2.1). */
export function asksForIdToken(scope: string | null): boolean {
  return hasScope(scope, 'openid');
}
