import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beginningWith, choose, readMutants } from './mutant-patches.ts';

const diff = 'diff --git a/x.ts b/x.ts\nTests: not/a/header.ts\n';

describe('the patches of make mutants', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'boxgate-patches-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const write = (name: string, text: string) => {
    writeFileSync(path.join(folder, name), text);
  };

  it('say above the diff what they break and which tests must notice', () => {
    write('b.patch', `Breaks: nothing much\nTests: test/house/reporter.ts test/house/check.ts\n\n${diff}`);
    const [mutant] = readMutants(folder);
    expect(mutant).to.deep.include({
      name: 'b',
      breaks: 'nothing much',
      tests: ['test/house/reporter.ts', 'test/house/check.ts'],
    });
  });

  const refused = {
    'without Breaks': `Tests: test/house/check.ts\n${diff}`,
    'with a Tests line only inside the diff': `Breaks: x\n${diff}`,
    'naming a test file that is not there': `Breaks: x\nTests: test/house/gone.test.ts\n${diff}`,
  };
  for (const [what, text] of Object.entries(refused)) {
    it(`are refused ${what}`, () => {
      write('bad.patch', text);
      expect(() => readMutants(folder)).to.throw(/bad\.patch: (needs|no such)/);
    });
  }

  it('are sampled by the seed: the same ones for the same seed, others for another', () => {
    for (let n = 0; n < 20; n += 1) write(`${n}.patch`, `Breaks: x\nTests: test/house/check.ts\n${diff}`);
    const names = (count: number, seed: string) => choose(readMutants(folder), count, seed).map(({ name }) => name);
    expect(names(5, 'one')).to.have.length(5).and.deep.equal(names(5, 'one'));
    expect(names(5, 'one')).to.not.deep.equal(names(5, 'two'));
    expect(names(Infinity, '')).to.have.length(20);
  });

  it('are chosen by the beginnings of their names, one of which that names none is told of', () => {
    for (const name of ['ab', 'ac', 'b']) write(`${name}.patch`, `Breaks: x\nTests: test/house/check.ts\n${diff}`);
    const names = (...words: string[]) => beginningWith(words, readMutants(folder)).map(({ name }) => name);
    expect(names('a')).to.deep.equal(['ab', 'ac']);
    expect(names('ac', 'b')).to.deep.equal(['ac', 'b']);
    expect(names()).to.have.length(3);
    expect(() => names('b', 'c')).to.throw('begins with c');
  });

  it('apply to the code as it is: one that does not would break nothing', () => {
    const stale = readMutants('test/mutants').filter(
      ({ file }) => spawnSync('git', ['apply', '--check', path.resolve(file)]).status !== 0,
    );
    expect(stale.map(({ name }) => name)).to.deep.equal([]);
  });
});
