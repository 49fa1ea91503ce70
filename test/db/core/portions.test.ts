import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import type pg from 'pg';
import { createPool, defaultLimits } from '../../../api/db/core/pool.ts';
import { readInPortions } from '../../../api/db/core/portions.ts';
import { freshDatabase } from '../../support/postgres.ts';
import type { TestDatabase } from '../../support/postgres.ts';

describe('rows in portions', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  let connection: pg.PoolClient;
  /** Portions after which Postgres waited to be asked for more. */
  let pauses = 0;

  before(async () => {
    database = await freshDatabase();
    pool = createPool(database.apiUrl, { ...defaultLimits, connections: 1 }, 'portions-test', () => undefined);
    connection = await pool.connect();
    const wire: unknown = Reflect.get(connection, 'connection');
    if (!(wire instanceof EventEmitter)) throw new TypeError('pg has no connection to listen to');
    wire.on('portalSuspended', () => (pauses += 1));
  });
  after(async () => {
    connection.release();
    await pool.end();
    await database.drop();
  });
  beforeEach(() => {
    pauses = 0;
  });

  /** Reads the numbers up to `count`, as a statement that finds at most `most` rows. */
  async function numbersUpTo(count: number, most: number): Promise<readonly unknown[]> {
    const text = 'SELECT n FROM generate_series(1, $1::integer) AS n';
    return (await readInPortions<{ n: number }>(connection, { text, values: [count] }, most)).map(({ n }) => n);
  }

  const cases: readonly (readonly [rows: number, most: number, pauses: number])[] = [
    [1_000, 1_000, 9],
    [250, 1_000, 2],
    [0, 1_000, 0],
    [100, 100, 0],
  ];
  for (const [rows, most, expected] of cases) {
    it(`R-06: ${String(rows)} of at most ${String(most)} rows come with ${String(expected)} pauses, in their order`, async () => {
      expect(await numbersUpTo(rows, most)).to.deep.equal(Array.from({ length: rows }, (_, nth) => nth + 1));
      // A portion that is full may be the last one: then Postgres says so when it is asked for more.
      expect(pauses).to.be.within(expected, expected + 1);
    });
  }

  it('R-06: an error in a later portion is passed on, and the connection stays in order', async () => {
    const text = 'SELECT 1 / (150 - n) AS n FROM generate_series(1, $1::integer) AS n';
    const failed = await readInPortions(connection, { text, values: [1_000] }, 1_000).catch(String);
    expect(failed).to.include('division by zero');
    expect(await numbersUpTo(3, 1_000)).to.deep.equal([1, 2, 3]);
  });
});
