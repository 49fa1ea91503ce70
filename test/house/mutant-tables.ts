import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import Type, { type Static } from 'typebox';
import Value from 'typebox/value';
import { parse } from 'yaml';

/** A piece of source text, as whole lines without their common indentation, and the lines that take its place. */
export type Change = Static<typeof Change>;
const Change = Type.Object({ find: Type.String(), replace: Type.String() }, { additionalProperties: false });

/** A deliberate fault in the code. */
export interface Mutant {
  readonly name: string;
  /** A sentence: the behaviour that the code has under this mutant. */
  readonly breaks: string;
  /** Paths of the test files of which at least one must fail under it. */
  readonly tests: readonly string[];
  readonly changes: readonly Change[];
}

const described = { breaks: Type.String({ minLength: 1 }), tests: Type.Array(Type.String(), { minItems: 1 }) };
const OneChange = Type.Object({ ...described, ...Change.properties }, { additionalProperties: false });
const ManyChanges = Type.Object(
  { ...described, changes: Type.Array(Change, { minItems: 2 }) },
  { additionalProperties: false },
);
const Table = Type.Record(Type.String(), Type.Unknown());

/**
 * Reads the mutants of all tables of a folder, sorted by name. `files` are the paths that a test may be found among.
 * Throws an Error if the folder holds another file, an entry has another form, a test is missing or ambiguous, or a
 * name is used twice.
 */
export function readMutants(folder: string, files: readonly string[]): Mutant[] {
  const tables = readdirSync(folder).sort();
  const other = tables.filter((name) => !name.endsWith('.yaml'));
  if (other.length > 0) throw new Error(`${folder} must hold tables (.yaml) only, not ${other.join(', ')}`);
  const mutants = tables.flatMap((table) => readTable(folder, table, files));
  const names = mutants.map(({ name }) => name);
  const twice = names.filter((name, n) => names.indexOf(name) !== n);
  if (twice.length > 0) throw new Error(`more than one mutant is named ${twice.join(', ')}`);
  return mutants.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function readTable(folder: string, table: string, files: readonly string[]): Mutant[] {
  const entries: unknown = parse(readFileSync(path.join(folder, table), 'utf8'));
  if (!Value.Check(Table, entries)) throw new Error(`${table} must map names to mutants`);
  return Object.entries(entries).map(([name, entry]) => {
    const where = `${table}: ${name}`;
    const { breaks, tests, changes } = readEntry(where, entry);
    return { name, breaks, tests: tests.map((test) => findTest(where, test, files)), changes };
  });
}

function readEntry(where: string, entry: unknown): Pick<Mutant, 'breaks' | 'tests' | 'changes'> {
  if (Value.Check(OneChange, entry)) return { ...entry, changes: [{ find: entry.find, replace: entry.replace }] };
  if (Value.Check(ManyChanges, entry)) return entry;
  throw new Error(
    `${where}: needs breaks, tests, and either find and replace or two or more changes, and nothing else`,
  );
}

/** A test is given by its file name, with as many of its folders in front as tell it from its namesakes. */
function findTest(where: string, test: string, files: readonly string[]): string {
  const [found, another] = files.filter((file) => `/${file}`.endsWith(`/${test}`));
  if (found === undefined || !test.endsWith('.test.ts')) throw new Error(`${where}: no such test file: ${test}`);
  if (another !== undefined)
    throw new Error(`${where}: ${test} may be ${found} or ${another}: put its folder in front`);
  return found;
}

/** Those whose name begins with one of these words; all if there is no word. Throws if no name begins with a word. */
export function beginningWith(words: readonly string[], mutants: readonly Mutant[]): readonly Mutant[] {
  if (words.length === 0) return mutants;
  const idle = words.filter((word) => !mutants.some(({ name }) => name.startsWith(word)));
  if (idle.length > 0) throw new Error(`no mutant has a name that begins with ${idle.join(', ')}`);
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
