import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isList, isObject } from '../../../crds/json-value.ts';
import type { BenchContext } from '../context.ts';
import { startDev } from '../dev-run.ts';
import { milliseconds } from '../figures.ts';
import { clientName, makeFolder, type Folder } from '../folder.ts';
import { median } from '../median.ts';
import { verdictOf, type Row, type Scenario } from '../scenario.ts';

const program = fileURLToPath(new URL('../../../api/cli/boxctl.cjs', import.meta.url));
const clients = 10_000;
const recorded = 1_000;
const users = 10;
/** Policies that the planned folder no longer has, of clients with recorded requests. */
const removed = 100;
/** Runs of a command that takes no second. */
const shortRuns = 20;
/** Exit code of a plan by which somebody loses access. */
const somebodyLoses = 11;

const admin = { id: 'bench-admin', secret: 'the secret of the bench' };
const manifest = `apiVersion: boxgate.dev/v1
kind: Client
metadata: { name: ${admin.id}, namespace: bench }
spec: { grant_types: [client_credentials], secret: ${admin.secret} }
---
apiVersion: boxgate.dev/v1
kind: AccessPolicy
metadata: { name: ${admin.id}, namespace: bench }
spec: { engine: allow, link: [{ resourceType: Client, id: ${admin.id} }] }
`;

/** The command-line tool, as a process from its start to its end. */
export const boxctl: Scenario = {
  name: 'boxctl',
  async run(context) {
    const folder = await makeFolder(clients, 'generated');
    try {
      await writeFile(path.join(folder.path, 'admin.yaml'), manifest);
      return await rowsOf(context, folder);
    } finally {
      await folder.remove();
    }
  },
};

async function rowsOf(context: BenchContext, folder: Folder): Promise<Row[]> {
  const database = 'boxctl';
  const dev = await startDev(folder.path, await context.postgres.create(database), []);
  try {
    const [, address = ''] = /\nready (http:\S+)/.exec(await dev.printed('\nready http://')) ?? [];
    const environment = {
      PATH: process.env['PATH'],
      ...{ BOXCTL_SERVER: address, BOXCTL_BOX: 'bench' },
      ...{ BOXCTL_CLIENT_ID: admin.id, BOXCTL_CLIENT_SECRET: admin.secret },
    };
    const run = (...args: readonly string[]): Promise<Run> => timed(args, environment);
    for (let nth = 0; nth < users; nth += 1)
      await run('user', 'new', `user-${String(nth)}@shop.example:long enough 1!`);
    const help = await medianOf(() => run('--help'));
    const list = await medianOf(() => run('user', 'list'));
    await storeRequests(context, database);
    const plan = await planned(run, folder);
    return [
      row('`boxctl --help`, from the start of its process to its end', 150, help),
      row(`\`boxctl user list\` with ${String(users)} users, the same`, 300, list),
      row(
        '`boxctl plan` of 10,000 clients, 10,000 policies and 1,000 recorded requests, 100 of which are lost',
        10_000,
        plan,
      ),
    ];
  } finally {
    await dev.stop();
  }
}

function row(what: string, limit: number, took: number): Row {
  const goal = `< ${limit < 1_000 ? `${String(limit)} ms` : `${String(limit / 1_000)} s`}`;
  return { what, goal, figure: milliseconds(took), verdict: verdictOf(took < limit) };
}

/** A command that ended. */
interface Run {
  readonly code: number;
  readonly output: string;
  /** Milliseconds. */
  readonly took: number;
}

async function timed(args: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<Run> {
  const begin = performance.now();
  const run = promisify(execFile)(process.execPath, [program, ...args], { env, maxBuffer: 2 ** 28 });
  const { code, stdout } = await run.then(
    ({ stdout: text }) => ({ code: 0, stdout: text }),
    (error: unknown) => ({
      code: Number(Reflect.get(Object(error), 'code')),
      stdout: String(Reflect.get(Object(error), 'stdout')),
    }),
  );
  return { code, output: stdout, took: performance.now() - begin };
}

/** Runs a command many times, and returns the median of its milliseconds. Throws if it fails. */
async function medianOf(run: () => Promise<Run>): Promise<number> {
  const took: number[] = [];
  for (let nth = 0; nth < shortRuns; nth += 1) {
    const { code, output, took: one } = await run();
    if (code !== 0) throw new Error(`boxctl ended with ${String(code)}: ${output}`);
    took.push(one);
  }
  return median(took);
}

/** Stores that each of some clients has sent one request, which its policy granted. */
async function storeRequests({ postgres }: BenchContext, database: string): Promise<void> {
  await postgres.query(
    database,
    `INSERT INTO boxgate.recorded_request (box, client, principal, app, method, shape, policy, requests, first_seen_at, last_seen_at)
     SELECT 'bench', name, 'client', '', 'GET', '/Session', name, 1, now(), now()
       FROM generate_series(0, $1::integer - 1) n, LATERAL (SELECT 'service-' || lpad(n::text, 5, '0')) t (name)`,
    [recorded],
  );
}

/** Plans a copy of the folder without some policies, and returns milliseconds. Throws if the plan is another. */
async function planned(run: (...args: readonly string[]) => Promise<Run>, folder: Folder): Promise<number> {
  const copy = await mkdtemp(path.join(tmpdir(), 'boxgate-bench-planned-'));
  try {
    await cp(folder.path, copy, { recursive: true });
    for (let nth = 0; nth < removed; nth += 1) await rm(path.join(copy, 'policies', `${clientName(nth)}.yaml`));
    const { code, output, took } = await run('plan', copy, '--output', 'json');
    const plan: unknown = JSON.parse(output);
    const lost = isObject(plan) && isList(plan['decisions']) ? plan['decisions'].length : 0;
    if (code !== somebodyLoses || lost !== removed)
      throw new Error(`the plan ended with ${String(code)}: ${output.slice(0, 2_000)}`);
    return took;
  } finally {
    await rm(copy, { recursive: true });
  }
}
