import { expect } from 'chai';
import { backUp } from '../support/backup.ts';
import { boxDatabase } from '../records/box-database.ts';
import type { BoxDatabase } from '../records/box-database.ts';
import { cacheRig, nameIn, removeClient, storeClient } from './cache-rig.ts';
import type { CacheRig } from './cache-rig.ts';

describe('F-19 the cache of box states believes a database that went back to a backup', () => {
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
  const remove = (id: string) => removeClient(database, id);
  const nameOf = (id: string) => nameIn(rig.cache, id);

  let restore: () => Promise<void>;

  beforeEach(async () => {
    await store('a', 'of the backup');
    await store('deleted', 'of the backup');
    restore = await backUp(database.owner);
    await store('a', 'lost');
    await store('b', 'lost');
    await remove('deleted');
    expect(await nameOf('a')).to.deep.equal({ name: 'lost' });
  });

  async function expectTheBackup(): Promise<void> {
    const names = await Promise.all(Array.from({ length: 20 }, () => nameOf('a')));
    expect(new Set(names.map((found) => found?.name))).to.deep.equal(new Set(['of the backup']));
    expect(await nameOf('b'), 'made since the backup').to.deep.equal({ name: undefined });
    expect(await nameOf('deleted')).to.deep.equal({ name: 'of the backup' });
    rig.taken.length = 0;
    await nameOf('a');
    expect(rig.taken, 'it is healed').to.deep.equal([]);
  }

  it('and gives no answer of a decision during which it became known that the database is a backup', async () => {
    const decided = rig.cache.decide('default', async () => {
      rig.restored.at = 2_000 * Date.now();
      return 'an answer';
    });
    const refused = await decided.catch((error: unknown) => error);
    expect(String(refused)).to.include('DataMissing');
  });

  it('at once', async () => {
    await restore();
    await expectTheBackup();
  });

  it('reads it twice at most for all who ask at once, not once for each', async () => {
    await restore();
    rig.taken.length = 0;
    const names = await Promise.all(Array.from({ length: 200 }, () => nameOf('a')));
    expect(new Set(names.map((found) => found?.name))).to.deep.equal(new Set(['of the backup']));
    expect(rig.taken.length).to.be.within(1, 2);
  });

  for (const changes of [1, 2, 3, 4, 10]) {
    it(`after ${String(changes)} more changes`, async () => {
      await restore();
      for (let count = 0; count < changes; count += 1) await store('c', 'after it');
      await expectTheBackup();
      expect(await nameOf('c')).to.deep.equal({ name: 'after it' });
    });
  }
});
