import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { Outage } from '../../api/db/core/outage.ts';
import { boxDatabase } from '../records/box-database.ts';
import type { BoxDatabase } from '../records/box-database.ts';
import { cacheRig, nameIn, storeClient } from './cache-rig.ts';
import type { CacheRig } from './cache-rig.ts';

describe('the cache of box states, when Postgres does not answer,', () => {
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

  it('tells everybody who waits for a box at once that Postgres does not answer', async () => {
    await store('a', 'locked away');
    await nameOf('a');
    await store('a', 'moved');
    const blocker = await database.owner.connect();
    try {
      await blocker.query('BEGIN; LOCK TABLE boxgate.resource IN ACCESS EXCLUSIVE MODE');
      const answers = Promise.allSettled(Array.from({ length: 30 }, () => nameOf('a')));
      // One after the other they would take thirty times as long as a statement may.
      const settled = await Promise.race([answers, sleep(40_000, undefined, { ref: false })]);
      expect(settled, 'they wait for each other').not.to.equal(undefined);
      for (const answer of settled ?? []) {
        expect(answer.status === 'rejected' && answer.reason instanceof Outage).to.equal(true);
      }
    } finally {
      await blocker.query('ROLLBACK');
      blocker.release();
    }
    expect(await nameOf('a')).to.deep.equal({ name: 'moved' });
  });

  it('goes on reading a box that takes longer than a request can wait: those who ask later are served', async () => {
    await store('a', 'large');
    const slow = await database.owner.connect();
    try {
      await slow.query('BEGIN; LOCK TABLE boxgate.resource IN ACCESS EXCLUSIVE MODE');
      const [first] = await Promise.allSettled([nameOf('a')]);
      expect(first.status).to.equal('rejected');
      rig.taken.length = 0;
    } finally {
      await slow.query('ROLLBACK');
      slow.release();
    }
    expect(await nameOf('a')).to.deep.equal({ name: 'large' });
    expect(rig.taken, 'the load that was begun has served it').to.deep.equal([]);
  });
});
