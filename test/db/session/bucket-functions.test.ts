import { expect } from 'chai';
import { bucketOf, upkeepBuckets, wantedBuckets } from '../../../api/db/session/bucket.ts';
import { boxDatabase } from '../../records/box-database.ts';
import type { BoxDatabase } from '../../records/box-database.ts';
import { awayFromMidnight } from '../../support/midnight.ts';

const dayMs = 86_400_000;
const monthZero = 1_000_000;

function dayBucket(daysFromNow: number): number {
  return Math.floor(Date.now() / dayMs) + daysFromNow;
}

function monthBucket(monthsFromNow: number): number {
  const now = new Date();
  return monthZero + now.getUTCFullYear() * 12 + now.getUTCMonth() + monthsFromNow;
}

describe('the functions that make and drop buckets', () => {
  let database: BoxDatabase;

  before(async () => {
    await awayFromMidnight();
    database = await boxDatabase();
    // The buckets that it comes with may have been made on the day before.
    const wanted = wantedBuckets(new Date());
    await upkeepBuckets(database.pool, new Date());
    for (const bucket of await buckets()) {
      if (!wanted.includes(bucket)) await dropAsOwner(bucket);
    }
  });
  after(() => database.end());

  async function call(name: string, argument: unknown): Promise<unknown> {
    const { rows } = await database.pool.query<{ done: unknown }>(`SELECT boxgate.${name}($1) AS done`, [argument]);
    return name === 'drop_bucket' ? rows[0]?.done : rows.map(({ done }) => done);
  }

  async function refusal(name: string, argument: unknown): Promise<string | undefined> {
    try {
      await call(name, argument);
      return undefined;
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : 'no code';
    }
  }

  async function buckets(): Promise<readonly number[]> {
    const { rows } = await database.pool.query<{ bucket: number }>('SELECT bucket FROM boxgate.bucket');
    return rows.map((row) => row.bucket);
  }

  /** As the owner, and past what the function allows. */
  async function makeOldBucket(bucket: number): Promise<void> {
    await database.owner.query(
      `CREATE TABLE boxgate.session_${String(bucket)} PARTITION OF boxgate.session
       FOR VALUES FROM (${String(bucket)}) TO (${String(bucket + 1)});
       INSERT INTO boxgate.bucket VALUES (${String(bucket)})`,
    );
  }

  /** Whatever day it is, which drop_bucket would refuse. */
  async function dropAsOwner(bucket: number): Promise<void> {
    const name = String(bucket);
    await database.owner.query(
      `DROP TABLE boxgate.session_${name}; DROP FUNCTION IF EXISTS boxgate.check_sessions_${name};
       DELETE FROM boxgate.bucket WHERE bucket = ${name}`,
    );
  }

  const refusals: readonly (readonly [name: string, what: string, bucket: () => unknown, code: string])[] = [
    ['make_buckets', 'a day that was over a day ago', () => [dayBucket(0), dayBucket(-2)], '22023'],
    ['make_buckets', 'a month that was over a day ago', () => [dayBucket(0), monthBucket(-2)], '22023'],
    ['make_buckets', 'a day beyond eleven years', () => [dayBucket(0), dayBucket(4_100)], '22023'],
    ['make_buckets', 'a month beyond eleven years', () => [dayBucket(0), monthBucket(140)], '22023'],
    ['make_buckets', 'a number below every bucket', () => [dayBucket(0), -1], '22023'],
    ['make_buckets', 'a number between days and months', () => [dayBucket(0), monthZero], '22023'],
    ['make_buckets', 'a month before 1970', () => [dayBucket(0), monthZero + 1970 * 12 - 1], '22023'],
    ['make_buckets', 'a month after the year 9999', () => [dayBucket(0), monthZero + 9_999 * 12 + 1], '22023'],
    ['make_buckets', 'the largest integer', () => [dayBucket(0), 2_147_483_647], '22023'],
    ['make_buckets', 'the smallest integer', () => [dayBucket(0), -2_147_483_648], '22023'],
    ['make_buckets', 'nothing', () => [dayBucket(0), null], '22023'],
    ['make_buckets', 'what is no number', () => ['1; DROP TABLE boxgate.box'], '22P02'],
    ['drop_bucket', 'today', () => dayBucket(0), '22023'],
    ['drop_bucket', 'yesterday', () => dayBucket(-1), '22023'],
    ['drop_bucket', 'tomorrow', () => dayBucket(1), '22023'],
    ['drop_bucket', 'this month', () => monthBucket(0), '22023'],
    ['drop_bucket', 'a number below every bucket', () => -1, '22023'],
    ['drop_bucket', 'nothing', () => null, '22023'],
    ['drop_bucket', 'what is no number', () => '1 OR true', '22P02'],
  ];
  for (const [name, what, bucket, code] of refusals) {
    it(`${name} refuses ${what}`, async () => {
      const before = await buckets();
      expect(await refusal(name, bucket())).to.equal(code);
      expect(await buckets()).to.deep.equal(before);
    });
  }

  it('make_buckets makes a partition once, empty, with every index of the table', async () => {
    await dropAsOwner(dayBucket(40));
    expect(await call('make_buckets', [40, 41, 40].map(dayBucket))).to.deep.equal([dayBucket(40)]);
    expect(await call('make_buckets', [dayBucket(40)])).to.deep.equal([]);
    const { rows } = await database.owner.query<{ table: string; indexes: string }>(
      `SELECT indrelid::regclass::text AS table, count(*) AS indexes FROM pg_index
        WHERE indrelid IN ($1::regclass, 'boxgate.session'::regclass) GROUP BY 1 ORDER BY 2, 1`,
      [`boxgate.session_${String(dayBucket(40))}`],
    );
    expect(rows).to.have.length(2);
    expect(rows[0]?.indexes).to.equal(rows[1]?.indexes);
  });

  it('make_buckets takes the day that has just ended: two clocks differ near midnight', async () => {
    expect(await call('make_buckets', [dayBucket(-1)])).to.deep.equal([dayBucket(-1)]);
    await dropAsOwner(dayBucket(-1));
  });

  async function bucketChecks(): Promise<readonly number[]> {
    const { rows } = await database.owner.query<{ bucket: number }>(
      `SELECT substr(proname, 16)::integer AS bucket FROM pg_proc
        WHERE pronamespace = 'boxgate'::regnamespace AND proname ~ '^check_sessions_[0-9]+$'`,
    );
    return rows.map(({ bucket }) => bucket);
  }

  it('each day has a function that checks its sessions, and a month has none', async () => {
    const days = (await buckets()).filter((bucket) => bucket < monthZero);
    expect(await bucketChecks()).to.have.members(days);
    const old = dayBucket(-2);
    await makeOldBucket(old);
    await database.owner.query('SELECT boxgate.make_bucket_check($1)', [old]);
    expect(await call('drop_bucket', old)).to.equal(true);
    expect(await bucketChecks()).to.have.members(days);
  });

  it('a check finds the same with the function of its day and without it', async () => {
    const [bucket, id, hash] = [dayBucket(5), '0199c0de-0000-7000-8000-000000000001', Buffer.alloc(32, 7)];
    await database.owner.query(
      `INSERT INTO boxgate.session (id, version, expires_at, bucket, type, box, client, token_hash, scope, audience)
       VALUES ($1, 1, to_timestamp($2::integer * 86400 + 1), $2, 'c', 'default', 'a', $3, 'read', '{b,c}')`,
      [id, bucket, hash],
    );
    const found = async () => {
      const { rows } = await database.pool.query<{ version: string | null }>(
        'SELECT * FROM boxgate.check_sessions($1, $2, $3, $4) ORDER BY nth',
        [bucket, ['default', 'default', 'none'], [id, id, id], [hash, Buffer.alloc(32), hash]],
      );
      return rows;
    };
    const withFunction = await found();
    expect(withFunction.map(({ version }) => version)).to.deep.equal(['1', null]);
    await database.owner.query(`DROP FUNCTION boxgate.check_sessions_${String(bucket)}`);
    expect(await found()).to.deep.equal(withFunction);
    await database.owner.query('SELECT boxgate.make_bucket_check($1)', [bucket]);
    expect(await found()).to.deep.equal(withFunction);
    await database.owner.query('DELETE FROM boxgate.session');
  });

  it('a plan that was kept since the day was empty leads to a session by its id, not through all of its client', async () => {
    const bucket = dayBucket(6);
    await dropAsOwner(bucket);
    await call('make_buckets', [bucket]);
    const table = `boxgate.session_${String(bucket)}`;
    const connection = await database.owner.connect();
    try {
      const check = async () => {
        const { rows } = await connection.query<{ version: string | null }>(
          "SELECT version FROM boxgate.check_sessions($1, '{default}', $2, NULL)",
          [bucket, ['0199c0de-0000-7000-8000-000000000500']],
        );
        return rows.map(({ version }) => version);
      };
      expect(await check()).to.deep.equal([null]);
      // Nobody analyzes it for a while, as in the first minute of a day.
      await connection.query(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
      expect(await check()).to.deep.equal([null]);
      await connection.query(
        `INSERT INTO boxgate.session (id, version, expires_at, bucket, type, box, client)
         SELECT ('0199c0de-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 1, to_timestamp($1::integer * 86400 + 1), $1,
                'c', 'default', 'a' FROM generate_series(1, 1000) n`,
        [bucket],
      );
      await connection.query('BEGIN');
      expect(await check()).to.deep.equal(['1']);
      const { rows } = await connection.query<{ index: string; entries: string }>(
        `SELECT indexrelid::regclass::text AS index, pg_stat_get_xact_tuples_returned(indexrelid) AS entries
           FROM pg_index WHERE indrelid = $1::regclass AND pg_stat_get_xact_numscans(indexrelid) > 0`,
        [table],
      );
      await connection.query('ROLLBACK');
      expect(rows).to.deep.equal([{ index: `${table}_pkey`, entries: '1' }]);
      await connection.query('DELETE FROM boxgate.session');
    } finally {
      connection.release();
    }
  });

  it('a check of a bucket that is not there finds nothing, and tells the version of the box', async () => {
    for (const bucket of [dayBucket(-3), monthZero - 1, monthZero, -1, 2_147_483_647]) {
      const { rows } = await database.pool.query<{ config_version: string; version: string | null }>(
        'SELECT config_version, version FROM boxgate.check_sessions($1, $2, $3, NULL)',
        [bucket, ['default'], ['0199c0de-0000-7000-8000-000000000001']],
      );
      expect(rows.map(({ version }) => version)).to.deep.equal([null]);
    }
  });

  it('make_buckets called by many at once makes each partition once', async () => {
    const wanted = [61, 62].map(dayBucket);
    for (const bucket of wanted) await dropAsOwner(bucket);
    const calls = [...wanted, ...wanted, ...wanted].map((bucket) => call('make_buckets', [bucket]));
    expect((await Promise.all(calls)).flat()).to.have.members(wanted);
    expect(await buckets()).to.include.members(wanted);
  });

  it('peer defect 12: drop_bucket drops what was over a day ago, sessions and all, and says false when it is not there', async () => {
    const old = dayBucket(-2);
    await makeOldBucket(old);
    await database.owner.query(
      `INSERT INTO boxgate.session (id, version, expires_at, bucket, type, box, client)
       VALUES (gen_random_uuid(), 1, now() - interval '2 days', $1, 'c', 'default', 'a')`,
      [old],
    );
    expect(await call('drop_bucket', old)).to.equal(true);
    expect(await call('drop_bucket', old)).to.equal(false);
    const { rows } = await database.owner.query('SELECT FROM boxgate.session');
    expect(rows).to.have.length(0);
  });

  it('drop_bucket gives up at once while a long statement reads, so that nobody waits behind it', async () => {
    const old = dayBucket(-3);
    await makeOldBucket(old);
    const reader = await database.owner.connect();
    await reader.query('BEGIN; SELECT count(*) FROM boxgate.session');
    expect(await call('drop_bucket', old)).to.equal(false);
    await reader.query('ROLLBACK');
    reader.release();
    expect(await call('drop_bucket', old)).to.equal(true);
  });

  it('upkeep drops all that is over and nothing else, and makes all that is missing', async () => {
    const over = [dayBucket(-2), dayBucket(-400), monthBucket(-2), monthBucket(-30)];
    for (const bucket of over) await makeOldBucket(bucket);
    const missing = [dayBucket(0), dayBucket(60), monthBucket(1), monthBucket(120)];
    for (const bucket of missing) await dropAsOwner(bucket);
    const done = await upkeepBuckets(database.pool, new Date());
    expect(done.dropped).to.have.members(over);
    expect(done.made).to.have.members(missing);
    expect(await buckets()).to.have.members([...wantedBuckets(new Date())]);
    expect(await upkeepBuckets(database.pool, new Date())).to.deep.equal({ made: [], dropped: [] });
  });

  it('upkeep goes by the clock of the database: one that is two days ahead drops nothing', async () => {
    const ahead = new Date(Date.now() + 2 * dayMs);
    const { made, dropped } = await upkeepBuckets(database.pool, ahead);
    expect(dropped).to.deep.equal([]);
    expect(made.filter((bucket) => bucket < monthZero)).to.deep.equal([63, 64].map(dayBucket));
  });

  it('the end of a bucket is the same in the database and by the calendar', async () => {
    const months = Array.from({ length: 30 }, (_, index) => monthZero + (1999 + index) * 12 + ((index * 5) % 12));
    for (const bucket of [0, 19_782, 20_000, dayBucket(0), ...months]) {
      const { rows } = await database.pool.query<{ end: Date }>('SELECT boxgate.bucket_end($1) AS end', [bucket]);
      const end = rows[0]?.end.getTime() ?? 0;
      const issued = end / 1000 - 1 - (bucket < monthZero ? 0 : 70 * 86_400);
      expect(bucketOf(issued, end / 1000 - 1), `the last second of ${String(bucket)}`).to.equal(bucket);
      expect(bucketOf(issued, end / 1000), `the first after ${String(bucket)}`).to.not.equal(bucket);
    }
  });
});
