import { expect } from 'chai';
import fc from 'fast-check';
import { equal } from '../../api/credentials/client-secret.ts';

describe('the comparison of secrets', () => {
  it('says what === says, for any two texts', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (left, right) => {
        expect(equal(left, right)).to.equal(left === right);
        expect(equal(left, left)).to.equal(true);
      }),
    );
  });

  const different: Record<string, readonly [string, string]> = {
    'texts of different lengths': ['abc', 'abcd'],
    'an empty text and another': ['', 'a'],
    'texts that differ in the last place': ['abcdef', 'abcdeg'],
    'texts that differ in their case': ['abc', 'Abc'],
  };
  for (const [what, [left, right]] of Object.entries(different)) {
    it(`tells ${what} apart`, () => {
      expect(equal(left, right)).to.equal(false);
    });
  }
});
