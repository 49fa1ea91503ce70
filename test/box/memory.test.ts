import { expect } from 'chai';
import { createKeySealing } from '../../api/credentials/key-sealing.ts';
import { bumpVersion } from '../../api/db/box/box.ts';
import { batchedStatements } from '../../api/db/hot/index.ts';
import { batchBounds } from '../../api/db/hot/statement-batches.ts';
import { Outage } from '../../api/db/core/outage.ts';
import { storeResources } from '../../api/db/resource/store.ts';
import { createStateCache } from '../../api/box/state-cache.ts';
import type { StateCache } from '../../api/box/state-cache.ts';
import { boxDatabase } from '../records/box-database.ts';
import type { BoxDatabase } from '../records/box-database.ts';

describe('the memory of a replica', () => {
  let database: BoxDatabase;
  let cache: StateCache;
  let unusable: string[];

  before(async () => {
    database = await boxDatabase();
  });
  after(() => database.end());
  beforeEach(async () => {
    await database.owner.query('DELETE FROM boxgate.resource; DELETE FROM boxgate.box_use');
    unusable = [];
    cache = createCache(1_000);
  });

  /** Creates a cache; a box with 1,000 resources of the usual size takes 2 MB. */
  function createCache(most: number): StateCache {
    const placement = { pool: database.pool, statements: batchedStatements(database.pool, batchBounds) };
    return createStateCache({
      most,
      placementOf: () => placement,
      sealing: createKeySealing([Buffer.alloc(32)]),
      onUnusable: (_box, _kind, _id, reason) => unusable.push(reason),
    });
  }

  function store(kind: 'Client' | 'AccessPolicy', id: string, fields: object): Promise<void> {
    return database.write(async (connection) => {
      const body = { resourceType: kind, id, ...fields };
      const write = { kind, id, body, secrets: undefined, owner: undefined, digest: undefined };
      await storeResources(connection, 'default', await bumpVersion(connection, 'default'), [write]);
    });
  }

  const client = (id: string, fields: object = {}) =>
    store('Client', id, { grant_types: ['client_credentials'], ...fields });

  const held = (id: string) =>
    cache.decide('default', async (state) => {
      const { client: found } = state.clients.get(id) ?? {};
      return { client: found, bytes: state.size.bytes };
    });

  const large = (id: string) => store('AccessPolicy', id, { engine: 'matcho', matcho: { uri: 'x'.repeat(290_000) } });

  it('R-53 drops boxes by the memory that they take, not by the number of their resources', async () => {
    await client('app');
    await large('first');
    expect((await held('app'))?.bytes).to.be.within(290_000, 300_000);
    await cache.decide('other', async () => ({}));
    expect(cache.size).to.equal(2);
    await large('second');
    await held('app');
    expect(cache.size).to.equal(1);
  });

  it('R-53 does not load a box that takes more memory than a replica has, until it has become smaller', async () => {
    await client('app');
    for (const id of ['a', 'b', 'c']) await large(id);
    for (let times = 0; times < 3; times += 1) {
      expect(await held('app').catch((error: unknown) => error)).to.be.instanceOf(Outage);
    }
    // Measured once: the other requests cost a place in a batch.
    expect(unusable).to.have.lengthOf(1);
    expect(unusable[0]).to.match(/^box default has \d+ bytes of configuration; a replica takes 666666/);
    await store('AccessPolicy', 'b', { engine: 'allow' });
    expect((await held('app'))?.client).to.include({ id: 'app' });
  });
});
