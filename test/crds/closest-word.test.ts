import { expect } from 'chai';
import fc from 'fast-check';
import { closestWord } from '../../crds/did-you-mean.ts';

const fields = [
  'id',
  'secret',
  'grant_types',
  'auth',
  'scope',
  'active',
  'name',
  'secretRef',
  'redirect_uri',
  'redirect_uris',
];

const cases: readonly (readonly [text: string, word: string | undefined, why: string])[] = [
  ['grant_type', 'grant_types', 'a letter is missing'],
  ['grants_types', 'grant_types', 'a letter too many'],
  ['grant_tipes', 'grant_types', 'a wrong letter'],
  ['grant_tpyes', 'grant_types', 'two letters exchanged'],
  ['grantTypes', 'grant_types', 'camel case'],
  ['GrantTypes', 'grant_types', 'Pascal case'],
  ['grant-types', 'grant_types', 'hyphens'],
  ['GRANT TYPES', 'grant_types', 'capitals and a blank'],
  ['secret_ref', 'secretRef', 'snake case where it is camel case'],
  ['secert', 'secret', 'two letters exchanged'],
  ['scopes', 'scope', 'a letter too many'],
  ['nmae', 'name', 'two letters exchanged in a short word'],
  ['redirect_url', 'redirect_uri', 'the closer of two'],
  ['redirect_urls', 'redirect_uris', 'the closer of two'],
  ['path', undefined, 'two of four letters differ'],
  ['xy', undefined, 'too short for a change'],
  ['colour', undefined, 'nothing is close'],
  ['', undefined, 'empty'],
  ['redirectUrl', 'redirect_uri', 'camel case and a wrong letter'],
  ['RedirectURIs', 'redirect_uris', 'capitals'],
  ['___', undefined, 'nothing but separators'],
  [`grant_types${'s'.repeat(60)}`, undefined, 'too long for a misspelling'],
];

describe('closestWord', () => {
  for (const [text, word, why] of cases) {
    it(`finds ${word ?? 'nothing'} for ${JSON.stringify(text.slice(0, 20))}: ${why}`, () => {
      expect(closestWord(text, fields)).to.equal(word);
    });
  }

  it('finds the first of equally close words', () => {
    expect(closestWord('rent', ['tent', 'bent'])).to.equal('tent');
  });

  it('finds a word with one change anywhere, and itself never', () => {
    const letter = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
    const word = fc.array(letter, { minLength: 4, maxLength: 20 }).map((letters) => letters.join(''));
    fc.assert(
      fc.property(word, fc.nat(), letter, (text, seed, put) => {
        const at = seed % text.length;
        const [start, end] = [text.slice(0, at), text.slice(at)];
        for (const changed of [start + put + end, start + end.slice(1), start + put + end.slice(1)]) {
          if (changed.length < 4) continue;
          expect(closestWord(changed, [text])).to.equal(changed === text ? undefined : text);
        }
      }),
    );
  });

  it('takes any text and words, and returns one of the words', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (text, words) => {
        const found = closestWord(text, words);
        expect(found === undefined || words.includes(found)).to.equal(true);
      }),
    );
  });
});
