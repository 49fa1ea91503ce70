import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import type pg from 'pg';
import { createPool, defaultLimits } from '../../../api/db/core/pool.ts';
import { readInPortions } from '../../../api/db/core/row-portions.ts';
import { freshDatabase } from '../../support/postgres.ts';
import type { TestDatabase } from '../../support/postgres.ts';

describe('rows in portions', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  let connection: pg.PoolClient;
  /** The rows of each portion. */
  const portions: string[] = [];

  before(async () => {
    database = await freshDatabase();
    pool = createPool(database.apiUrl, { ...defaultLimits, connections: 1 }, 'portions-test', () => undefined);
    connection = await pool.connect();
    const wire: unknown = Reflect.get(connection, 'connection');
    if (!(wire instanceof EventEmitter)) throw new TypeError('pg has no connection to listen to');
    wire.on('commandComplete', ({ text }: { text: string }) => {
      if (text.startsWith('FETCH')) portions.push(text);
    });
  });
  after(async () => {
    connection.release();
    await pool.end();
    await database.drop();
  });
  beforeEach(async () => {
    portions.length = 0;
    await connection.query('BEGIN');
  });
  afterEach(() => connection.query('ROLLBACK'));

  /** Reads the numbers up to `count`, as a statement that finds at most `most` rows. */
  async function numbersUpTo(count: number, most: number): Promise<readonly unknown[]> {
    const text = 'SELECT n FROM generate_series(1, $1::integer) AS n';
    return (await readInPortions<{ n: number }>(connection, { text, values: [count] }, most)).map(({ n }) => n);
  }

  const cases: readonly (readonly [rows: number, most: number, portions: readonly number[]])[] = [
    [350, 1_000, [100, 100, 100, 50]],
    [100, 1_000, [100, 0]],
    [0, 1_000, [0]],
    [100, 100, []],
  ];
  for (const [rows, most, expected] of cases) {
    it(`R-06: ${String(rows)} of at most ${String(most)} rows come in ${String(expected.length)} portions`, async () => {
      expect(await numbersUpTo(rows, most)).to.deep.equal(Array.from({ length: rows }, (_, nth) => nth + 1));
      expect(portions).to.deep.equal(expected.map((count) => `FETCH ${String(count)}`));
    });
  }

  it('R-06: are read twice in one transaction', async () => {
    expect(await numbersUpTo(150, 1_000)).to.have.length(150);
    expect(await numbersUpTo(101, 1_000)).to.have.length(101);
  });

  it('R-06: pass on an error in a later portion, and the connection stays in order', async () => {
    const text = 'SELECT 1 / (150 - n) AS n FROM generate_series(1, $1::integer) AS n';
    const failed = await readInPortions(connection, { text, values: [1_000] }, 1_000).catch(String);
    expect(failed).to.include('division by zero');
    await connection.query('ROLLBACK');
    await connection.query('BEGIN');
    expect(await numbersUpTo(3, 1_000)).to.deep.equal([1, 2, 3]);
  });
});
