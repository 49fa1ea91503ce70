import { expect } from 'chai';
import { ManagementError } from '../../../api/client/management-error.ts';
import { watchApiAvailability } from '../../../operator/reconcile/api-availability.ts';
import { virtualTime } from '../../support/virtual-time.ts';

describe('watching whether the API can serve', () => {
  it('tells an outage with its reason, another reason once it has stayed, and the end', async () => {
    // E-29, E-30: replicas that are asked in turn may differ, and each reason is told in the status of each Box.
    const answers = ['', 'refused', 'recovery', 'refused', 'recovery', 'recovery', 'recovery'];
    expect(await toldOf(answers)).to.deep.equal(['refused new', 'recovery now', 'back']);
  });

  it('tells no outage before the API has served: in a new installation it begins after the operator', async () => {
    // E-30: no Warning in normal operation.
    expect(await toldOf(['refused', '', 'refused'])).to.deep.equal(['refused now', 'back', 'refused new', 'back']);
  });

  async function toldOf(answers: string[]): Promise<readonly string[]> {
    const told: string[] = [];
    const time = virtualTime();
    const watch = watchApiAvailability({
      async ask() {
        const answer = answers.shift() ?? '';
        if (answer !== '') throw new ManagementError('unavailable', answer);
      },
      onAway: (fault, isNew) => told.push(`${fault} ${isNew ? 'new' : 'now'}`),
      onReturn: () => told.push('back'),
      schedule: (wait, callback) => time.schedule(wait, callback),
    });
    await time.pass(60_000);
    watch.stop();
    return told;
  }
});
