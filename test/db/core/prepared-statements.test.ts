import { expect } from 'chai';
import type pg from 'pg';
import { Problem } from '../../../api/problem.ts';
import { createPool, defaultLimits } from '../../../api/db/core/pool.ts';
import { requirePrimary } from '../../../api/db/core/with-connection.ts';
import { createPreparation, unprepared } from '../../../api/db/hot/statement-batches.ts';
import type { Preparation } from '../../../api/db/hot/statement-batches.ts';
import { fixedText } from '../../../api/db/hot/statement.ts';
import type { FixedText } from '../../../api/db/hot/statement.ts';
import { freshDatabase } from '../../support/postgres.ts';
import type { TestDatabase } from '../../support/postgres.ts';

/** The objects that the statements of these tests read. */
const objects = `
  CREATE TABLE boxgate.probe (id integer, size integer);
  INSERT INTO boxgate.probe VALUES (1, 7);
  GRANT SELECT ON boxgate.probe TO boxgate_api;
  CREATE FUNCTION boxgate.probe(p_ids integer[]) RETURNS TABLE (id integer) LANGUAGE sql AS 'SELECT unnest(p_ids)'`;
const dropped = 'DROP TABLE boxgate.probe; DROP FUNCTION boxgate.probe';

const ofTable = fixedText('SELECT * FROM boxgate.probe WHERE id = $1');
const ofFunction = fixedText('SELECT * FROM boxgate.probe($1)');

/** A change of a migration, a prepared statement that it concerns, and the rows of the statement afterwards. */
interface Change {
  readonly sql: string;
  readonly fixed: FixedText;
  readonly values: readonly string[];
  readonly after: object;
  /** Code of the error that a prepared statement meets. */
  readonly code: string;
}

const changes: Readonly<Record<string, Change>> = {
  'gives a function another column': {
    sql: `DROP FUNCTION boxgate.probe(integer[]);
          CREATE FUNCTION boxgate.probe(p_ids integer[]) RETURNS TABLE (id integer, added text)
          LANGUAGE sql AS $$ SELECT unnest(p_ids), 'new' $$`,
    ...{ fixed: ofFunction, values: ['{1}'], after: { id: 1, added: 'new' }, code: '0A000' },
  },
  'gives a function parameters of another type': {
    sql: `DROP FUNCTION boxgate.probe(integer[]);
          CREATE FUNCTION boxgate.probe(p_ids text[]) RETURNS TABLE (id integer)
          LANGUAGE sql AS $$ SELECT unnest(p_ids)::integer $$`,
    ...{ fixed: ofFunction, values: ['{1}'], after: { id: 1 }, code: '42883' },
  },
  'gives a column another type': {
    sql: 'ALTER TABLE boxgate.probe ALTER COLUMN size TYPE text',
    ...{ fixed: ofTable, values: ['1'], after: { id: 1, size: '7' }, code: '0A000' },
  },
  'adds a column': {
    sql: 'ALTER TABLE boxgate.probe ADD COLUMN added boolean DEFAULT true',
    ...{ fixed: ofTable, values: ['1'], after: { id: 1, size: 7, added: true }, code: '0A000' },
  },
};

