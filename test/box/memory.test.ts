import { expect } from 'chai';
import { createKeySealing } from '../../api/credentials/key-sealing.ts';
import { bumpVersion } from '../../api/db/box/box.ts';
import { batchedStatements } from '../../api/db/batched-statements.ts';
import { batchBounds } from '../../api/db/core/batch-bounds.ts';
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
    await database.owner.query('DELETE FROM boxgate.resource');
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
      return { client: found, bytes: state.bytes };
    });

  it('R-53 holds neither details nor descriptions of clients, so that they cost no memory', async () => {
    const text = 'x'.repeat(500_000);
    for (let nth = 0; nth < 10; nth += 1) await client(`c${String(nth)}`, { details: { text }, description: text });
    const found = await held('c3');
    expect(found?.client).to.deep.equal({ resourceType: 'Client', id: 'c3', grant_types: ['client_credentials'] });
    expect(found?.bytes).to.equal(20_000);
  });

  const policies = [
    ['matcho', { engine: 'matcho', matcho: { client: { details: { tier: 'gold' } } } }],
    ['a path of matcho', { engine: 'matcho', matcho: { params: { tier: '.client.details.tier' } } }],
    ['CEL', { engine: 'cel', expression: 'client["det" + "ails"].tier == "gold"' }],
    ['a JSON Schema', { engine: 'json-schema', schema: { additionalProperties: { minProperties: 3 } } }],
    ['a rule of several', { engine: 'complex', or: [{ engine: 'cel', expression: 'client.description == ""' }] }],
  ] as const;
  for (const [title, policy] of policies) {
    it(`R-53 holds all fields of clients once ${title} may see them, also when the policy comes later`, async () => {
      await client('app', { details: { tier: 'gold' }, description: 'one' });
      expect((await held('app'))?.client).to.not.have.property('details');
      await store('AccessPolicy', 'curious', policy);
      expect((await held('app'))?.client).to.deep.include({ details: { tier: 'gold' }, description: 'one' });
      await client('app', { details: { tier: 'silver' } });
      expect((await held('app'))?.client).to.deep.include({ details: { tier: 'silver' } });
    });
  }

  it('R-53 does not hold them where policies see other fields of the client only', async () => {
    await client('app', { details: { tier: 'gold' } });
    const plain = [
      {
        engine: 'matcho',
        matcho: { client: { id: 'app' }, resource: { id: '.client.id' } },
        description: 'of a client',
      },
      { engine: 'cel', expression: 'client.id == "app" && "code" in client.grant_types' },
      {
        engine: 'json-schema',
        schema: { required: ['token'], properties: { client: { required: ['id'], properties: { id: {} } } } },
      },
    ];
    for (const [nth, policy] of plain.entries()) await store('AccessPolicy', `client-${String(nth)}`, policy);
    expect((await held('app'))?.client).to.not.have.property('details');
  });

  const large = (id: string) => store('AccessPolicy', id, { engine: 'matcho', matcho: { uri: 'x'.repeat(290_000) } });

  it('R-53 drops boxes by the memory that they take, not by the number of their resources', async () => {
    await client('app');
    await large('first');
    expect((await held('app'))?.bytes).to.be.within(1_700_000, 1_900_000);
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
