import { expect } from 'chai';
import type pg from 'pg';
import { upkeepBuckets, wantedBuckets } from '../../../api/db/session/bucket.ts';
import { migrate } from '../../../api/db/core/migrate.ts';
import { createPool, defaultLimits } from '../../../api/db/core/pool.ts';
import { awayFromMidnight } from '../../support/midnight.ts';
import { bareDatabase } from '../../support/postgres.ts';
import type { TestDatabase } from '../../support/postgres.ts';

describe('the buckets of a database that has none', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  let owner: pg.Pool;

  before(awayFromMidnight);
  beforeEach(async () => {
    database = await bareDatabase();
    await migrate(database.ownerUrl, 'boxgate_api');
    pool = createPool(database.apiUrl, { ...defaultLimits, connections: 4 }, 'boxgate-test', () => undefined);
    owner = createPool(database.ownerUrl, { ...defaultLimits, connections: 1 }, 'owner', () => undefined);
  });
  afterEach(async () => {
    await Promise.all([pool.end(), owner.end()]);
    await database.drop();
  });

  async function makeFirst(argument: unknown): Promise<unknown> {
    const { rows } = await pool.query<{ done: unknown }>('SELECT boxgate.make_first_buckets($1) AS done', [argument]);
    return rows[0]?.done;
  }

  async function buckets(): Promise<readonly number[]> {
    const { rows } = await pool.query<{ bucket: number }>('SELECT bucket FROM boxgate.buckets()');
    return rows.map((row) => row.bucket);
  }

  it('are all made at once, by one of the many that want to', async () => {
    const wanted = wantedBuckets(new Date());
    const upkeeps = await Promise.all([1, 2, 3].map(() => upkeepBuckets(pool, new Date())));
    expect(upkeeps.map(({ made }) => made.length).sort()).to.deep.equal([0, 0, wanted.length]);
    expect(await buckets()).to.have.members([...wanted]);
  });

  it('are made only where there is none: later ones must not lock the whole table', async () => {
    const [first = 0, second = 0] = wantedBuckets(new Date());
    expect(await makeFirst([first])).to.equal(true);
    expect(await makeFirst([second])).to.equal(false);
    expect(await buckets()).to.deep.equal([first]);
  });

  for (const [what, bad] of [
    ['that is over', 1],
    ['beyond eleven years', 1_000_000 + 9_000 * 12],
    ['that is no number', null],
  ] as const) {
    it(`are not made with one among them ${what}`, async () => {
      const [good] = wantedBuckets(new Date());
      const refused = await makeFirst([good, bad]).catch((error: unknown) => error);
      expect(refused).to.include({ code: '22023' });
      expect(await buckets()).to.deep.equal([]);
    });
  }

  it('are like those made one by one: same columns, constraints and indexes, no right of the API on any', async () => {
    const [first = 0, second = 0] = wantedBuckets(new Date());
    await makeFirst([first]);
    await pool.query('SELECT boxgate.make_bucket($1)', [second]);
    const { rows } = await owner.query<{ shape: string; rights: boolean }>(
      `SELECT replace(concat_ws(E'\\n', c.relkind, c.relrowsecurity, c.reloptions, c.reltoastrelid > 0,
                (SELECT string_agg(concat_ws(' ', attname, atttypid, attnotnull, attstorage), E'\\n' ORDER BY attnum)
                   FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0),
                (SELECT string_agg(conname || ' ' || pg_get_constraintdef(oid), E'\\n' ORDER BY conname)
                   FROM pg_constraint WHERE conrelid = c.oid),
                (SELECT string_agg(pg_get_indexdef(indexrelid), E'\\n' ORDER BY indexrelid::regclass::text)
                   FROM pg_index WHERE indrelid = c.oid)), c.relname, 'it') AS shape,
              has_table_privilege('boxgate_api', c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE') AS rights
         FROM pg_class c JOIN pg_inherits i ON i.inhrelid = c.oid AND i.inhparent = 'boxgate.session'::regclass`,
    );
    expect(rows).to.have.length(2);
    expect(rows.map(({ rights }) => rights)).to.deep.equal([false, false]);
    expect(rows[0]?.shape).to.equal(rows[1]?.shape).and.to.include('ended_as');
  });
});
