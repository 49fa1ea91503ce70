import { expect } from 'chai';
import fc from 'fast-check';
import { createPolicyIndex } from '../../api/policy/policy-index.ts';
import { decide } from '../../api/policy/decide.ts';
import { MILLISECONDS_PER_DECISION } from '../../api/policy/steps.ts';
import { leastThreadTime } from '../support/thread-time.ts';
import { sampleRequest, storedPolicy } from './policies.ts';

/** The machine of a test may be slow, and its processor clock coarse. */
const GENEROUS = 8;

const piece = fc.constantFrom('a', '[ab]', 'a?', '(a|b|ab)', '.', '[^a]', '\\w', '\\b', 'é', '(?i:aB)', '\\pL');
const repeat = fc.constantFrom('', '*', '+', '{20}', '{200}', '{3,90}', '*?');
const pattern = fc
  .array(fc.tuple(piece, repeat), { minLength: 1, maxLength: 5 })
  .chain((pieces) =>
    fc.constantFrom('', 'c', '$', '[cd]', '(x|y)').map((end) => `${pieces.map((one) => one.join('')).join('')}${end}`),
  );
const alphabet = fc.constantFrom('ab', 'a', 'aB', 'aé', 'ab\n', 'abc');
const text = fc
  .tuple(alphabet, fc.constantFrom(200, 2_000, 20_000, 100_000), fc.integer())
  .map(([letters, length, seed]) => chosenLetters(letters, length, seed));
const many = fc.tuple(text, fc.constantFrom(1, 50, 2_000)).map(([long, count]) => {
  const length = Math.ceil(long.length / count);
  return Array.from({ length: count }, (_, at) => long.slice(at * length, (at + 1) * length));
});

/** Rules of each engine that test every text of the body with the pattern. */
const rules = {
  matcho: (p: string) => ({ engine: 'matcho', matcho: { body: { l: { $contains: `#${p}` } } } }),
  'matcho in a choice': (p: string) => ({
    engine: 'matcho',
    matcho: { body: { l: { $every: { '$one-of': [`#${p}$`, `#^${p}`, { $not: `#${p}` }, 'not-blank?'] } } } },
  }),
  'json-schema': (p: string) => ({
    engine: 'json-schema',
    schema: { properties: { body: { properties: { l: { not: { contains: { pattern: p } } } } } } },
  }),
  'json-schema by keys': (p: string) => ({
    engine: 'json-schema',
    schema: { properties: { body: { properties: { k: { patternProperties: { [p]: false } } } } } },
  }),
  'json-schema without patterns': () => ({
    engine: 'json-schema',
    schema: { properties: { body: { properties: { l: { uniqueItems: true, items: { maxLength: 3 } } } } } },
  }),
  cel: (p: string) => ({ engine: 'cel', expression: `body.l.exists(x, x.matches(r'''${p}'''))` }),
  'cel in loops': (p: string) => ({
    engine: 'cel',
    expression: `body.l.all(x, body.l.exists(y, x + y == '' || y.matches(r'''${p}'''))) || false`,
  }),
  'cel over the keys': (p: string) => ({ engine: 'cel', expression: `body.k.exists(x, x.matches(r'''${p}'''))` }),
  complex: (p: string) => ({
    engine: 'complex',
    or: [
      { engine: 'matcho', matcho: { body: { l: { $contains: `#${p}` } } } },
      { engine: 'cel', expression: `body.l.exists(x, x.matches(r'''${p}'''))` },
    ],
  }),
};

describe('time of a decision', () => {
  for (const [name, rule] of Object.entries(rules)) {
    it(`R-01 ${name}: no pattern and no input take longer than the bound`, async () => {
      await fc.assert(
        fc.asyncProperty(pattern, many, async (source, list) => {
          const body = { l: list, k: Object.fromEntries(list.map((key, at) => [`${String(at)}${key}`, at])) };
          const index = createPolicyIndex();
          for (const id of ['a', 'b', 'c']) index.set(storedPolicy({ id, subjects: 'anyone', ...rule(source) }));
          decide(index.candidates({}), sampleRequest());
          const time = await leastThreadTime(() => decide(index.candidates({}), sampleRequest({ body })));
          expect(time).to.be.lessThan(GENEROUS * MILLISECONDS_PER_DECISION);
        }),
        { numRuns: 12, interruptAfterTimeLimit: 20_000 },
      );
    });
  }

  it('R-01 literals that are compared with a large object do not take longer than the bound', async () => {
    const large = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`k${String(at)}`, at]));
    const literals = Array.from({ length: 5_000 }, (_, at) => ({ a: at }));
    const index = createPolicyIndex();
    index.set(storedPolicy({ engine: 'matcho', subjects: 'anyone', matcho: { body: { $enum: literals } } }));
    const time = await leastThreadTime(() => decide(index.candidates({}), sampleRequest({ body: large })));
    expect(time).to.be.lessThan(GENEROUS * MILLISECONDS_PER_DECISION);
  });
});

function chosenLetters(letters: string, length: number, seed: number): string {
  const from = Array.from(letters);
  let state = seed | 1;
  return Array.from({ length }, () => {
    state = Math.imul(state ^ (state >>> 13), 0x5bd1e995);
    return from[(state >>> 3) % from.length] ?? 'a';
  }).join('');
}
