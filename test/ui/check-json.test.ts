import { expect } from 'chai';
import fc from 'fast-check';
import { checkJson } from '../../api/ui/check-json.ts';

/** Texts with the line and column of their first fault, and the character there. */
const faulty = [
  ['', 1, 1, ''],
  ['  ', 1, 3, ''],
  ['{"a": 1', 1, 8, ''],
  ['{"a": 1,}', 1, 9, '}'],
  ['{"a": 1,\n  b: 2}', 2, 3, 'b'],
  ['[1, 2,\n\n]', 3, 1, ']'],
  ['[1 2]', 1, 4, '2'],
  ["{'a': 1}", 1, 2, "'"],
  ['{"a" 1}', 1, 6, '1'],
  ['"tab\there"', 1, 5, '\t'],
  ['"\\x41"', 1, 2, '\\'],
  ['"open', 1, 6, ''],
  ['01', 1, 2, '1'],
  ['1.', 1, 2, '.'],
  ['+1', 1, 1, '+'],
  ['nulls', 1, 5, 's'],
  ['True', 1, 1, 'T'],
  ['[]]', 1, 3, ']'],
  ['[}', 1, 2, '}'],
  ['{]', 1, 2, ']'],
  ['{} 😀', 1, 4, '😀'],
] as const;

describe('the check of JSON while it is typed', () => {
  for (const [text, line, column, found] of faulty) {
    it(`finds the fault of ${JSON.stringify(text)} in line ${String(line)}, column ${String(column)}`, () => {
      expect(checkJson(text)).to.deep.equal({ line, column, found });
    });
  }

  it('accepts what JSON.parse accepts, and nothing else', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"\\u00e4"',
      '1',
      '-0.5e+3',
      'true',
      'null',
      ' ',
      '\n',
    );
    const texts = fc.oneof(
      fc.json(),
      fc.array(pieces, { maxLength: 8 }).map((found) => found.join('')),
      fc.string(),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(checkJson(text) === undefined, text).to.equal(isJson(text));
      }),
      { numRuns: 5_000 },
    );
  });

  it('needs no stack for a million levels', () => {
    const depth = 1_000_000;
    expect(checkJson('['.repeat(depth) + ']'.repeat(depth))).to.equal(undefined);
    expect(checkJson('['.repeat(depth))).to.deep.equal({ line: 1, column: depth + 1, found: '' });
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
