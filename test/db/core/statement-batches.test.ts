import { expect } from 'chai';
import { createPool, defaultLimits } from '../../../api/db/core/pool.ts';
import { batchBounds } from '../../../api/db/core/batch-bounds.ts';
import { batchesOn } from '../../../api/db/core/statement-batches.ts';
import { fixedText, type Statement } from '../../../api/db/core/statement.ts';
import { freshDatabase } from '../../support/postgres.ts';

const one = fixedText('SELECT 1 AS one');

const oneForEach: Statement<string, string> = {
  boxOf: () => '',
  async run(db, items) {
    await db.rows(one, []);
    return items;
  },
};

describe('the batches on a pool', () => {
  it('ask each connection once whether it leads straight to Postgres, however many they are', async () => {
    const database = await freshDatabase();
    const limits = { ...defaultLimits, connections: 1 };
    const pool = createPool(database.apiUrl, limits, 'statement-batches-test', () => undefined);
    const texts: unknown[] = [];
    pool.on('connect', (connection) => {
      const own: unknown = Reflect.get(connection, 'query');
      if (typeof own !== 'function') throw new TypeError('no query');
      Reflect.set(connection, 'query', (query: { readonly text: string } | string, ...more: readonly unknown[]) => {
        texts.push(typeof query === 'string' ? query : query.text);
        const answer: unknown = Reflect.apply(own, connection, [query, ...more]);
        return answer;
      });
    });
    try {
      for (const item of ['a', 'b']) expect(await batchesOn(pool, batchBounds)(oneForEach)(item)).to.equal(item);
      expect(texts).to.deep.equal(['SELECT pg_backend_pid() AS process', one.text, one.text]);
    } finally {
      await pool.end();
      await database.drop();
    }
  });
});
