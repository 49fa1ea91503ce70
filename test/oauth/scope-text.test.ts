import { deepEqual, equal } from 'node:assert/strict';
import { hasScope, scopesOf, scopeText, scopeWithin } from '../../api/oauth/scope-text.ts';

describe('text of a scope', () => {
  const texts: readonly (readonly [string | null | undefined, readonly string[]])[] = [
    [undefined, []],
    [null, []],
    ['', ['']],
    ['openid', ['openid']],
    ['openid email', ['openid', 'email']],
    // Requests with two spaces are refused: requestedScope.
    ['openid  email', ['openid', '', 'email']],
  ];
  for (const [text, scopes] of texts) {
    it(`${JSON.stringify(text)} has the scopes ${JSON.stringify(scopes)}`, () => {
      deepEqual(scopesOf(text), scopes);
    });
  }

  it('is null without scopes', () => {
    equal(scopeText([]), null);
    equal(scopeText(['openid', 'email']), 'openid email');
  });

  it('has a scope only as a whole word', () => {
    equal(hasScope('openid email', 'email'), true);
    equal(hasScope('openid emails', 'email'), false);
    equal(hasScope('', 'email'), false);
    equal(hasScope(null, 'email'), false);
  });

  const allowed = new Set(['openid', 'email']);
  const reductions: readonly (readonly [string | null, string | null | undefined])[] = [
    [null, null],
    ['email openid', 'email openid'],
    ['phone email', 'email'],
    ['phone', undefined],
    ['', undefined],
  ];
  for (const [text, left] of reductions) {
    it(`${JSON.stringify(text)} is reduced to ${JSON.stringify(left)} by what is allowed`, () => {
      equal(scopeWithin(text, allowed), left);
    });
  }
});
