import { expect } from 'chai';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeScratchTree, runTests, withTexts } from './mutant-runs.ts';

const source = 'export const sum = (a: number, b: number): number => a + b;\n';
const test = `
import { sum } from './sum.ts';
describe('sum', () => { it('adds', () => { if (sum(1, 2) !== 3) throw new Error('no sum'); }); });
`;

/** Never returns, and uses no CPU. */
const hanging = new Map([
  ['sum.ts', 'export const sum = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);\n'],
]);

describe('a run of tests over a broken tree', () => {
  let tree: ReturnType<typeof makeScratchTree>;
  let folder = '';
  before(() => {
    tree = makeScratchTree(['test/house/reporter.ts']);
    folder = tree.folder;
    writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(path.join(folder, 'sum.ts'), source);
    writeFileSync(path.join(folder, 'sum.test.ts'), test);
  });
  after(() => {
    tree.remove();
  });

  const tryText = (text: string) => {
    return withTexts(folder, new Map([['sum.ts', text]]), () => runTests(folder, ['sum.test.ts']));
  };

  it('notices a fault that a test fails on', async () => {
    const outcome = await tryText('export const sum = (a: number, b: number): number => a - b;');
    expect(outcome.verdict, outcome.output).to.equal('noticed');
  });

  it('does not notice a change that no test looks at', async () => {
    const outcome = await tryText('export const sum = (a: number, b: number): number => b + a;');
    expect(outcome.verdict, outcome.output).to.equal('not noticed');
  });

  it('takes code that cannot even be loaded for no proof', async () => {
    const outcome = await tryText('export const total = 0;');
    expect(outcome.verdict, outcome.output).to.equal('does not run');
  });

  it('takes a run that exceeds its time limit for one that noticed', async () => {
    const outcome = await withTexts(folder, hanging, () => runTests(folder, ['sum.test.ts'], { limit: 2_000 }));
    expect(outcome.verdict, outcome.output).to.equal('noticed');
  });

  it('is ended by its signal', async () => {
    const signal = AbortSignal.timeout(2_000);
    const attempt = withTexts(folder, hanging, () => runTests(folder, ['sum.test.ts'], { signal }));
    expect(await attempt.catch((error: unknown) => String(error))).to.contain('the run was ended');
  });

  it('leaves out the services where the tests need none', async () => {
    writeFileSync(path.join(folder, '.mocharc.json'), '{"require":["./no-service.ts"]}');
    const outcomes = [false, true].map((withoutServices) => runTests(folder, ['sum.test.ts'], { withoutServices }));
    const [withThem, withoutThem] = await Promise.all(outcomes);
    rmSync(path.join(folder, '.mocharc.json'));
    expect([withThem?.verdict, withoutThem?.verdict]).to.deep.equal(['does not run', 'not noticed']);
  });

  it('shares the Postgres of this process, unless the run is to have its own', async () => {
    const [name, before] = ['BOXGATE_TEST_POSTGRES', process.env['BOXGATE_TEST_POSTGRES']];
    process.env[name] = 'postgres://shared.test';
    const isShared = `if (process.env['${name}'] === undefined) throw new Error('alone');`;
    const shared = new Map([['sum.ts', `${source}${isShared}`]]);
    const verdicts = await withTexts(folder, shared, () =>
      Promise.all([false, true].map((ownPostgres) => runTests(folder, ['sum.test.ts'], { ownPostgres }))),
    );
    if (before === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = before;
    expect(verdicts.map(({ verdict }) => verdict)).to.deep.equal(['not noticed', 'does not run']);
  });

  it('restores the file, whatever came of it', () => {
    expect(readFileSync(path.join(folder, 'sum.ts'), 'utf8')).to.equal(source);
  });
});
