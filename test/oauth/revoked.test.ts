import { equal } from 'node:assert/strict';
import { isRevoked } from '../../api/oauth/session/still-granted.ts';

describe('what was issued before a revocation', () => {
  const cases: readonly (readonly [string, number, number, number, number | undefined, boolean])[] = [
    // version, created at, sessions from, revoked before
    ['under the version from which sessions are valid', 7, 500, 7, undefined, false],
    ['under a later version', 8, 500, 7, undefined, false],
    ['under an older version', 6, 500, 7, undefined, true],
    ['at the time of the revocation', 7, 500, 0, 500, false],
    ['a millisecond after it', 7, 501, 0, 500, false],
    ['a millisecond before it', 7, 499, 0, 500, true],
    ['under an older version, after the time', 6, 501, 7, 500, true],
    ['under an older version, before the time', 6, 499, 7, 500, true],
  ];
  for (const [title, version, createdAt, sessionsFrom, revokedBefore, expected] of cases) {
    it(`${expected ? 'is revoked' : 'stays valid'}: ${title}`, () => {
      equal(isRevoked(version, createdAt, { sessionsFrom, revokedBefore }), expected);
    });
  }
});
