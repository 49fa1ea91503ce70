import { expect } from 'chai';
import { isFoundIn, linearRegExp } from '../../api/policy/linear-regexp.ts';
import { Steps, TooManySteps } from '../../api/policy/steps.ts';

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
      expect(linearRegExp(pattern).test(text)).to.equal(found);
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
      expect(linearRegExp(pattern).test(`${'a'.repeat(30_000)}!`)).to.equal(false);
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
    ['(a\\Q(\\E){999}', /^must not quote with \\Q/],
  ];
  for (const [pattern, sentence] of refused) {
    it(`refuses ${JSON.stringify(pattern.slice(0, 40))}`, () => {
      expect(() => linearRegExp(pattern)).to.throw(Error, sentence);
    });
  }

  it('takes steps by the length of the text and the size of the program', () => {
    const [small, large] = [linearRegExp('^a'), linearRegExp('[ab]{500}$')];
    expect(large.stepsPerCharacter).to.be.greaterThan(50 * small.stepsPerCharacter);
    const text = 'ab'.repeat(5_000);
    expect(() => isFoundIn(small, text, new Steps(1_000))).not.to.throw();
    expect(() => isFoundIn(large, text, new Steps(1_000))).to.throw(TooManySteps);
  });
});
