import { expect } from 'chai';
import { RE2JS } from 're2js';
import { linearRegExp } from '../../api/policy/linear-regexp.ts';
import type { LinearRegExp } from '../../api/policy/linear-regexp.ts';
import { Steps, TooManySteps } from '../../api/policy/steps.ts';
import { countedSteps } from './policies.ts';

describe('linear regular expressions', () => {
  const rows: [pattern: string, text: string, found: boolean][] = [
    ['^/Client/[a-z]+$', '/Client/reports', true],
    ['^/Client/[a-z]+$', '/Client/', false],
    ['lie', '/Client/', true],
    ['', 'anything', true],
    ['a|b', 'xxb', true],
    ['^.$', '😀', true],
    ['^\\S+$', 'a b', false],
    ['(?i)REPORTS', 'reports', true],
    // JavaScript's spelling, where RE2 has another one.
    ['^(?<year>\\d{4})$', '2026', true],
    ['^\\u0041\\/B$', 'A/B', true],
    ['^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', '0199c0de-0000-7000-8000-000000000001', true],
  ];
  for (const [pattern, text, found] of rows) {
    it(`${JSON.stringify(pattern)} ${found ? 'is' : 'is not'} found in ${JSON.stringify(text)}`, () => {
      expect(linearRegExp(pattern).isFoundIn(text, new Steps())).to.equal(found);
    });
  }

  for (const pattern of [
    '(a+)+$',
    '(a|aa)+$',
    '^(a|a?)+$',
    '(.*a){12}$',
    '^(?:a{0,10}){0,10}$',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
  ]) {
    it(`answers the catastrophic ${pattern} over 30,000 characters`, () => {
      expect(linearRegExp(pattern).isFoundIn(`${'a'.repeat(30_000)}!`, countedSteps())).to.equal(false);
    });
  }

  const refused: [pattern: string, sentence: RegExp][] = [
    ['(', /^is not a regular expression of RE2 \(missing closing/],
    ['a(?=b)', /^is not a regular expression of RE2/],
    ['(?<!a)b', /^is not a regular expression of RE2/],
    ['(a)\\1', /^is not a regular expression of RE2/],
    ['a{2,1}', /^is not a regular expression of RE2/],
    ['a'.repeat(1001), /^must have at most 1000 characters$/],
    ['a{1000}{1000}', /^is /],
    ['((a{10}){10}){100}', /^is /],
    [`(${'ab'.repeat(100)}){90}`, /^is too large a regular expression/],
    [`(${'ab'.repeat(400)}){999}`, /^is too large a regular expression/],
    [`(aaaa[(]){999}`, /^is too large a regular expression/],
    [`([^](${'a'.repeat(900)})]){999}`, /^is too large a regular expression/],
    [`(${'a'.repeat(900)}[[:alpha:](]){999}`, /^is too large a regular expression/],
    [`(${'a'.repeat(900)}[[:none:](]){999}`, /^is /],
    ['(a\\Q(\\E){999}', /^must not quote with \\Q/],
  ];
  for (const [pattern, sentence] of refused) {
    it(`refuses ${JSON.stringify(pattern.slice(0, 40))}`, () => {
      expect(() => linearRegExp(pattern)).to.throw(Error, sentence);
    });
  }

  it('compiles no pattern whose estimate is too large, also with a class of POSIX in a class', () => {
    const compile = RE2JS.compile.bind(RE2JS);
    let compiled = 0;
    RE2JS.compile = (...args) => {
      compiled += 1;
      return compile(...args);
    };
    try {
      for (const part of ['a', '[[:alpha:](]', '[^[:^alpha:])]', '[][:word:]()]']) {
        expect(() => linearRegExp(`(${'a'.repeat(900)}${part}){999}`), part).to.throw(Error, /^is too large/);
      }
    } finally {
      RE2JS.compile = compile;
    }
    expect(compiled).to.equal(0);
  });

  it('takes steps by the length of the text, and for a short one by the size of the program', () => {
    const [small, large] = [linearRegExp('^ab'), linearRegExp('[ab]{100}$')];
    expect(stepsOf(small, 'ababa')).to.be.lessThan(2);
    expect(stepsOf(large, 'ababa')).to.be.greaterThan(2 * stepsOf(small, 'ababa'));
    expect(stepsOf(small, 'ab'.repeat(5_000))).to.be.within(50, 200);
  });

  for (const pattern of ['a[ab]{250}[cd]', '(a?){200}b$', 'a[ab]{200}\\B[cd]', '(?i)a[ab]{20}[cd]']) {
    it(`R-01 ${pattern} stops in the middle of a text when the time is over`, () => {
      let readings = 0;
      const timer = { isOver: () => (readings += 1) > 5 };
      const text = randomLetters(100_000);
      const steps = new Steps(undefined, () => timer);
      expect(() => linearRegExp(pattern).isFoundIn(text, steps)).to.throw(TooManySteps);
      expect(readings).to.equal(6);
    });
  }

  it('answers the same in a long text as in a short one', () => {
    for (const pattern of ['b{3}a?c', '(?i)X', '^a.*z$', '[^a]{2}', '\\bz', 'é😀', '(a|b)*z|y']) {
      const expression = linearRegExp(pattern);
      for (const end of ['', 'x', ' z', 'bbbc', 'é😀', 'bb']) {
        const long = `${'a'.repeat(5_000)}${end}`;
        expect(expression.isFoundIn(long, new Steps()), pattern).to.equal(new RegExp(jsOf(pattern)).test(long));
      }
    }
  });
});

/** RE2 reads flags in the pattern. */
function jsOf(pattern: string): string {
  return pattern.replace('(?i)X', '[xX]');
}

/** Letters of which an automaton with "a, then n letters" meets few twice. */
function randomLetters(length: number): string {
  return Array.from({ length }, () => (Math.random() < 0.5 ? 'a' : 'b')).join('');
}

/** Returns the least number of steps with which the text can be tested, in quarters. */
function stepsOf(expression: LinearRegExp, text: string): number {
  for (let allowed = 0; ; allowed += 0.25) {
    try {
      expression.isFoundIn(text, new Steps(allowed));
      return allowed;
    } catch (error) {
      if (!(error instanceof TooManySteps)) throw error;
    }
  }
}
