import { expect } from 'chai';
import { createDeadline, unlessAborted } from '../../program/scheduling.ts';

const never = new Promise<never>(() => undefined);

describe('a deadline', () => {
  it('ends a wait with its error once its time has passed', async () => {
    const deadline = createDeadline(1, () => new Error('too late'));
    const error = await unlessAborted(never, deadline.signal).catch((reason: unknown) => reason);
    expect(error).to.be.an('error').with.property('message', 'too late');
  });

  it('lets work end that is ready in time', async () => {
    const deadline = createDeadline(600_000, () => new Error('too late'));
    expect(await unlessAborted(Promise.resolve('ready'), deadline.signal)).to.equal('ready');
    deadline.lift();
  });

  it('does not pass once it is lifted', async () => {
    const lifted = createDeadline(1, () => new Error('too late'));
    lifted.lift();
    const later = createDeadline(2, () => new Error('later'));
    await unlessAborted(never, later.signal).catch(() => undefined);
    expect(lifted.signal.aborted).to.equal(false);
  });
});
