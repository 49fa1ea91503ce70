import pg from 'pg';
import type { Boxgate } from './boxgate.ts';
import type { BenchContext } from './context.ts';

/** Days over which stored sessions end: what a default lifetime of 30 days leaves behind. */
const days = 31;

/** Stores this many live sessions of a client, spread over a month of partitions; tells the seconds it took. */
export async function storeSessions(context: BenchContext, boxgate: Boxgate, count: number): Promise<number> {
  const begin = performance.now();
  for (let day = 0; day < days; day += 1) {
    await context.postgres.query(
      boxgate.database,
      `${insertInto('boxgate.session')} SELECT uuidv7(), 1, to_timestamp((today + $2) * 86400 + 43200), today + $2,
              'c', $3, $4, sha256(int8send(i)), '127.0.0.1'
         FROM generate_series(1, $1::bigint) i, LATERAL (SELECT floor(extract(epoch FROM now()) / 86400)::int) d (today)`,
      [Math.ceil(count / days), day, boxgate.box, boxgate.clients.opaque.id],
    );
  }
  const seconds = (performance.now() - begin) / 1000;
  await context.postgres.query(boxgate.database, 'VACUUM (ANALYZE) boxgate.session');
  await context.postgres.query(boxgate.database, 'CHECKPOINT');
  return seconds;
}

/** Milliseconds that dropping a day with this many sessions takes, by the service's own function. */
export async function dropTime(context: BenchContext, boxgate: Boxgate, count: number): Promise<number> {
  const [row] = await context.postgres.query<{ today: number }>(
    boxgate.database,
    'SELECT floor(extract(epoch FROM now()) / 86400)::int AS today',
  );
  const bucket = (row?.today ?? 0) - 5;
  const partition = `boxgate.session_${bucket}`;
  // make_bucket refuses a day that is over.
  await context.postgres.query(boxgate.database, `CREATE TABLE ${partition} (LIKE boxgate.session INCLUDING ALL)`);
  await context.postgres.query(
    boxgate.database,
    `ALTER TABLE boxgate.session ATTACH PARTITION ${partition} FOR VALUES FROM (${bucket}) TO (${bucket + 1})`,
  );
  await context.postgres.query(
    boxgate.database,
    `${insertInto(partition)} SELECT uuidv7(), 1, to_timestamp(${bucket} * 86400 + 43200), ${bucket}, 'c', $2, $3,
            sha256(int8send(i)), '127.0.0.1'
       FROM generate_series(1, $1::bigint) i`,
    [count, boxgate.box, boxgate.clients.opaque.id],
  );
  const begin = performance.now();
  await context.postgres.query(boxgate.database, 'SELECT boxgate.drop_bucket($1)', [bucket]);
  return performance.now() - begin;
}

function insertInto(table: string): string {
  return `INSERT INTO ${table} (id, version, expires_at, bucket, type, box, client, token_hash, remote_addr)`;
}

/** Buffers that issuing one session touches, in the partition that tokens of the default lifetime go to. */
export function buffersOfIssue(context: BenchContext, boxgate: Boxgate): Promise<number> {
  return buffers(
    context,
    boxgate,
    `SELECT * FROM boxgate.issue_sessions(
       ARRAY[$1::text], ARRAY[(SELECT config_version FROM boxgate.box WHERE box = $1)],
       ARRAY[uuidv7()], ARRAY[floor(extract(epoch FROM now()) / 86400)::int + $2],
       ARRAY[extract(epoch FROM now())::bigint + 86400 * $2], ARRAY['c'::"char"], ARRAY['bench-opaque'],
       ARRAY[sha256('x')], ARRAY['127.0.0.1'::inet], NULL, NULL, NULL, NULL)`,
    [boxgate.box, days - 1],
  );
}

/** Buffers that checking one session, which is there, touches. */
export async function buffersOfCheck(context: BenchContext, boxgate: Boxgate): Promise<number> {
  const [row] = await context.postgres.query<{ bucket: number; id: string; token_hash: Buffer }>(
    boxgate.database,
    'SELECT bucket, id, token_hash FROM boxgate.session WHERE box = $1 ORDER BY id DESC LIMIT 1',
    [boxgate.box],
  );
  if (row === undefined) throw new Error('no session stored');
  return buffers(
    context,
    boxgate,
    'SELECT * FROM boxgate.check_sessions($2, ARRAY[$1], ARRAY[$3::uuid], ARRAY[$4::bytea])',
    [boxgate.box, row.bucket, row.id, row.token_hash],
  );
}

/** The second run on one connection counts: the first also reads the catalogs. What it writes is rolled back. */
async function buffers(context: BenchContext, boxgate: Boxgate, text: string, values: unknown[]): Promise<number> {
  const client = new pg.Client({ connectionString: context.postgres.url(boxgate.database) });
  await client.connect();
  try {
    await client.query('BEGIN');
    const explain = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`;
    await client.query(explain, values);
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(explain, values);
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    await client.query('ROLLBACK');
    return (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
  } finally {
    await client.end();
  }
}
