import { expect } from 'chai';
import { createFailedPolicies } from '../../api/policy/decide.ts';

describe('failed policies', () => {
  it('R-01 are reported once for each reason, and counted each time', () => {
    const reports: unknown[] = [];
    const failed = createFailedPolicies((box, { policy, reason }) => reports.push([box, policy, reason]));
    for (const box of ['a', 'b', 'a', 'a']) failed.note(box, { policy: 'p', reason: 'gave up' });
    failed.note('a', { policy: 'p', reason: 'is invalid' });
    expect(failed.count).to.equal(5);
    expect(reports).to.deep.equal([
      ['a', 'p', 'gave up'],
      ['b', 'p', 'gave up'],
      ['a', 'p', 'is invalid'],
    ]);
  });

  it('do not take memory without end', () => {
    let reports = 0;
    const failed = createFailedPolicies(() => (reports += 1));
    for (let round = 0; round < 2; round += 1) {
      for (let at = 0; at < 1001; at += 1) failed.note('a', { policy: String(at), reason: 'gave up' });
    }
    expect(reports).to.equal(2002);
  });
});
