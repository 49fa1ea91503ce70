import { expect } from 'chai';
import { randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { batchedStatements } from '../../api/db/hot/index.ts';
import { batchBounds, createPreparation, unprepared } from '../../api/db/hot/statement-batches.ts';
import { createPool, defaultLimits } from '../../api/db/core/pool.ts';
import type { Preparation } from '../../api/db/hot/statement-batches.ts';
import { requirePrimary } from '../../api/db/core/with-connection.ts';
import { bucketOf } from '../../api/db/session/bucket.ts';
import { findSession } from '../../api/db/hot/check.ts';
import { issueSession } from '../../api/db/hot/issue.ts';
import type { NewSession } from '../../api/db/hot/issue.ts';
import { boxDatabase } from '../records/box-database.ts';
import type { BoxDatabase } from '../records/box-database.ts';
import { startPooler } from '../support/pooler.ts';
import type { RunningPooler } from '../support/pooler.ts';

const now = Math.floor(Date.now() / 1000);
const bucket = bucketOf(now, now + 3600);
const partition = `session_${String(bucket)}`;
const digest = '0'.repeat(64);

function newSession(): NewSession {
  return {
    ...{ box: 'default', version: 1, bucket, expiresAt: now + 3600, type: 'c', client: 'a' },
    id: randomBytes(16).toString('hex'),
    hash: randomBytes(32).toString('hex'),
    ...{ remoteAddr: null, user: null, scope: null, audience: null, userAgent: null },
  };
}

/** A statement that is prepared on a connection. */
interface Prepared {
  readonly name: string;
  readonly statement: string;
  readonly parameters: number;
  readonly generic: number;
}

/** Tables and indexes, in the order of their names. */
interface Relations {
  readonly tables: readonly string[];
  readonly indexes: readonly string[];
}

async function preparedOn(connection: Pick<pg.Pool, 'query'>): Promise<readonly Prepared[]> {
  const { rows } = await connection.query<Prepared>(
    `SELECT name, statement, cardinality(parameter_types) AS parameters, generic_plans::integer AS generic
       FROM pg_prepared_statements`,
  );
  return rows;
}

describe('the batched statements', () => {
  let database: BoxDatabase;

  before(async () => {
    database = await boxDatabase();
    await database.owner.query('UPDATE boxgate.box SET config_version = 1');
  });
  after(() => database.end());

  function open(url = database.pool.options.connectionString ?? '', connections = 1): pg.Pool {
    return createPool(url, { ...defaultLimits, connections }, 'pooled-statements-test', () => undefined);
  }

  async function runEach(pool: pg.Pool): Promise<void> {
    const hot = batchedStatements(pool, { ...batchBounds, patience: 20_000 });
    const [session, box, client, id] = [newSession(), 'default', 'a', randomBytes(16).toString('hex')];
    expect(await hot.issue(session)).to.deep.equal({ version: 1, value: null });
    const own = { ...newSession(), user: null };
    const tokens = { familyHash: digest, tokenHash: digest, grant: 'c', authenticatedAt: null } as const;
    const ends = { createdAt: now * 1000, expiresAt: now * 1000, endsAt: now * 1000, sessionsEnd: now * 1000 };
    const family = { ...own, ...tokens, ...ends, id: randomUUID(), session: own.id };
    expect(await hot.issueFamily({ session: own, family })).to.deep.equal({ version: 1, value: null });
    expect((await hot.check(session)).value?.client).to.equal('a');
    // Too many buckets for a statement each: the rest share one.
    await Promise.all([0, 1, 2, 3, 4, 5].map((nth) => hot.check({ ...session, bucket: nth })));
    expect((await hot.version(box)).version).to.equal(1);
    expect((await hot.family({ box, id, hash: digest })).value).to.equal(undefined);
    const use = { session: own, family: id, tokenHash: digest, now: now * 1000, expiresAt: now * 1000, next: null };
    expect(await hot.refresh(use)).to.equal(false);
    const assertion = { box, client, jti: randomBytes(32).toString('hex'), request: id, expiresAt: now + 60 };
    expect(await hot.useAssertion(assertion)).to.equal(true);
    expect((await hot.serviceAccount({ box, client, namespace: 'a', name: 'a' })).found).to.equal(undefined);
  }

  it('are all prepared on a connection, with plans that no value changes: each is the call of a function', async () => {
    const pool = open();
    try {
      for (let nth = 0; nth < 7; nth += 1) await runEach(pool);
      const prepared = await preparedOn(pool);
      expect(prepared).to.have.length(9);
      for (const { name, statement, parameters, generic } of prepared) {
        expect(generic, statement).to.be.greaterThan(0);
        const values = Array.from({ length: parameters }, () => 'NULL').join(',');
        const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`EXPLAIN (COSTS off) EXECUTE "${name}"(${values})`);
        const called = /FROM boxgate\.(\w+)\(/.exec(statement)?.[1];
        expect(rows.map((row) => row['QUERY PLAN'])).to.deep.equal([`Function Scan on ${String(called)}`]);
      }
    } finally {
      await pool.end();
    }
  });

  it('read and write one bucket, by the same indexes as if their text were sent', async () => {
    const prepared = await relationsOf(createPreparation());
    expect(prepared.issue.tables).to.deep.equal(['session', partition]);
    expect(prepared.check.tables).to.deep.equal([partition]);
    expect(prepared.check.indexes).to.not.deep.equal([]);
    expect(prepared).to.deep.equal(await relationsOf(unprepared));
  });

  /** Returns the tables and indexes of sessions that the statements use on a new connection that has run them often. */
  async function relationsOf(prepare: Preparation): Promise<Readonly<Record<'issue' | 'check', Relations>>> {
    const pool = open();
    const connection = await pool.connect();
    try {
      await requirePrimary(connection);
      const db = prepare(connection);
      const session = newSession();
      const using = async (work: () => Promise<unknown>): Promise<Relations> => {
        await connection.query('BEGIN');
        await work();
        const relations = await lockedSessions(connection);
        await connection.query('COMMIT');
        return relations;
      };
      for (let nth = 0; nth < 7; nth += 1) {
        await issueSession.run(db, [newSession()]);
        await findSession.run(db, [session]);
      }
      const issue = await using(() => issueSession.run(db, [session]));
      const check = await using(async () => {
        expect((await findSession.run(db, [session]))[0]?.value?.client).to.equal('a');
      });
      return { issue, check };
    } finally {
      connection.release();
      await pool.end();
    }
  }

  /**
   * Returns what the transaction of a connection has locked: every table of its plans, and every index that it reads.
   */
  async function lockedSessions(connection: pg.PoolClient): Promise<Relations> {
    const { rows } = await connection.query<{ name: string; index: boolean }>(
      `SELECT DISTINCT relname AS name, relkind = 'i' AS index FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
        WHERE pid = pg_backend_pid() AND relname ~ '^session(_[0-9]|$)' ORDER BY 1`,
    );
    const namesOf = (index: boolean) => rows.filter((row) => row.index === index).map(({ name }) => name);
    return { tables: namesOf(false), indexes: namesOf(true) };
  }

  it('answer while a migration changes a function under their prepared statements', async () => {
    const pool = open(undefined, 2);
    const hot = batchedStatements(pool, { ...batchBounds, patience: 20_000 });
    const session = newSession();
    await hot.issue(session);
    const check = () => hot.check(session);
    try {
      for (let nth = 0; nth < 8; nth += 1) await Promise.all(Array.from({ length: 40 }, check));
      expect(await preparedOn(pool)).to.not.deep.equal([]);
      const asking = (async () => {
        for (let nth = 0; nth < 300; nth += 1) expect((await check()).value?.client).to.equal('a');
      })();
      await database.owner.query(await withAnotherColumn());
      await asking;
      const answers = await Promise.all(Array.from({ length: 400 }, check));
      expect(answers.filter(({ value }) => value?.client !== 'a')).to.deep.equal([]);
    } finally {
      await pool.end();
    }
  });

  /** Returns SQL that replaces `check_sessions` by a function whose result has one more column. */
  async function withAnotherColumn(): Promise<string> {
    const { rows } = await database.owner.query<{ definition: string }>(
      `SELECT pg_get_functiondef('boxgate.check_sessions'::regproc) AS definition`,
    );
    const old = rows[0]?.definition ?? '';
    const header = old.slice(0, old.indexOf('AS $function$'));
    const replacement = header
      .replace('grant_type "char")', 'grant_type "char", added integer)')
      .replace('LANGUAGE plpgsql', 'LANGUAGE sql');
    expect(replacement).to.include('added').and.include('LANGUAGE sql');
    return `BEGIN;
      ${old.replace('boxgate.check_sessions(', 'boxgate.check_sessions_before(')};
      DROP FUNCTION boxgate.check_sessions;
      ${replacement} AS 'SELECT *, 1 FROM boxgate.check_sessions_before($1, $2, $3, $4)';
      GRANT EXECUTE ON FUNCTION boxgate.check_sessions TO boxgate_api;
      COMMIT`;
  }

  describe('behind PgBouncer in transaction mode', () => {
    let pooler: RunningPooler;
    let pool: pg.Pool;

    before(async () => {
      pooler = await startPooler(database.pool.options.connectionString ?? '');
      pool = open(pooler.url, 2);
    });
    after(async () => {
      await pool.end();
      await pooler.stop();
    });

    /** Returns the process of the connection to Postgres that answers. */
    async function serverProcess(): Promise<number | undefined> {
      const { rows } = await pool.query<{ process: number }>('SELECT pg_backend_pid() AS process');
      return rows[0]?.process;
    }

    it('are sent as text, so that none is missing on the next server connection', async () => {
      // Two transactions at a time need two server connections.
      const callers = [await pool.connect(), await pool.connect()];
      for (const end of ['BEGIN', 'COMMIT']) for (const caller of callers) await caller.query(end);
      for (const caller of callers) caller.release();
      const processes = [await serverProcess(), await serverProcess()];
      expect(processes[0]).to.not.equal(processes[1]);
      for (let nth = 0; nth < 3; nth += 1) await runEach(pool);
      expect([await preparedOn(pool), await preparedOn(pool)]).to.deep.equal([[], []]);
    });
  });
});
