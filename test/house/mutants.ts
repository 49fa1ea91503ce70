// `make mutants`: each patch of test/mutants breaks the code on purpose; one that no test notices is a hole in the
// tests. A patch says above its diff what it breaks and which test files must notice:
//
//     Breaks: a closed session is still accepted
//     Tests: test/api/db/session.test.ts test/oauth/check.test.ts
//
// All of them, a sample (`--sample 20 --seed x`), or those whose names begin with a word: `npm run mutants -- operator-`.
import { parseArgs } from 'node:util';
import { beginningWith, choose, readMutants } from './mutant-patches.ts';
import { makeScratchTree, runTests, withPatch } from './mutant-runs.ts';
import type { Mutant } from './mutant-patches.ts';

const { values: options, positionals: names } = parseArgs({
  options: { sample: { type: 'string' }, seed: { type: 'string' } },
  allowPositionals: true,
});
const named = beginningWith(names, readMutants('test/mutants'));
const mutants = choose(named, Number(options.sample ?? Infinity), options.seed ?? '');
const tree = makeScratchTree();
try {
  await requireGreen([...new Set(mutants.flatMap((mutant) => mutant.tests))].sort());
  const survivors = await tryAll(mutants);
  process.stdout.write(`${mutants.length - survivors} noticed, ${survivors} not noticed\n`);
  process.exitCode = survivors === 0 ? 0 : 1;
} finally {
  tree.remove();
}

/** A test that fails without any patch would count as having noticed each of them. */
async function requireGreen(tests: string[]): Promise<void> {
  const outcome = await runTests(tree.folder, tests);
  if (outcome.verdict === 'not noticed') return;
  throw new Error(`the tests fail without any patch, or do not run:\n${outcome.output}`);
}

async function tryAll(mutants: readonly Mutant[]): Promise<number> {
  let survivors = 0;
  for (const mutant of mutants) {
    const outcome = await withPatch(tree.folder, mutant.file, () => runTests(tree.folder, mutant.tests));
    process.stdout.write(`${outcome.verdict.padEnd(12)} ${mutant.name.padEnd(32)} ${mutant.breaks}\n`);
    if (outcome.verdict === 'noticed') continue;
    survivors += 1;
    if (outcome.verdict === 'does not run') process.stdout.write(`${outcome.output}\n`);
  }
  return survivors;
}
