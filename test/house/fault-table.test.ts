import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { compareFaults, faultRows, idsInTitles } from './fault-table.ts';
import { filesOfTheTree } from './tree.ts';

describe('the faults, invariants and defects of docs/maintainers/reliability.md', () => {
  const faults = Array.from({ length: 32 }, (_, index) => `F-${String(index + 1).padStart(2, '0')}`);
  const invariants = Array.from({ length: 12 }, (_, index) => `I${String(index + 1)}`);
  const defects = Array.from({ length: 15 }, (_, index) => `peer defect ${String(index + 1)}`);

  it('have one row each, with tests of that name; where there is none, the page says so', () => {
    const files = filesOfTheTree().filter((file) => /^test\/(?!house\/).*\.test\.ts$/.test(file));
    const tests = new Map(files.map((file) => [file, idsInTitles(readFileSync(file, 'utf8'))]));
    const rows = faultRows(readFileSync('docs/maintainers/reliability.md', 'utf8'));
    expect(compareFaults([...faults, ...invariants, ...defects], rows, tests)).to.deep.equal([]);
  });

  const tests = new Map([
    ['test/a.test.ts', idsInTitles("it('F-01 and I5: goes on', () => {")],
    ['test/b.test.ts', idsInTitles('describe(`F-02 ${what}`, () => {')],
  ]);
  const cases = {
    'a row that is missing': ['| F-01 | x | `test/a.test.ts` |', 'F-02 must have one row'],
    'a file without such a test': [
      '| F-01 | x | `test/a.test.ts` |\n| F-02 | y | `test/a.test.ts` |',
      'test/a.test.ts has no test of the name F-02',
    ],
    'a row that names no test, though there is one': [
      '| F-01 | x | `test/a.test.ts` |\n| F-02 | y | none |',
      'the row of F-02 does not name test/b.test.ts',
    ],
  } as const;
  for (const [what, [page, fault]] of Object.entries(cases)) {
    it(`would be refused with ${what}`, () => {
      expect(compareFaults(['F-01', 'F-02'], faultRows(page), tests)).to.deep.equal([fault]);
    });
  }
});
