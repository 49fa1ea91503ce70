import { expect } from 'chai';
import { requestedScope, scopeMember, scopeParameter } from '../../../api/oauth/token/requested-access.ts';
import { errorOf } from '../refusal.ts';

const allowed = new Set(['read']);
const known = new Set(['read', 'write']);

describe('the scope that a request names', () => {
  const long = 'x'.repeat(200);
  const refusals: readonly [asked: string, rejectsUnknown: boolean, message: RegExp][] = [
    ['read write', false, /^scope has write, which this request may not have: leave it out, or list it in the client$/],
    ['read unknown', true, /^scope has unknown, /],
    [long, true, /^scope has x{128}\.\.\., /],
    ['read "', false, /^scope is malformed: send at most 4096 characters, /],
  ];
  for (const [asked, rejectsUnknown, message] of refusals) {
    it(`is refused by name, in characters of RFC 6749 section 5.2: ${asked.slice(0, 20)}`, () => {
      const error = errorOf(() => requestedScope(asked, allowed, rejectsUnknown ? undefined : known));
      expect(error?.code).to.equal('invalid_scope');
      expect(error?.message)
        .to.match(message)
        .and.to.match(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
    });
  }
});

describe('the member scope of a response', () => {
  type Text = string | undefined;
  const rows: readonly [granted: string | null, requested: Text, member: Text, inAddress: Text][] = [
    [null, undefined, undefined, undefined],
    // E-33: it was left out.
    ['read', 'read', 'read', undefined],
    ['read', 'read unknown', 'read', 'read'],
    [null, 'unknown', '', ''],
    ['boxgate', undefined, 'boxgate', 'boxgate'],
    ['openid "userinfo:profile:name', 'openid', 'openid', undefined],
  ];
  for (const [granted, requested, member, inAddress] of rows) {
    it(`is ${String(member)} where ${String(requested)} was requested and ${String(granted)} granted`, () => {
      expect(scopeMember(granted, requested)).to.equal(member);
      expect(scopeParameter(granted, requested)).to.equal(inAddress);
    });
  }
});
