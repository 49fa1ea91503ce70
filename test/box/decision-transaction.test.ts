import { expect } from 'chai';
import { insertSession } from '../../api/db/session/session.ts';
import { Refusal } from '../../api/box/state-cache.ts';
import { boxDatabase } from '../records/box-database.ts';
import type { BoxDatabase } from '../records/box-database.ts';
import { cacheRig, nameIn, sessionOf, storeClient } from './cache-rig.ts';
import type { CacheRig } from './cache-rig.ts';

describe('a transaction of a decision', () => {
  let database: BoxDatabase;
  let rig: CacheRig;

  before(async () => {
    database = await boxDatabase();
  });
  after(() => database.end());
  beforeEach(async () => {
    rig = await cacheRig(database);
  });
  afterEach(() => rig.end());

  const store = (id: string, name: string) => storeClient(database, id, name);
  const nameOf = (id: string) => nameIn(rig.cache, id);

  it('holds the configuration still until it ends', async () => {
    await store('a', 'before');
    const order: string[] = [];
    let change: Promise<unknown> | undefined;
    await rig.cache.decide('default', (_state, _statements, transaction) =>
      transaction(async (connection) => {
        change = store('a', 'after').then(() => order.push('changed'));
        await connection.query('SELECT pg_sleep(0.05)');
        order.push('done');
      }),
    );
    await change;
    expect(order).to.deep.equal(['done', 'changed']);
  });

  it('is not begun on a configuration that has moved: the decision is repeated', async () => {
    await store('a', 'before');
    await nameOf('a');
    let attempts = 0;
    const worked: string[] = [];
    const answer = await rig.cache.decide('default', async (state, _statements, transaction) => {
      attempts += 1;
      if (attempts === 1) await store('a', 'after');
      return transaction((connection) => {
        worked.push(state.clients.get('a')?.client.name ?? '');
        return connection.query('SELECT 1').then(() => worked.at(-1));
      });
    });
    expect(answer).to.equal('after');
    expect(worked).to.deep.equal(['after']);
  });

  it('is the locked one where the decision is made under a lock: no second connection is waited for', async () => {
    await store('a', 'start');
    const decide = (id: number) => {
      let rounds = 0;
      return rig.cache.decide('default', async (_state, _statements, transaction) => {
        rounds += 1;
        if (rounds <= 2) {
          await store('a', `${String(id)} ${String(rounds)}`);
          return undefined;
        }
        return transaction(async (connection) => (await connection.query('SELECT 1 AS one')).rowCount);
      });
    };
    // More at once than the pool has connections.
    const answers = await Promise.all(Array.from({ length: 6 }, (_, id) => decide(id)));
    expect(answers).to.deep.equal(Array(6).fill(1));
  });

  for (const round of ['first', 'locked'] as const) {
    it(`stays when the decision refuses after it, and leaves nothing when it refuses itself: ${round} round`, async () => {
      await store('a', 'start');
      const refusing = async (where: 'after' | 'inside'): Promise<unknown> => {
        let rounds = 0;
        const decided = rig.cache.decide('default', async (_state, _statements, transaction) => {
          rounds += 1;
          if (round === 'locked' && rounds <= 2) {
            await store('a', `${where} ${String(rounds)}`);
            return;
          }
          await transaction(async (connection) => {
            await insertSession(connection, sessionOf(where), null, null);
            if (where === 'inside') throw new Refusal(where);
          });
          throw new Refusal(where);
        });
        return decided.catch((error: unknown) => error);
      };
      await database.owner.query(`DELETE FROM boxgate.session`);
      for (const where of ['after', 'inside'] as const) {
        expect(await refusing(where))
          .to.be.instanceOf(Refusal)
          .with.property('message', where);
      }
      const { rows } = await database.owner.query<{ client: string }>(`SELECT client FROM boxgate.session`);
      expect(rows).to.deep.equal([{ client: 'after' }]);
    });
  }

  it('leaves nothing behind when its work throws', async () => {
    await store('a', 'kept');
    const failing = rig.cache.decide('default', (_state, _statements, transaction) =>
      transaction(async (connection) => {
        await connection.query(`DELETE FROM boxgate.resource`);
        throw new RangeError('on purpose');
      }),
    );
    await failing.then(
      () => expect.fail('it did not throw'),
      (error: unknown) => expect(error).to.be.instanceOf(RangeError),
    );
    expect(await nameIn(rig.createCache(), 'a')).to.deep.equal({ name: 'kept' });
  });
});
