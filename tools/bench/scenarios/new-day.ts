import pg from 'pg';
import { oldestPostgres } from '../../needs/oldest-postgres.ts';
import { upkeepBuckets } from '../../../api/db/session/bucket.ts';
import { milliseconds } from '../figures.ts';
import { makeDatabase } from '../machine/database.ts';
import { startPostgres, type BenchPostgres } from '../machine/postgres.ts';
import { verdictOf, type Row, type Scenario } from '../scenario.ts';

/** Sessions that a busy box has in the first minute of a day. */
const sessions = 100_000;
const batch = 30;
const runs = 50;

/** The check of tokens on a connection that keeps its plan since the day was empty, before autovacuum looks at it. */
export const newDay: Scenario = {
  name: 'new-day',
  async run(context) {
    const oldest = await startPostgres(await oldestPostgres());
    try {
      return [await measure(context.postgres, '18'), await measure(oldest, '15')];
    } finally {
      await oldest.stop();
    }
  },
};

async function measure(postgres: BenchPostgres, version: string): Promise<Row> {
  const { BOXGATE_OWNER_URL: connectionString } = await makeDatabase(postgres, 'new_day');
  const pool = new pg.Pool({ connectionString, max: 1 });
  // It closes a moment after its end, when the server may be gone.
  pool.on('error', () => undefined);
  try {
    await upkeepBuckets(pool, new Date());
    await pool.query("INSERT INTO boxgate.box (box) VALUES ('default')");
    const bucket = Math.floor(Date.now() / 86_400_000) + 5;
    await pool.query(`ALTER TABLE boxgate.session_${String(bucket)} SET (autovacuum_enabled = off)`);
    // The plan that is kept from now on.
    for (let run = 0; run < 10; run += 1) await check(pool, bucket, ['00000000-0000-0000-0000-000000000000']);
    const { rows } = await pool.query<{ id: string }>(
      `INSERT INTO boxgate.session (id, version, expires_at, bucket, type, box, client)
       SELECT gen_random_uuid(), 1, to_timestamp($1::integer * 86400 + 1), $1, 'c', 'default', 'a'
         FROM generate_series(1, $2::integer) RETURNING id`,
      [bucket, sessions],
    );
    const ids = rows.slice(0, batch).map(({ id }) => id);
    const measured = async () =>
      [await buffers(pool, bucket, ids.slice(0, 1)), await buffers(pool, bucket, ids)] as const;
    const [one, many] = await measured();
    const took = await median(pool, bucket, ids);
    // It also has the connection plan again.
    await pool.query(`ANALYZE boxgate.session_${String(bucket)}`);
    const [oneLater, manyLater] = await measured();
    return {
      what: `the first minute of a day on Postgres ${version}, 100,000 sessions: buffers of one check and of ${String(batch)} in a batch, and with statistics`,
      goal: 'no more',
      figure: `${String(one)} and ${String(many)}, with statistics ${String(oneLater)} and ${String(manyLater)}; the batch took ${milliseconds(took)}`,
      verdict: verdictOf(one <= oneLater && many <= manyLater),
    };
  } finally {
    await pool.end();
  }
}

async function median(pool: pg.Pool, bucket: number, ids: readonly string[]): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const begin = performance.now();
    await check(pool, bucket, ids);
    times.push(performance.now() - begin);
  }
  return times.toSorted((a, b) => a - b)[runs / 2] ?? NaN;
}

const statement = 'SELECT * FROM boxgate.check_sessions($1, $2, $3, NULL)';

async function check(pool: pg.Pool, bucket: number, ids: readonly string[]): Promise<void> {
  await pool.query(statement, [bucket, ids.map(() => 'default'), ids]);
}

/** Buffers that a check touches; the second one counts, as the first also reads the catalogs. */
async function buffers(pool: pg.Pool, bucket: number, ids: readonly string[]): Promise<number> {
  await check(pool, bucket, ids);
  const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement}`,
    [bucket, ids.map(() => 'default'), ids],
  );
  const plan = rows[0]?.['QUERY PLAN'][0].Plan;
  return (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
}
