import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { definedIds, definitionFaults, namedIds } from './requirement-ids.ts';
import { filesOfTheTree } from './tree.ts';

const read = (file: string): string => readFileSync(file, 'utf8');

describe('the IDs in test titles', () => {
  const files = filesOfTheTree();
  const pages = files.filter((file) => /^docs\/[^/]*\/[^/]*\.md$/.test(file));
  const defined = pages.flatMap((page) => definedIds(read(page)));
  // The test of the check itself names IDs that nobody defines.
  const tests = files.filter((file) => /^test\/.*\.ts$/.test(file) && !file.startsWith('test/house/requirement-ids'));
  const named = new Set(tests.flatMap((file) => [...namedIds(read(file))]));

  it('are defined once, in a page', () => {
    expect(named.size).to.be.above(200);
    expect(definitionFaults(named, defined)).to.deep.equal([]);
  });

  it('are the only ones that docs/maintainers/requirements.md defines', () => {
    const unused = definedIds(read('docs/maintainers/requirements.md')).filter((id) => !named.has(id));
    expect(unused).to.deep.equal([]);
  });

  const titles: Readonly<Record<string, [source: string, ids: string[]]>> = {
    'at the beginning': ["it('T-01 gives a token', () => {", ['T-01']],
    'at the beginning of a template': ['it(`R-B1: ${what}`, () => {', ['R-B1']],
    'as the key of a row': ["  'I12: says nothing': {},", ['I12']],
    'several at once': ["describe('X-14 I12: secrets', () => {", ['X-14', 'I12']],
    'with a number': ["it('peer defect 9: tries again', () => {", ['peer defect 9']],
    'of the Kubernetes client': ["it('row 12: end in time', () => {", ['row 12']],
    'at the end': ["it('ends it (S-03)', () => {", ['S-03']],
  };
  for (const [where, [source, ids]] of Object.entries(titles)) {
    it(`are found ${where}`, () => {
      expect([...namedIds(source)].sort()).to.deep.equal([...ids].sort());
    });
  }

  it('are distinguished from other texts', () => {
    const source = "it('uses P-256 and SHA-25, X-AB', () => { row 7; I5; call('AR-01'); });";
    expect([...namedIds(source)]).to.deep.equal([]);
  });

  it('would be refused without a definition, and with two', () => {
    const page = '| ID | requirement |\n|---|---|\n| T-01 | A. |\n| T-01 | B. |\n| row 9 | C. |\n';
    expect(definitionFaults(new Set(['T-01', 'row 9', 'X-99']), definedIds(page))).to.deep.equal([
      'T-01 is defined twice',
      'X-99 is not defined in a page',
    ]);
  });
});
