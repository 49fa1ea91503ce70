import { expect } from 'chai';
import { refuseOwnVerification, verifiedAfter } from '../../api/records/user-change.ts';
import { Problem } from '../../api/problem.ts';

describe('whether an email is verified after a change', () => {
  const cases: readonly [
    what: string,
    changes: string[],
    isOwn: boolean,
    given: boolean | undefined,
    after: unknown,
  ][] = [
    ['stays when something else changes', ['data', 'status'], false, undefined, undefined],
    ['stays when the user changes something else', ['password'], true, undefined, undefined],
    ['is false when the user changes the email', ['email'], true, undefined, false],
    ['is absent when somebody else changes the email', ['email'], false, undefined, null],
    ['is what somebody else says of the email', ['email_verified'], false, true, true],
    ['is what somebody else says of another email', ['email', 'email_verified'], false, true, true],
    ['is false when somebody else says so of another email', ['email', 'email_verified'], false, false, false],
  ];
  for (const [what, changes, isOwn, given, after] of cases) {
    it(what, () => {
      expect(verifiedAfter({ changes, isOwn }, given)).to.equal(after);
    });
  }

  it('is never said by the user’s own token', () => {
    const own = { changes: ['data', 'email_verified'], isOwn: true };
    expect(() => {
      refuseOwnVerification(own);
    }).to.throw(Problem, 'cannot be set with a token of the same user');
    refuseOwnVerification({ ...own, isOwn: false });
    refuseOwnVerification({ ...own, changes: ['email', 'data'] });
  });
});
