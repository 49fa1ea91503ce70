import { expect } from 'chai';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runTests, withPatch } from './mutant-runs.ts';

const source = 'export const sum = (a: number, b: number): number => a + b;\n';
const test = `
import { sum } from './sum.ts';
describe('sum', () => { it('adds', () => { if (sum(1, 2) !== 3) throw new Error('no sum'); }); });
`;
const patch = (line: string) => `Breaks: adding
Tests: sum.test.ts

diff --git a/sum.ts b/sum.ts
--- a/sum.ts
+++ b/sum.ts
@@ -1 +1 @@
-${source.trimEnd()}
+${line}
`;

describe('a run of tests over a broken tree', () => {
  let folder = '';
  before(() => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'boxgate-mutant-runs-')));
    mkdirSync(path.join(folder, 'test/house'), { recursive: true });
    copyFileSync('test/house/reporter.ts', path.join(folder, 'test/house/reporter.ts'));
    symlinkSync(realpathSync('node_modules'), path.join(folder, 'node_modules'));
    writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(path.join(folder, 'sum.ts'), source);
    writeFileSync(path.join(folder, 'sum.test.ts'), test);
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  const tryPatch = (line: string) => {
    writeFileSync(path.join(folder, 'x.patch'), patch(line));
    return withPatch(folder, path.join(folder, 'x.patch'), () => runTests(folder, ['sum.test.ts']));
  };

  it('notices a fault that a test fails on', async () => {
    const outcome = await tryPatch('export const sum = (a: number, b: number): number => a - b;');
    expect(outcome.verdict, outcome.output).to.equal('noticed');
  });

  it('does not notice a change that no test looks at', async () => {
    const outcome = await tryPatch('export const sum = (a: number, b: number): number => b + a;');
    expect(outcome.verdict, outcome.output).to.equal('not noticed');
  });

  it('takes code that cannot even be loaded for no proof', async () => {
    const outcome = await tryPatch('export const total = 0;');
    expect(outcome.verdict, outcome.output).to.equal('does not run');
  });

  it('takes the patch back, whatever came of it', () => {
    expect(readFileSync(path.join(folder, 'sum.ts'), 'utf8')).to.equal(source);
  });

  it('refuses a patch that does not apply', async () => {
    writeFileSync(path.join(folder, 'x.patch'), patch('x').replace('a + b', 'a * b'));
    const attempt = withPatch(folder, path.join(folder, 'x.patch'), () => Promise.resolve());
    expect(await attempt.catch((error: unknown) => String(error))).to.contain('patch does not apply');
  });
});
