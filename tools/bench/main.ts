// `npm run bench`: measures and writes docs/maintainers/performance.md. `npm run bench -- hot-lane code-flow` runs
// these scenarios alone and only prints; `--rounds 5 --seconds 3` are the defaults (`--minutes 30` for `memory`,
// `--boxes 100000` for `placements`), `--write` writes although only some ran. `NODE_OPTIONS=--cpu-prof` leaves CPU
// profiles of all processes here.
import { parseArgs } from 'node:util';
import { openContext } from './context.ts';
import { printTable, writeTable } from './report.ts';
import type { Row, Scenario } from './scenario.ts';
import { codeFlow } from './scenarios/code-flow.ts';
import { hotLane } from './scenarios/hot-lane.ts';
import { memory } from './scenarios/memory.ts';
import { placements } from './scenarios/placements.ts';
import { plainLane } from './scenarios/plain-lane.ts';

const scenarios: readonly Scenario[] = [hotLane, codeFlow, plainLane, memory, placements];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    minutes: { type: 'string', default: '30' },
    boxes: { type: 'string', default: '100000' },
    write: { type: 'boolean', default: false },
  },
});
const unknown = positionals.filter((name) => !scenarios.some((scenario) => scenario.name === name));
if (unknown.length > 0) {
  say(`no such scenario: ${unknown.join(', ')}; there are ${scenarios.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
const chosen = scenarios.filter(({ name, large }) => (positionals.length > 0 ? positionals.includes(name) : !large));

const effort = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  minutes: Number(values.minutes),
  boxes: Number(values.boxes),
};
const context = await openContext(effort, say);
const interrupted = (): void => void context.stop().then(() => process.exit(130));
process.once('SIGINT', interrupted);
process.once('SIGTERM', interrupted);
const rows: Row[] = [];
try {
  for (const scenario of chosen) {
    say(`${scenario.name} …`);
    try {
      rows.push(...(await scenario.run(context)));
    } catch (error) {
      // The others are measured all the same.
      say(`  ${scenario.name} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      process.exitCode = 1;
    }
  }
} finally {
  await context.stop();
}
printTable(rows);
if (values.write || positionals.length === 0) await writeTable(rows, 'bench');

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
