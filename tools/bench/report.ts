import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Row, TableName } from './scenario.ts';

const page = fileURLToPath(new URL('../../docs/maintainers/performance.md', import.meta.url));
/** The command that writes a table. */
const commands: Readonly<Record<TableName, string>> = {
  bench: 'make bench',
  'bench-operator': 'make bench-operator',
};

/** Prints the rows as the table that the page gets. */
export function printTable(rows: readonly Row[]): void {
  process.stdout.write(`${table(rows).join('\n')}\n`);
}

/**
 * Writes the rows into docs/maintainers/performance.md between its markers: a row that is there already is replaced,
 * the others stay. Throws when the page or its markers are missing.
 */
export async function writeTable(rows: readonly Row[], name: TableName = 'bench'): Promise<void> {
  const [begin, end] = [`<!-- ${name}: written by \`${commands[name]}\`, do not edit -->`, `<!-- /${name} -->`];
  const text = await readFile(page, 'utf8');
  const [before, rest] = text.split(begin);
  const [old, after] = rest?.split(end) ?? [];
  if (before === undefined || old === undefined || after === undefined)
    throw new Error(`${page} has no markers of ${name}`);
  const merged = new Map([...rowsIn(old), ...rows].map((row) => [row.what, row]));
  const lines = [begin, '', machine(), '', ...table([...merged.values()]), '', end];
  await writeFile(page, `${before}${lines.join('\n')}${after}`);
}

function table(rows: readonly Row[]): string[] {
  return [
    '| what | goal | figure | |',
    '|---|---|---|---|',
    ...rows.map(({ what, goal, figure, verdict }) => `| ${what} | ${goal} | ${figure} | ${verdict} |`),
  ];
}

function rowsIn(text: string): Row[] {
  return text.split('\n').flatMap((line) => {
    const [, what, goal, figure, word] = line.split('|').map((cell) => cell.trim());
    const verdict = verdictOf(word);
    return what && goal !== undefined && figure !== undefined && verdict ? [{ what, goal, figure, verdict }] : [];
  });
}

function verdictOf(word: string | undefined): Row['verdict'] | undefined {
  return word === 'met' || word === 'missed' || word === 'reported' ? word : undefined;
}

/** Returns the description of the machine: figures compare only within one machine. */
function machine(): string {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD']).toString().trim();
  const model = cpus()[0]?.model ?? 'unknown processor';
  const memory = `${(totalmem() / 2 ** 30).toFixed(0)} GiB`;
  const day = new Date().toISOString().slice(0, 10);
  return `Measured ${day} at commit ${commit}: ${cpus().length} × ${model}, ${memory}, Node ${process.version}, Postgres 18 on the same machine, loopback.`;
}
