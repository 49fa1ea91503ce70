// `npm run bench:against -- <commit>`: the token and check paths of this tree against those of another commit, both on
// one Postgres, in alternating rounds. Prints the medians of the ratios, of the rate and of the CPU for one answer,
// with the interval that holds each in 95 of 100 resamples. `--rounds 15 --starts 5 --seconds 2` are the defaults;
// words after the commit choose the rows that begin with them. The rounds are divided among the starts, each with new
// processes and databases: two processes of one program differ by some per cent.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { startBoxgate, type Boxgate } from './boxgate.ts';
import { hotRows, prepareHotRows, requestsOf, statusOf, type Address } from './hot-rows.ts';
import { startLoad } from './load/client.ts';
import { intervalOfMedian, median } from './figures.ts';
import { startPostgres, type BenchPostgres } from './machine/postgres.ts';
import { alternate, type Contestant, type Round } from './rounds.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '15' },
    starts: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
  },
});
const [commit, ...chosen] = positionals;
if (commit === undefined) {
  process.stderr.write('name the commit to compare with: npm run bench:against -- HEAD~1\n');
  process.exit(2);
}

/** Paths of the program that starts Boxgate under measurement, of commits from the newest to the oldest. */
const benches = ['tools/bench/boxgate.ts', 'test/bench/boxgate.ts'];

/** A round of each, one after the other. */
interface Pair {
  readonly before: Round;
  readonly now: Round;
}

/** As in every comparison of this bench. */
const connections = 64;
/** Pairs of rounds that are not counted at the beginning of a row: a new process still compiles what the row runs. */
const WARM_UP = 4;
/** One box, which has the root of the installation too. */
const settings = { BOXGATE_STANDALONE: 'true' };

const rows = Object.keys(hotRows).flatMap((name) => [`${name}-path`, `${name}-host`]);

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = await mkdtemp(path.join(tmpdir(), 'boxgate-against-'));
const tree = path.join(folder, 'tree');
const postgres = await startPostgres();
const load = startLoad();
const names = rows.filter((name) => chosen.length === 0 || chosen.some((word) => name.startsWith(word)));
const pairs = new Map(names.map((name): [string, Pair[]] => [name, []]));
try {
  await git('worktree', 'add', '--detach', tree, commit);
  await symlink(path.join(root, 'node_modules'), path.join(tree, 'node_modules'));
  const other = await importOther(benches.map((bench) => path.join(tree, bench)).find(existsSync) ?? tree);
  const starts = Number(values.starts);
  for (let nth = 0; nth < starts; nth += 1) {
    const before = await other(postgres, `before_${String(nth)}`, settings);
    const now = await startBoxgate(postgres, `now_${String(nth)}`, settings);
    await Promise.all([before, now].map(prepareHotRows));
    const rounds = Math.ceil(Number(values.rounds) / starts);
    for (const name of names) pairs.get(name)?.push(...(await compare(name, before, now, rounds)));
    await Promise.all([before.stop(), now.stop()]);
  }
  for (const [name, found] of pairs) print(name, found);
} finally {
  load.stop();
  await postgres.stop();
  await git('worktree', 'remove', '--force', tree).catch(() => undefined);
  await rm(folder, { recursive: true, force: true });
}

async function compare(name: string, before: Boxgate, now: Boxgate, rounds: number): Promise<Pair[]> {
  const [, row = '', way = ''] = /^(.*)-(path|host)$/.exec(name) ?? [];
  const found = hotRows[row];
  if (found === undefined) throw new Error(`no row ${name}`);
  const address: Address = way === 'host' ? 'host' : 'path';
  const contestants = [
    contestant('before', before, await requestsOf(found, before, address), postgres),
    contestant('now', now, await requestsOf(found, now, address), postgres),
  ];
  // Else the plans change at some moment of the rounds, when the statistics are collected.
  for (const { database } of [before, now]) await postgres.query(database, 'ANALYZE');
  const status = statusOf(row);
  const results = await alternate(
    load,
    contestants.map((one) => ({ ...one, status })),
    WARM_UP + rounds,
  );
  const [ofBefore = [], ofNow = []] = [results.get('before'), results.get('now')];
  const all = ofNow.flatMap((now, nth) => (ofBefore[nth] === undefined ? [] : [{ before: ofBefore[nth], now }]));
  return all.slice(WARM_UP);
}

function print(name: string, found: readonly Pair[]): void {
  const rate = (side: keyof Pair): string => median(found.map((pair) => pair[side].perSecond)).toFixed(0);
  const rates = ratios(found, ({ perSecond }) => perSecond);
  const cpu = ratios(found, ({ cpuPerAnswer }) => cpuPerAnswer);
  process.stdout.write(`${name.padEnd(24)} ${rates}, ${rate('before')} -> ${rate('now')} a second; CPU ${cpu}\n`);
}

/** The median of the ratios of each pair of rounds, with its interval. */
function ratios(found: readonly Pair[], figure: (round: Round) => number): string {
  const all = found.map(({ before, now }) => figure(now) / figure(before));
  const { low, high } = intervalOfMedian(all);
  return `${percent(median(all))} [${percent(low)}, ${percent(high)}]`;
}

function contestant(name: string, boxgate: Boxgate, requests: string[], { pid }: BenchPostgres): Contestant {
  const seconds = Number(values.seconds);
  const plan = () => ({ port: boxgate.port, connections, requests, seconds, warmupSeconds: 0.5 });
  return { name, status: 200, pids: [boxgate.pid, pid], plan };
}

function percent(ratio: number): string {
  return `${(100 * ratio).toFixed(1)} %`;
}

async function git(...args: string[]): Promise<void> {
  await promisify(execFile)('git', args, { cwd: root });
}

async function importOther(file: string): Promise<typeof startBoxgate> {
  const found: unknown = await import(pathToFileURL(file).href);
  if (!isStarter(found)) throw new Error(`${file} does not start Boxgate`);
  return found.startBoxgate;
}

/** Every commit that can be compared has the same one. */
function isStarter(found: unknown): found is { startBoxgate: typeof startBoxgate } {
  return typeof found === 'object' && found !== null && 'startBoxgate' in found;
}
