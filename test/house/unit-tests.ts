import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Modules that start Postgres or another process: a test file that imports one of them is not a unit test. */
const services = [
  'test/support/postgres.ts',
  'test/support/services.ts',
  'test/support/cluster/control-plane.ts',
  'test/dev/boxgate-process.ts',
  'dev/processes/embedded-postgres.ts',
];

/** Tests that start programs wait for them most of their time. Those of the house ask git, which is quick. */
function startsProcesses(file: string, text: string): boolean {
  return (
    /^(?:test|tools)\//.test(file) && !file.startsWith('test/house/') && text.includes(" from 'node:child_process'")
  );
}

/**
 * The test files that need no service and start no program: those from which no import leads to one. Paths from the
 * root, sorted.
 */
export function unitTests(root = '.'): string[] {
  const files = globSync('test/**/*.test.ts', { cwd: root, exclude: ['**/*.long.test.ts'] }).sort();
  const known = new Map<string, boolean>();
  return files.filter((file) => !reaches(root, file, known));
}

/** Checks whether an import leads from a file to a service. Imports have no cycle, so each file is read once. */
function reaches(root: string, file: string, known: Map<string, boolean>): boolean {
  if (services.includes(file)) return true;
  const before = known.get(file);
  if (before !== undefined) return before;
  const text = readFileSync(path.join(root, file), 'utf8');
  const result =
    startsProcesses(file, text) || importsOf(root, file, text).some((imported) => reaches(root, imported, known));
  known.set(file, result);
  return result;
}

/** The files of ours that a file imports when it runs: imports of types are gone by then. */
function importsOf(root: string, file: string, text: string): string[] {
  const imports = text.matchAll(/^(?:import|export)(?! type\b)[^;]*?from '(\.[^']+\.ts)';/gm);
  return [...imports]
    .map(([, target = '']) => path.posix.join(path.posix.dirname(file), target))
    .filter((target) => existsSync(path.join(root, target)));
}
