// `npm run bench:operator`: measures the operator on a real Kubernetes API and writes its table in
// docs/maintainers/performance.md. `npm run bench:operator -- create-to-token` runs this row alone and only prints;
// `--rounds 5` is the default, `--write` writes although only some ran, `--small` takes small sizes to see that a row
// works, `--profile <folder>` leaves CPU profiles of the operator there and prints where its time went.
import { parseArgs } from 'node:util';
import { startPostgres } from '../machine/postgres.ts';
import { printProfiles } from '../profiles.ts';
import { printTable, writeTable } from '../report.ts';
import type { Row } from '../scenario.ts';
import { scenarios } from './rows/index.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string' },
    small: { type: 'boolean', default: false },
    profile: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const { small, profile } = values;
const unknown = positionals.filter((name) => !scenarios.some((scenario) => scenario.name === name));
if (unknown.length > 0) {
  say(`no such row: ${unknown.join(', ')}; there are ${scenarios.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
const chosen = scenarios.filter(({ name }) => positionals.length === 0 || positionals.includes(name));

const postgres = await startPostgres();
// The programs of a control plane keep nobody running: to wait for their end is no reason for Node to go on.
const stayingAlive = setInterval(() => undefined, 60_000);
const context = { postgres, small, profile, rounds: Number(values.rounds ?? (small ? 2 : 5)), say };
const interrupted = (): void => void postgres.stop().then(() => process.exit(130));
process.once('SIGINT', interrupted);
process.once('SIGTERM', interrupted);
const rows: Row[] = [];
const began = performance.now();
for (const scenario of chosen) {
  say(`${scenario.name} … (${((performance.now() - began) / 1000).toFixed(0)} s)`);
  try {
    rows.push(...(await inTime(scenario.name, scenario.run(context))));
  } catch (error) {
    // The others are measured all the same.
    say(`  ${scenario.name} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    process.exitCode = 1;
  }
}
await postgres.stop();
clearInterval(stayingAlive);
printTable(rows);
if (profile !== undefined) await printProfiles(profile);
const isWhole = positionals.length === 0 && !small && process.exitCode === undefined;
if (values.write || isWhole) await writeTable(rows, 'bench-operator');

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** A row that takes as long will never end: somebody waits for what does not come. */
function inTime<T>(name: string, work: Promise<T>): Promise<T> {
  const patience = 1_800_000;
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`${name} does not end`)), patience).unref();
  });
  return Promise.race([work, late]);
}
