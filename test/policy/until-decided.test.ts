import { expect } from 'chai';
import type { Needs } from '../../api/policy/needs.ts';
import { untilDecided, type Unsettled } from '../../api/policy/until-decided.ts';

describe('untilDecided', () => {
  /** Runs attempts with these results; returns the result of the last one, and what happened on the way. */
  async function run(results: readonly (string | undefined | Unsettled)[], canReadMore = true) {
    const log: string[] = [];
    const left = results.values();
    const attempt = (isLast: boolean) => {
      log.push(isLast ? 'last attempt' : 'attempt');
      return Promise.resolve(left.next().value);
    };
    const readMore = (needs: Needs) => Promise.resolve(void log.push(`reads ${needs}`));
    const result = await untilDecided(attempt, canReadMore ? readMore : undefined);
    return { result, log };
  }

  const cases: readonly (readonly [title: string, results: (string | undefined | Unsettled)[], log: string[]])[] = [
    ['decides at the first attempt', ['granted'], ['attempt']],
    ['takes undefined for a decision', [undefined], ['attempt']],
    ['repeats the attempt once policies are compiled', [{ uncompiled: [] }, 'granted'], ['attempt', 'attempt']],
    [
      'says that the attempt after the end of the time is the last one',
      [{ isOutOfTime: true }, 'granted'],
      ['attempt', 'last attempt'],
    ],
    [
      'compiles for the last attempt too',
      [{ isOutOfTime: true }, { uncompiled: [] }, 'granted'],
      ['attempt', 'last attempt', 'last attempt'],
    ],
    [
      'gives the decision on more of the request its own time',
      [{ isOutOfTime: true }, { undecided: 'changes' }, 'granted'],
      ['attempt', 'last attempt', 'reads changes', 'attempt'],
    ],
  ];
  for (const [title, results, log] of cases) {
    it(title, async () => {
      expect(await run(results)).to.deep.equal({ result: results.at(-1), log });
    });
  }

  it('takes an attempt that needs more than the whole request for a bug', async () => {
    const error: unknown = await run([{ undecided: 'changes' }], false).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(TypeError);
  });
});
