import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** One deliberate fault: a patch file with its two header lines. */
export interface Mutant {
  readonly name: string;
  readonly file: string;
  /** What no longer holds under the patch, as a sentence. */
  readonly breaks: string;
  /** The test files of which at least one must fail under it. */
  readonly tests: readonly string[];
}

/** The patches of a folder by name. Throws where a header line is missing or names a test file that is not there. */
export function readMutants(folder: string): Mutant[] {
  return globSync('*.patch', { cwd: folder })
    .sort()
    .map((name) => parse(path.join(folder, name)));
}

function parse(file: string): Mutant {
  const [header = ''] = readFileSync(file, 'utf8').split(/^diff --git /m);
  const breaks = /^Breaks: (.+)$/m.exec(header)?.[1];
  const tests = /^Tests: (.+)$/m.exec(header)?.[1]?.trim().split(/\s+/);
  if (breaks === undefined || tests === undefined) throw new Error(`${file}: needs a line Breaks: and a line Tests:`);
  const missing = tests.filter((test) => globSync(test).length === 0);
  if (missing.length > 0) throw new Error(`${file}: no such test file: ${missing.join(', ')}`);
  return { name: path.basename(file, '.patch'), file, breaks, tests };
}

/** Those whose name begins with one of these words; all where there is no word. Throws where a word names none. */
export function beginningWith(words: readonly string[], mutants: readonly Mutant[]): readonly Mutant[] {
  if (words.length === 0) return mutants;
  const idle = words.filter((word) => !mutants.some(({ name }) => name.startsWith(word)));
  if (idle.length > 0) throw new Error(`no patch has a name that begins with ${idle.join(', ')}`);
  return mutants.filter(({ name }) => words.some((word) => name.startsWith(word)));
}

/** At most `count` of them, the same ones for the same seed. */
export function choose(mutants: readonly Mutant[], count: number, seed: string): Mutant[] {
  const chosen = mutants.toSorted((a, b) => rank(seed, a).localeCompare(rank(seed, b))).slice(0, count);
  return mutants.filter((mutant) => chosen.includes(mutant));
}

function rank(seed: string, mutant: Mutant): string {
  return createHash('sha256').update(`${seed} ${mutant.name}`).digest('hex');
}
