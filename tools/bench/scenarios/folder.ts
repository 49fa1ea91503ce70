import { setTimeout as pause } from 'node:timers/promises';
import type { BenchContext } from '../context.ts';
import { startDev } from '../dev-run.ts';
import { megabytes, whole } from '../figures.ts';
import { makeFolder, type Folder } from '../folder.ts';
import { residentOf } from '../machine/process-usage.ts';
import { verdictOf, type Row, type Scenario } from '../scenario.ts';

const clients = 10_000;
const changed = 100;

/** A large folder of manifests: 10,000 clients with generated secrets and a policy each. */
export const folder: Scenario = {
  name: 'folder',
  async run(context) {
    const manifests = await makeFolder(clients, 'generated');
    try {
      return [await firstRun(context, manifests), ...(await changes(context, manifests))];
    } finally {
      await manifests.remove();
    }
  },
};

/** From nothing to applied, the start of the program and the migrations included. */
async function firstRun(context: BenchContext, manifests: Folder): Promise<Row> {
  const url = await context.postgres.create('folder_once');
  const begin = performance.now();
  const run = await startDev(manifests.path, url, ['--once']);
  const code = await run.ended;
  const seconds = (performance.now() - begin) / 1000;
  return {
    what: '10,000 clients with generated secrets and 10,000 policies in a folder, applied to an empty database',
    goal: '< 10 s',
    figure: `${seconds.toFixed(1)} s, exit ${code} (highest resident memory ${megabytes(run.highest())})`,
    verdict: verdictOf(code === 0 && seconds < 10),
  };
}

async function changes(context: BenchContext, manifests: Folder): Promise<Row[]> {
  const database = 'folder_served';
  const run = await startDev(manifests.path, await context.postgres.create(database), []);
  await run.printed('\nready http://');
  const applied = `SELECT count(*) AS n FROM boxgate.resource WHERE kind IN ('Client', 'AccessPolicy')`;
  await until(async () => (await count(context, database, applied)) >= 2 * clients);
  await pause(2_000);
  const before = await rowsWritten(context, database);
  const begin = performance.now();
  const description = 'as it was changed';
  await Promise.all(Array.from({ length: changed }, (_, nth) => manifests.change(nth, description)));
  const moved = `SELECT count(*) AS n FROM boxgate.resource WHERE body->>'description' = '${description}'`;
  await until(async () => (await count(context, database, moved)) === changed);
  const seconds = (performance.now() - begin) / 1000;
  // An idle backend's statistics reach the views ten seconds later (PostgreSQL manual, "Cumulative Statistics System").
  await until(async () => (await rowsWritten(context, database)) - before >= changed);
  const written = (await rowsWritten(context, database)) - before;
  const resident = residentOf([run.pid]);
  await run.stop();
  return [
    {
      what: '100 of these files changed',
      goal: 'the rest untouched',
      figure: `applied in ${seconds.toFixed(2)} s, ${whole(written)} rows written`,
      verdict: verdictOf(written < 2 * changed),
    },
    {
      what: 'resident memory of the two processes, API and reconciler, together with these',
      goal: 'reported',
      figure: `${megabytes(resident)} (highest ${megabytes(run.highest())})`,
      verdict: 'reported',
    },
  ];
}

async function until(met: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 120_000;
  while (!(await met())) {
    if (performance.now() > deadline) throw new Error('not applied within two minutes');
    await pause(50);
  }
}

async function count(context: BenchContext, database: string, text: string): Promise<number> {
  const [row] = await context.postgres.query<{ n: string }>(database, text);
  return Number(row?.n);
}

function rowsWritten(context: BenchContext, database: string): Promise<number> {
  const written = 'sum(n_tup_ins + n_tup_upd + n_tup_del)';
  return count(context, database, `SELECT ${written} AS n FROM pg_stat_user_tables WHERE schemaname = 'boxgate'`);
}
