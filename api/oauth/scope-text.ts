import type { Scopes } from '../state/known-scopes.ts';

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

/** Returns the allowed part of a scope's text; undefined if nothing is left of it. No text is always allowed. */
export function scopeWithin(text: string | null, allowed: Scopes): string | null | undefined {
  if (text === null) return null;
  return scopeText(scopesOf(text).filter((scope) => allowed.has(scope))) ?? undefined;
}