describe('a prepared statement', () => {
  let database: TestDatabase;
  let owner: pg.Pool;
  let pool: pg.Pool;
  let connection: pg.PoolClient;
  let prepare: Preparation;

  before(async () => {
    database = await freshDatabase();
    owner = createPool(database.ownerUrl, defaultLimits, 'owner', () => undefined);
    pool = createPool(database.apiUrl, { ...defaultLimits, connections: 1 }, 'prepared-test', () => undefined);
  });
  beforeEach(async () => {
    await owner.query(objects);
    connection = await pool.connect();
    prepare = createPreparation();
  });
  afterEach(async () => {
    connection.release(true);
    await owner.query(dropped);
  });
  after(async () => {
    await Promise.all([pool.end(), owner.end()]);
    await database.drop();
  });

  async function rowsOf(fixed: FixedText, values: readonly string[]): Promise<readonly object[]> {
    await requirePrimary(connection);
    return prepare(connection).rows(fixed, values);
  }

  /** Returns how often the connection has run each statement that is prepared on it. */
  async function runs(): Promise<readonly number[]> {
    const { rows } = await connection.query<{ runs: number }>(
      'SELECT (generic_plans + custom_plans)::integer AS runs FROM pg_prepared_statements ORDER BY prepare_time',
    );
    return rows.map((row) => row.runs);
  }

  function failure(work: Promise<unknown>): Promise<unknown> {
    return work.then(
      () => 'no error',
      (error: unknown) => error,
    );
  }

  it('is prepared once on each connection straight to Postgres, and run from then on', async () => {
    for (let nth = 0; nth < 3; nth += 1) expect(await rowsOf(ofTable, ['1'])).to.deep.equal([{ id: 1, size: 7 }]);
    expect(await rowsOf(ofFunction, ['{1}'])).to.deep.equal([{ id: 1 }]);
    expect(await runs()).to.deep.equal([3, 1]);
  });

  it('costs its connection one question, before the first statement', async () => {
    const texts: unknown[] = [];
    const noting = new Proxy(connection, {
      get(target, name) {
        const own: unknown = Reflect.get(target, name);
        if (name !== 'query' || typeof own !== 'function') return own;
        return (query: { readonly text: string } | string, ...more: readonly unknown[]): unknown => {
          texts.push(typeof query === 'string' ? query : query.text);
          return Reflect.apply(own, target, [query, ...more]);
        };
      },
    });
    for (let nth = 0; nth < 3; nth += 1) {
      await requirePrimary(noting);
      await prepare(noting).rows(ofTable, ['1']);
    }
    expect(texts.slice(1)).to.deep.equal([ofTable.text, ofTable.text, ofTable.text]);
  });

  it('has a name that follows from its text', () => {
    expect(fixedText(ofTable.text)).to.deep.equal(ofTable);
    expect(ofTable.name).to.not.equal(ofFunction.name);
    expect(Buffer.byteLength(ofTable.name)).to.be.at.most(63);
  });

  it('is none inside a transaction, which could not go on after a refused one', async () => {
    expect(await unprepared(connection).rows(ofTable, ['1'])).to.deep.equal([{ id: 1, size: 7 }]);
    expect(await runs()).to.deep.equal([]);
  });

  for (const [what, { sql, fixed, values, after, code }] of Object.entries(changes)) {
    it(`reaches its caller with the new result when a migration ${what}`, async () => {
      await rowsOf(fixed, values);
      await owner.query(sql);
      const again = failure(connection.query({ ...fixed, values: [...values] }));
      expect(await again).to.have.property('code', code);
      expect(await rowsOf(fixed, values)).to.deep.equal([after]);
      expect(await rowsOf(fixed, values)).to.deep.equal([after]);
    });
  }

  it('is sent as text, and so is each later one, when it is missing on the connection', async () => {
    await rowsOf(ofTable, ['1']);
    await connection.query('DEALLOCATE ALL');
    expect(await rowsOf(ofTable, ['1'])).to.deep.equal([{ id: 1, size: 7 }]);
    expect(await rowsOf(ofFunction, ['{1}'])).to.deep.equal([{ id: 1 }]);
    expect(await runs()).to.deep.equal([]);
  });

  it('is sent as text when the connection has another one of its name', async () => {
    await connection.query(`PREPARE "${ofTable.name}" AS SELECT 2 AS id`);
    expect(await rowsOf(ofTable, ['1'])).to.deep.equal([{ id: 1, size: 7 }]);
  });

  it('fails as its text does when its text is wrong, or a value', async () => {
    const missing = await failure(rowsOf(fixedText('SELECT * FROM boxgate.missing'), []));
    expect(missing).to.have.property('code', '42P01');
    expect(await failure(rowsOf(ofTable, ['x']))).to.be.instanceOf(Problem);
    expect(await rowsOf(ofTable, ['1'])).to.deep.equal([{ id: 1, size: 7 }]);
  });
});
