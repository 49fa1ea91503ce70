import { expect } from 'chai';
import { startApi } from '../../../support/api.ts';
import type { TestApi } from '../../../support/api.ts';
import { leastThreadTime } from '../../../support/thread-time.ts';

describe('time that a policy takes', () => {
  let api: TestApi;

  before(async () => {
    api = await startApi();
    await api.declare('shop', [
      {
        kind: 'AccessPolicy',
        id: 'nasty',
        engine: 'matcho',
        subjects: 'anyone',
        matcho: { body: { l: { $contains: '#a[ab]{250}[cd]' } } },
      },
    ]);
  });
  after(() => api.stop());

  it('R-01 a stranger cannot hold the event loop with texts that are expensive for a policy for anyone', async () => {
    const texts = () => Array.from({ length: 50 }, () => randomLetters(2_000));
    const post = async () => {
      const response = await fetch(`${api.url}/boxes/shop/Client`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ l: texts() }),
      });
      expect(response.status).to.equal(401);
    };
    // The bound is 20 ms for the policies; the rest is the client in the same thread, and a slow machine.
    expect(await leastThreadTime(post)).to.be.lessThan(200);
  });

  it('R-01 a policy that gives up is logged once and counted', async () => {
    const lines = api.logLines.filter((line) => line.includes('"policy":"nasty"'));
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/gave up/);
    const metrics = await fetch(`${api.managementUrl}/metrics`, {
      headers: { Authorization: `Bearer ${api.managementKey}` },
    });
    expect(await metrics.text()).to.match(/^boxgate_policy_failures_total [1-9]/m);
  });
});

function randomLetters(length: number): string {
  return Array.from({ length }, () => (Math.random() < 0.5 ? 'a' : 'b')).join('');
}
