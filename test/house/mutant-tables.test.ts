import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { changedFiles, readSources } from './mutant-sources.ts';
import { beginningWith, choose, readMutants } from './mutant-tables.ts';
import { filesOfTheTree } from './tree.ts';

const files = ['test/one/a.test.ts', 'test/two/a.test.ts', 'api/b.test.ts', 'api/b.ts'];
const entry = `
  breaks: nothing much
  tests: [one/a.test.ts, b.test.ts]
  find: |
    if (a) {
      b();
  replace: ''
`;

describe('the tables of make mutants', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'boxgate-mutant-tables-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const write = (table: string, text: string) => {
    writeFileSync(path.join(folder, table), text);
  };
  const read = (text: string) => {
    write('x.yaml', text);
    return readMutants(folder, files);
  };

  it('state what a mutant breaks, which tests must notice, and which text it replaces', () => {
    expect(read(`m:${entry}`)).to.deep.equal([
      {
        name: 'm',
        breaks: 'nothing much',
        tests: ['test/one/a.test.ts', 'api/b.test.ts'],
        changes: [{ find: 'if (a) {\n  b();\n', replace: '' }],
      },
    ]);
  });

  it('can replace several texts by one mutant', () => {
    const [mutant] = read(
      'm: {breaks: x, tests: [b.test.ts], changes: [{find: a, replace: b}, {find: c, replace: d}]}',
    );
    expect(mutant?.changes).to.deep.equal([
      { find: 'a', replace: 'b' },
      { find: 'c', replace: 'd' },
    ]);
  });

  const refused = {
    'without breaks': [entry.replace('breaks:', 'broken:'), 'x.yaml: m: needs breaks'],
    'without a test': [entry.replace(/\[.*\]/, '[]'), 'x.yaml: m: needs breaks'],
    'without find': [entry.replace('find:', 'sought:'), 'x.yaml: m: needs breaks'],
    'with a word that is unknown': [`${entry}  seconds: 3\n`, 'x.yaml: m: needs breaks'],
    'with a test file that does not exist': [entry.replace('b.test.ts', 'c.test.ts'), 'no such test file: c.test.ts'],
    'with a test file of another ending': [entry.replace('b.test.ts', 'b.ts'), 'no such test file: b.ts'],
    'with the end of the name of a test file': [entry.replace('one/a', 'ne/a'), 'no such test file: ne/a.test.ts'],
    'with a test file that has a namesake': [
      entry.replace('one/a.test.ts', 'a.test.ts'),
      'a.test.ts may be test/one/a.test.ts or test/two/a.test.ts: put its folder in front',
    ],
    'named twice in a table': [`${entry}m:${entry}`, 'Map keys must be unique'],
  } as const;
  for (const [what, [text, message]] of Object.entries(refused)) {
    it(`refuse a mutant ${what}`, () => {
      expect(() => read(`m:${text}`)).to.throw(message);
    });
  }

  it('refuse a mutant named in two tables', () => {
    write('w.yaml', `m:${entry}`);
    expect(() => read(`m:${entry}`)).to.throw('more than one mutant is named m');
  });

  it('refuse another file in their folder, whose mutants nobody would try', () => {
    write('m.patch', 'diff --git');
    expect(() => read(`m:${entry}`)).to.throw('tables (.yaml) only, not m.patch');
  });

  it('refuse a table that is no map', () => {
    expect(() => read('[m]')).to.throw('x.yaml must map names to mutants');
  });

  it('are sampled by the seed: the same mutants for the same seed, others for another', () => {
    const mutants = read(Array.from({ length: 20 }, (_, n) => `m${n}:${entry}`).join(''));
    const names = (count: number, seed: string) => choose(mutants, count, seed).map(({ name }) => name);
    expect(names(5, 'one')).to.have.length(5).and.deep.equal(names(5, 'one'));
    expect(names(5, 'one')).to.not.deep.equal(names(5, 'two'));
    expect(names(Infinity, '')).to.have.length(20);
  });

  it('are searched by the beginnings of names; a beginning of no name is an error', () => {
    const mutants = read(['ab', 'ac', 'b'].map((name) => `${name}:${entry}`).join(''));
    const names = (...words: string[]) => beginningWith(words, mutants).map(({ name }) => name);
    expect(names('a')).to.deep.equal(['ab', 'ac']);
    expect(names('ac', 'b')).to.deep.equal(['ac', 'b']);
    expect(names()).to.have.length(3);
    expect(() => names('b', 'c')).to.throw('begins with c');
  });

  it('fit the code as it is: each text to find occurs exactly once', () => {
    const tree = filesOfTheTree();
    const sources = readSources(tree);
    const faults = readMutants('test/mutants', tree).flatMap(({ name, changes }) => {
      try {
        return changedFiles(sources, changes).size > 0 ? [] : [`${name}: changes no file`];
      } catch (error) {
        return [`${name}: ${String(error)}`];
      }
    });
    expect(faults).to.deep.equal([]);
  });
});
