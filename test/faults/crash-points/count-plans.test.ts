import { expect } from 'chai';
import { seededRandom } from '../../support/random.ts';
import { countPlans } from './count-plans.ts';
import { plansOf } from './write-log.ts';

describe('the count of plans', () => {
  const plans = plansOf(['a', 'b']);

  it('takes all, or a sample', () => {
    expect(countPlans(seededRandom(), 'all').some(plans)).to.deep.equal(plans);
    const sample = countPlans(seededRandom(), '2').some(plans);
    expect(new Set(sample).size).to.equal(2);
    expect(plans).to.include.members([...sample]);
  });

  it('fails with fewer plans than one for each way and write', () => {
    const count = countPlans(seededRandom(), 'all');
    for (const { write } of count.some(plans.slice(1))) count.ran(write, true, []);
    expect(() => count.over(2)).to.throw('7 plans for 2 writes');
  });

  it('fails with a violation, and with a write that never came', () => {
    for (const [isMet, violations, said] of [
      [true, ['I2 a token lives'], 'a: I2 a token lives'],
      [false, [], 'a: the write never came'],
    ] as const) {
      const count = countPlans(seededRandom(), '1');
      count.some(plans);
      count.ran('a', isMet, violations);
      expect(() => count.over(2)).to.throw(said);
    }
  });

  for (const each of ['all', '1'])
    it(`fails when no write was recorded, with ${each}`, () => {
      const count = countPlans(seededRandom(), each);
      count.some([]);
      expect(() => count.over(0)).to.throw('no write was recorded');
    });

  for (const each of ['yes', '', '0', '-1', '1.5'])
    it(`BOXGATE_CRASH_POINTS refuses '${each}'`, () => {
      expect(() => countPlans(seededRandom(), each)).to.throw(
        `BOXGATE_CRASH_POINTS must be all or a whole number from 1: ${each}`,
      );
    });

  it('tries a write that did not come at its place, and then before', async () => {
    const tried: (number | string)[] = [];
    const plan = plans.find(({ write }) => write === 'b');
    if (plan === undefined) throw new Error('no plan');
    const outcome = await countPlans(seededRandom(), 'all').untilMet(plan, async ({ place, byPlace, write }) => {
      tried.push(byPlace === true ? place : write);
      return { isMet: place === 1, violations: [`of ${String(place)}`] };
    });
    expect(tried).to.deep.equal(['b', 2, 1]);
    expect(outcome).to.deep.equal({ isMet: true, violations: ['of 2', 'of 2', 'of 1'] });
  });

  it('tells what was found before something that stops it', async () => {
    const count = countPlans(seededRandom(), 'all');
    const [first, second] = count.some(plans);
    if (first === undefined || second === undefined) throw new Error('no plans');
    count.ran('the first', true, ['I2 a token lives']);
    const stopped: unknown = await count
      .untilMet(second, () => Promise.reject(new Error('the API never answered')))
      .catch((error: unknown) => error);
    expect(stopped).to.have.property('message', 'the first: I2 a token lives\na, after: the API never answered');
  });
});
