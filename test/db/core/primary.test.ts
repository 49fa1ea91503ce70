import { expect } from 'chai';
import type pg from 'pg';
import { createPool, defaultLimits } from '../../../api/db/core/pool.ts';
import { withConnection } from '../../../api/db/core/with-connection.ts';
import { freshDatabase } from '../../support/postgres.ts';
import type { TestDatabase } from '../../support/postgres.ts';

describe('a piece of work on Postgres', () => {
  let database: TestDatabase;

  before(async () => {
    database = await freshDatabase();
  });
  after(() => database.drop());

  /** Returns the statements that a connection sends for three pieces of work. */
  async function statementsOfThree(onConnect: (connection: pg.PoolClient) => void): Promise<readonly unknown[]> {
    const texts: unknown[] = [];
    const pool = createPool(database.apiUrl, { ...defaultLimits, connections: 1 }, 'primary-test', () => undefined);
    pool.on('connect', (connection) => {
      onConnect(connection);
      const own: unknown = Reflect.get(connection, 'query');
      if (typeof own !== 'function') throw new TypeError('no query');
      Reflect.set(connection, 'query', (text: string) => {
        texts.push(text.includes('pg_is_in_recovery') ? 'recovery?' : text);
        const answer: unknown = Reflect.apply(own, connection, [text]);
        return answer;
      });
    });
    try {
      for (const nth of [1, 2, 3]) {
        await withConnection(pool, 10_000, (connection) => connection.query(`SELECT ${String(nth)}`));
      }
    } finally {
      await pool.end();
    }
    return texts;
  }

  it('asks a connection straight to Postgres once whether it leads to a primary', async () => {
    expect(await statementsOfThree(() => undefined)).to.deep.equal(['recovery?', 'SELECT 1', 'SELECT 2', 'SELECT 3']);
  });

  it('asks again and again behind a pooler, which may have changed to a standby', async () => {
    // E-29: PgBouncer gives its callers process IDs of its own.
    const asked = await statementsOfThree((connection) => Reflect.set(connection, 'processID', 0));
    expect(asked).to.deep.equal(['recovery?', 'SELECT 1', 'recovery?', 'SELECT 2', 'recovery?', 'SELECT 3']);
  });
});
