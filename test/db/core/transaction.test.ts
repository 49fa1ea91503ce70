import { expect } from 'chai';
import type pg from 'pg';
import { Outage } from '../../../api/db/core/outage.ts';
import { createPool, defaultLimits } from '../../../api/db/core/pool.ts';
import { inBox, inBoxWithin, outsideBoxes } from '../../../api/db/core/transaction.ts';
import { withConnection } from '../../../api/db/core/with-connection.ts';
import { boxDatabase } from '../../records/box-database.ts';
import type { BoxDatabase } from '../../records/box-database.ts';
import { eventually } from '../../support/eventually.ts';
import { freshDatabase } from '../../support/postgres.ts';

describe('a transaction', () => {
  let database: BoxDatabase;
  let pool: pg.Pool;
  const broken: Error[] = [];

  before(async () => {
    database = await boxDatabase();
    const { connectionString } = database.pool.options;
    pool = createPool(connectionString ?? '', { ...defaultLimits, connections: 2 }, 'transaction-test', (error) => {
      broken.push(error);
    });
  });
  after(async () => {
    await pool.end();
    await database.end();
  });

  function epochs(): Promise<number> {
    return database.owner.query('SELECT FROM boxgate.operator_epoch').then(({ rows }) => rows.length);
  }

  function addEpoch(connection: Pick<pg.Pool, 'query'>): Promise<unknown> {
    return connection.query('INSERT INTO boxgate.operator_epoch (cluster) VALUES (gen_random_uuid()::text)');
  }

  function failure(work: Promise<unknown>): Promise<unknown> {
    return work.then(
      () => 'no error',
      (error: unknown) => error,
    );
  }

  /** Returns the statements that run on the server under the name of this test's pool. */
  async function running(): Promise<readonly string[]> {
    const { rows } = await database.owner.query<{ query: string }>(
      `SELECT query FROM pg_stat_activity
        WHERE application_name = 'transaction-test' AND state <> 'idle' AND datname = current_database()`,
    );
    return rows.map((row) => row.query);
  }

  it('keeps what its work stored, and gives its result', async () => {
    const before = await epochs();
    expect(await outsideBoxes(pool, (connection) => addEpoch(connection).then(() => 7))).to.equal(7);
    expect(await epochs()).to.equal(before + 1);
  });

  it('keeps nothing when its work throws, throws the same, and gives its connection back', async () => {
    const before = await epochs();
    const mistake = new TypeError('a mistake');
    const work = outsideBoxes(pool, async (connection) => {
      await addEpoch(connection);
      throw mistake;
    });
    expect(await failure(work)).to.equal(mistake);
    expect(await epochs()).to.equal(before);
    expect(pool.idleCount).to.equal(pool.totalCount);
  });

  it('is no success when a statement failed and its error was swallowed: Postgres rolls back in silence', async () => {
    const before = await epochs();
    const work = outsideBoxes(pool, async (connection) => {
      await addEpoch(connection);
      await connection.query('SELECT 1 / 0').catch(() => undefined);
    });
    expect(String(await failure(work))).to.include('rolled back');
    expect(await epochs()).to.equal(before);
  });

  it('leaves no box behind on its connection', async () => {
    const limits = { ...defaultLimits, connections: 1 };
    const single = createPool(database.pool.options.connectionString ?? '', limits, 'one', () => undefined);
    const boxes = (connection: Pick<pg.Pool, 'query'>) =>
      connection.query('SELECT box FROM boxgate.box').then(({ rows }) => rows.length);
    expect(await inBox(single, 'default', 'snapshot', boxes)).to.equal(1);
    expect(await outsideBoxes(single, boxes)).to.equal(0);
    expect(await withConnection(single, 20_000, boxes)).to.equal(0);
    await failure(inBox(single, 'default', 'write', () => Promise.reject(new Error('no'))));
    expect(await withConnection(single, 20_000, boxes)).to.equal(0);
    await single.end();
  });

  it('as a snapshot sees one moment, and as a write each statement its own', async () => {
    const counts = async (connection: pg.PoolClient) => {
      const count = () => connection.query('SELECT FROM boxgate.operator_epoch').then(({ rows }) => rows.length);
      const first = await count();
      await addEpoch(database.owner);
      return (await count()) - first;
    };
    expect(await inBox(pool, 'default', 'snapshot', counts)).to.equal(0);
    expect(await inBox(pool, 'default', 'write', counts)).to.equal(1);
  });

  it('takes no name of a box that could be more than a name', () => {
    for (const name of ["a'; DROP TABLE boxgate.box; --", '', 'A', 'a b', 'a'.repeat(64)]) {
      expect(() => inBox(pool, name, 'write', () => Promise.resolve())).to.throw(TypeError);
    }
  });

  describe('that takes longer than it may', () => {
    it('is an outage, its statement is stopped on the server, and its connection is not used again', async () => {
      const before = await epochs();
      const work = outsideBoxes(
        pool,
        async (connection) => {
          await addEpoch(connection);
          await connection.query("SET LOCAL statement_timeout = 0; SELECT pg_sleep(600), 'endless'");
        },
        300,
      );
      expect(await failure(work)).to.be.instanceOf(Outage);
      await eventually('the statement is stopped', async () => (await running()).length === 0);
      expect(await epochs()).to.equal(before);
      expect(await outsideBoxes(pool, () => Promise.resolve('the next one'))).to.equal('the next one');
    });

    it('is an outage also when its work waits for something else than Postgres', async () => {
      const endless = new Promise<never>(() => undefined);
      expect(await failure(outsideBoxes(pool, () => endless, 50))).to.be.instanceOf(Outage);
      await eventually('its connection is closed', async () => (await running()).length === 0);
    });

    it('counts the wait for a free connection', async () => {
      const held = await Promise.all([pool.connect(), pool.connect()]);
      expect(await failure(outsideBoxes(pool, () => Promise.resolve()))).to.be.instanceOf(Outage);
      held.forEach((connection) => {
        connection.release();
      });
      expect(await outsideBoxes(pool, () => Promise.resolve('free'))).to.equal('free');
    });

    it('may ask for more, and the server knows of it', async () => {
      const limits = (connection: pg.PoolClient) =>
        connection
          .query<{ of: string }>(
            "SELECT current_setting('statement_timeout') || ' ' || current_setting('lock_timeout') AS of",
          )
          .then(({ rows }) => rows[0]?.of);
      expect(await inBoxWithin(pool, 'default', { mode: 'write', limit: 60_000 }, limits)).to.equal('1min 10s');
      expect(await inBoxWithin(pool, 'default', { mode: 'write', limit: 5_000 }, limits)).to.equal('5s 5s');
      expect(await inBox(pool, 'default', 'write', limits)).to.equal('1500ms 1s');
    });
  });

  it('F-16 that is cut by pg_terminate_backend is an outage, the process lives, the next one works', async () => {
    const before = await epochs();
    const work = outsideBoxes(pool, async (connection) => {
      await addEpoch(connection);
      const { rows } = await connection.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await database.owner.query('SELECT pg_terminate_backend($1, 10000)', [rows[0]?.pid]);
      await connection.query('SELECT 1');
    });
    expect(await failure(work)).to.be.instanceOf(Outage);
    expect(await epochs()).to.equal(before);
    await outsideBoxes(pool, addEpoch);
    expect(await epochs()).to.equal(before + 1);
    expect(broken).to.not.have.length(0);
  });

  it('F-16 on a connection that broke while nobody used it is told of, and the next one works', async () => {
    await outsideBoxes(pool, () => Promise.resolve());
    const told = broken.length;
    await database.owner.query(
      `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'transaction-test'`,
    );
    await eventually('the break is told', () => broken.length > told && pool.totalCount === 0);
    expect(await outsideBoxes(pool, () => Promise.resolve('works'))).to.equal('works');
  });

  it('F-18 that meets a deadlock or a lock held for long is an outage', async () => {
    await database.owner.query("INSERT INTO boxgate.operator_epoch (cluster) VALUES ('held')");
    const holder = await database.owner.connect();
    await holder.query("BEGIN; SELECT FROM boxgate.operator_epoch WHERE cluster = 'held' FOR UPDATE");
    const work = outsideBoxes(pool, (connection) =>
      connection.query("UPDATE boxgate.operator_epoch SET epoch = 9 WHERE cluster = 'held'"),
    );
    expect(await failure(work))
      .to.be.instanceOf(Outage)
      .with.nested.property('cause.code', '55P03');
    await holder.query('ROLLBACK');
    holder.release();
  });
});

describe('a pool', () => {
  it('sets every limit on its connections', async () => {
    const database = await freshDatabase();
    const pool = createPool(database.apiUrl, defaultLimits, 'limits-test', () => undefined);
    const { rows } = await pool.query(
      `SELECT name, setting::integer AS setting FROM pg_settings
        WHERE name IN ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout') ORDER BY name`,
    );
    expect(rows).to.deep.equal([
      { name: 'idle_in_transaction_session_timeout', setting: defaultLimits.idleInTransactionTimeout },
      { name: 'lock_timeout', setting: defaultLimits.lockTimeout },
      { name: 'statement_timeout', setting: defaultLimits.statementTimeout },
    ]);
    expect(pool.options).to.include({
      max: defaultLimits.connections,
      connectionTimeoutMillis: defaultLimits.connectTimeout,
    });
    await pool.end();
    await database.drop();
  });
});
