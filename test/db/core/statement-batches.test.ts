import { expect } from 'chai';
import { createPool, defaultLimits } from '../../../api/db/core/pool.ts';
import { batchBounds, batchesOn } from '../../../api/db/hot/statement-batches.ts';
import { fixedText, type Statement } from '../../../api/db/hot/statement.ts';
import { eventually } from '../../support/eventually.ts';
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
      expect(texts.slice(1)).to.deep.equal([one.text, one.text]);
    } finally {
      await pool.end();
      await database.drop();
    }
  });

  it('begins a statement beside itself as soon as the requests wait that it asks for', async () => {
    const database = await freshDatabase();
    const pool = createPool(database.apiUrl, defaultLimits, 'statement-batches-test', () => undefined);
    const runs: { readonly items: readonly string[]; readonly end: () => void }[] = [];
    const held: Statement<string, string> = {
      boxOf: () => '',
      run: (_db, items) => new Promise((resolve) => runs.push({ items, end: () => resolve(items) })),
    };
    const begun = (): number => runs.length;
    try {
      const [usual, early] = [held, { ...held, beside: 2 }].map(batchesOn(pool, { ...batchBounds, slow: 60_000 }));
      const answers = [early?.('a')];
      await eventually('a statement has begun', () => begun() === 1);
      answers.push(early?.('b'));
      const other = [usual?.('c')];
      await eventually('another statement has begun', () => begun() === 2);
      answers.push(early?.('d'));
      other.push(usual?.('e'), usual?.('f'));
      await eventually('it has begun beside itself', () => begun() === 3);
      expect(runs.map(({ items }) => items)).to.deep.equal([['a'], ['c'], ['b', 'd']]);
      for (const { end } of runs.splice(0)) end();
      await eventually('the last one has begun when the other ended', () => begun() === 1);
      for (const { end } of runs) end();
      expect(await Promise.all([...answers, ...other])).to.deep.equal(['a', 'b', 'd', 'c', 'e', 'f']);
    } finally {
      await pool.end();
      await database.drop();
    }
  });
});
