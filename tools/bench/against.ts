// `npm run bench:against -- <commit>`: the token and check paths of this tree against those of another commit, both on
// one Postgres, in alternating rounds. Prints the medians of the ratios, of the rate and of the CPU for one answer,
// with the interval that holds each in 95 of 100 resamples. `--rounds 15 --starts 5 --seconds 2` are the defaults;
// names after the commit choose rows. The rounds are divided among the starts, each with new processes and databases:
// two processes of one program differ by some per cent.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { startBoxgate, type Boxgate } from './boxgate.ts';
import { introspections } from './introspections.ts';
import { startLoad } from './load/client.ts';
import { bearerRequest, formRequest } from './load/requests.ts';
import { intervalOfMedian, median } from './median.ts';
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

/** Tokens that are asked about in turn. */
const tokenCount = 2_000;
/** Paths of the program that starts Boxgate under measurement, of commits from the newest to the oldest. */
const benches = ['tools/bench/boxgate.ts', 'test/bench/boxgate.ts'];

/** A round of each, one after the other. */
interface Pair {
  readonly before: Round;
  readonly now: Round;
}

/** As in every comparison of this bench. */
const connections = 64;

const grant = { grant_type: 'client_credentials' };
const rows: Readonly<Record<string, (boxgate: Boxgate) => Promise<string[]>>> = {
  opaque: (boxgate) => Promise.resolve([formRequest(boxgate.path('/auth/token'), grant, boxgate.clients.opaque)]),
  jwt: (boxgate) => Promise.resolve([formRequest(boxgate.path('/auth/token'), grant, boxgate.clients.jwt)]),
  introspection: (boxgate) => introspections(boxgate, boxgate.clients.opaque, tokenCount),
  'introspection-jwt': (boxgate) => introspections(boxgate, boxgate.clients.jwt, tokenCount),
  async bearer(boxgate) {
    const tokens = await boxgate.issue(boxgate.clients.reader, tokenCount);
    const ids = await boxgate.sessionIds(tokenCount);
    return tokens.map((token, nth) => bearerRequest(boxgate.path(`/Session/${ids[nth] ?? ''}`), token));
  },
};

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = await mkdtemp(path.join(tmpdir(), 'boxgate-against-'));
const tree = path.join(folder, 'tree');
const postgres = await startPostgres();
const load = startLoad();
const names = Object.keys(rows).filter((name) => chosen.length === 0 || chosen.includes(name));
const pairs = new Map(names.map((name): [string, Pair[]] => [name, []]));
try {
  await git('worktree', 'add', '--detach', tree, commit);
  await symlink(path.join(root, 'node_modules'), path.join(tree, 'node_modules'));
  const other = await importOther(benches.map((bench) => path.join(tree, bench)).find(existsSync) ?? tree);
  const starts = Number(values.starts);
  for (let nth = 0; nth < starts; nth += 1) {
    const before = await other(postgres, `before_${String(nth)}`, {}, undefined);
    const now = await startBoxgate(postgres, `now_${String(nth)}`, {}, undefined);
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
  const requestsOf = rows[name];
  if (requestsOf === undefined) throw new Error(`no row ${name}`);
  const contestants = [
    contestant('before', before, await requestsOf(before), postgres),
    contestant('now', now, await requestsOf(now), postgres),
  ];
  // Else the plans change at some moment of the rounds, when the statistics are collected.
  for (const { database } of [before, now]) await postgres.query(database, 'ANALYZE');
  const results = await alternate(load, contestants, rounds);
  const [ofBefore = [], ofNow = []] = [results.get('before'), results.get('now')];
  return ofNow.flatMap((round, nth) => (ofBefore[nth] === undefined ? [] : [{ before: ofBefore[nth], now: round }]));
}

function print(name: string, found: readonly Pair[]): void {
  const rate = (side: keyof Pair): string => median(found.map((pair) => pair[side].perSecond)).toFixed(0);
  const rates = ratios(found, ({ perSecond }) => perSecond);
  const cpu = ratios(found, ({ cpuPerAnswer }) => cpuPerAnswer);
  process.stdout.write(`${name.padEnd(14)} ${rates}, ${rate('before')} -> ${rate('now')} a second; CPU ${cpu}\n`);
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
