// `make mutants`: each mutant of test/mutants breaks the code on purpose; one that no test notices is a hole in the
// tests. An entry of a table there says what it breaks, which test files must notice, and which lines of the code it
// replaces:
//
//     closed-session-lives:
//       breaks: a closed session is still accepted
//       tests: [check.test.ts, db/session.test.ts]
//       find: |
//         if (session.closedAt !== null) return 'closed';
//       replace: ''
//
// The lines are whole ones without their common indentation, and occur exactly once in the code: no path is needed, so
// that code can move. A mutant with several replacements has `changes`, a list of `find` and `replace`.
//
// The tests of all mutants share one Postgres, but for those that break what makes its template: api/db.
//
// All of them, a sample (`--sample 20 --seed x`), or those whose names begin with a word: `npm run mutants --
// operator-`. Before the first mutant all their tests run once; `--green` says that they have just passed.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { makeScratchTree, runTests, withTexts } from './mutant-runs.ts';
import { changedFiles, readSources } from './mutant-sources.ts';
import { beginningWith, choose, readMutants } from './mutant-tables.ts';
import { failedFilesIn } from './reporter.ts';
import { filesOfTheTree } from './tree.ts';
import { mochaGlobalSetup, mochaGlobalTeardown } from '../support/services.ts';
import { unitTests } from './unit-tests.ts';
import type { Outcome } from './mutant-runs.ts';
import type { Mutant } from './mutant-tables.ts';

/** Time limit of the tests of one mutant, in milliseconds. */
const limit = 300_000;

const { values: options, positionals: names } = parseArgs({
  options: {
    sample: { type: 'string' },
    seed: { type: 'string' },
    workers: { type: 'string' },
    green: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const files = filesOfTheTree();
const named = beginningWith(names, readMutants('test/mutants', files));
const mutants = choose(named, Number(options.sample ?? Infinity), options.seed ?? '');
const sources = readSources(files);
const broken = mutants.map((mutant) => ({ mutant, texts: changedFiles(sources, mutant.changes) }));
const workers = Math.min(Number(options.workers ?? availableParallelism()), mutants.length);
const unit = new Set(unitTests());

const interruption = new AbortController();
const { signal } = interruption;
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interruption.abort(name));

// One for each worker, since a mutant breaks a tree.
const trees = Array.from({ length: workers }, () => makeScratchTree(files));
const survivors: string[] = [];
try {
  await mochaGlobalSetup();
  if (!options.green) await requireGreen([...new Set(mutants.flatMap(({ tests }) => tests))].sort());
  await tryAll();
} finally {
  await mochaGlobalTeardown();
  for (const tree of trees) tree.remove();
}
for (const survivor of survivors) process.stdout.write(`survivor: ${survivor}\n`);
process.stdout.write(`${mutants.length - survivors.length} noticed, ${survivors.length} not noticed\n`);
process.exitCode = survivors.length === 0 ? 0 : 1;

/**
 * A test that fails without any mutant would count as having noticed each of them. Files that fail in the run of all
 * are run once more, alone: a loaded machine alone can make a test fail.
 */
async function requireGreen(tests: string[]): Promise<void> {
  const [tree] = trees;
  if (tree === undefined) throw new Error('there is no mutant to try, or no worker');
  const all = await runTests(tree.folder, tests, { signal, jobs: workers, toTheEnd: true });
  const failed = failedFilesIn(all.output);
  if (all.verdict !== 'not noticed' && failed.length === 0) throw notGreen(all);
  for (const test of failed) {
    process.stdout.write(`again        ${test} fails without any mutant\n`);
    const alone = await runTests(tree.folder, [test], { signal });
    if (alone.verdict !== 'not noticed') throw notGreen(alone);
  }
}

function notGreen({ output }: Outcome): Error {
  return new Error(`the tests fail without any mutant, or do not run:\n${output}`);
}

/** Each worker takes the next mutant when it has done with one. If a worker fails, the others end. */
async function tryAll(): Promise<void> {
  const waiting = broken.values();
  const work = async ({ folder }: { readonly folder: string }): Promise<void> => {
    for (const { mutant, texts } of waiting) {
      const started = performance.now();
      const withoutServices = mutant.tests.every((test) => unit.has(test));
      const ownPostgres = [...texts.keys()].some((file) => file.startsWith('api/db/'));
      const run = () => runTests(folder, mutant.tests, { signal, limit, withoutServices, ownPostgres });
      tell(mutant, await withTexts(folder, texts, run), performance.now() - started);
    }
  };
  const ends = trees.map((tree) => work(tree).catch((error: unknown) => interruption.abort(error)));
  await Promise.all(ends);
  if (signal.aborted) throw new Error('the mutants were not all tried', { cause: signal.reason });
}

function tell({ name, breaks }: Mutant, { verdict, output }: Outcome, milliseconds: number): void {
  const seconds = (milliseconds / 1000).toFixed(0).padStart(4);
  process.stdout.write(`${verdict.padEnd(12)} ${seconds} s  ${name.padEnd(40)} ${breaks}\n`);
  if (verdict === 'does not run') process.stdout.write(`${output}\n`);
  if (verdict !== 'noticed') survivors.push(`${name}: ${breaks}${verdict === 'does not run' ? ' (does not run)' : ''}`);
}
