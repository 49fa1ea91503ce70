import { expect } from 'chai';
import { setImmediate as breathe } from 'node:timers/promises';
import { forEachConcurrently } from '../../../../operator/kube/client/concurrency.ts';

describe('calls of the Kubernetes API that are made at once', () => {
  async function most(lengths: readonly number[]): Promise<number> {
    let [now, found] = [0, 0];
    await forEachConcurrently(
      lengths,
      async () => {
        now += 1;
        found = Math.max(found, now);
        await breathe();
        now -= 1;
      },
      (length) => length,
    );
    return found;
  }

  const cases: [what: string, lengths: readonly number[], atOnce: number][] = [
    ['small ones', Array.from({ length: 40 }, () => 500), 16],
    ['fewer than may run at once', [500, 500], 2],
    ['16,384 characters each', Array.from({ length: 40 }, () => 16_384), 16],
    ['60,000 characters each', Array.from({ length: 40 }, () => 60_000), 1],
    ['one large among many small ones', [200_000, ...Array.from({ length: 39 }, () => 500)], 17],
    ['many large among small ones', Array.from({ length: 40 }, (_, nth) => (nth % 2 === 0 ? 60_000 : 500)), 17],
  ];
  for (const [what, lengths, atOnce] of cases) {
    it(`R-53 are ${String(atOnce)}: ${what}`, async () => {
      expect(await most(lengths)).to.equal(atOnce);
    });
  }
});
