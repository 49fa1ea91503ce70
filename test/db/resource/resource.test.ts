import { expect } from 'chai';
import { bumpVersion } from '../../../api/db/box/box.ts';
import { digestsOf, findResources, readResource } from '../../../api/db/resource/resource.ts';
import type { Owner } from '../../../api/db/resource/resource.ts';
import { resourceListing } from '../../../api/db/resource/search.ts';
import { deleteResources, lockResources } from '../../../api/db/resource/write.ts';
import { storeResources } from '../../../api/db/resource/store.ts';
import type { ResourceWrite } from '../../../api/db/resource/store.ts';
import { boxDatabase } from '../../records/box-database.ts';
import type { BoxDatabase } from '../../records/box-database.ts';

const key = { kind: 'Client', id: 'a' } as const;

function client(id: string, body: object = {}, rest: Partial<ResourceWrite> = {}): ResourceWrite {
  const full = { resourceType: 'Client', id, grant_types: ['client_credentials'], ...body };
  return { kind: 'Client', id, body: full, secrets: undefined, owner: undefined, digest: undefined, ...rest };
}

function box(body: object): ResourceWrite {
  const full = { resourceType: 'Box', id: 'default', ...body };
  return { kind: 'Box', id: 'default', body: full, secrets: undefined, owner: undefined, digest: undefined };
}

const ownerOne: Owner = { cluster: 'c1', name: 'default/a', uid: 'u1' };

describe('the resource statements', () => {
  let database: BoxDatabase;

  beforeEach(async () => {
    database = await boxDatabase();
  });
  afterEach(() => database.end());

  /** Stores resources; returns the new version. */
  function store(...resources: readonly ResourceWrite[]): Promise<number> {
    return database.write(async (connection) => {
      const version = await bumpVersion(connection, 'default');
      await storeResources(connection, 'default', version, resources);
      return version;
    });
  }

  function remove(id: string): Promise<number> {
    return database.write(async (connection) => {
      const version = await bumpVersion(connection, 'default');
      await deleteResources(connection, 'default', version, [{ kind: 'Client', id }]);
      return version;
    });
  }

  async function columns(id = 'a'): Promise<Record<string, unknown> | undefined> {
    const { rows } = await database.owner.query<Record<string, unknown>>(
      `SELECT version::float8, sessions_from::float8, revoked_before, secrets, created_at < updated_at AS touched
         FROM boxgate.resource WHERE box = 'default' AND id = $1`,
      [id],
    );
    return rows[0];
  }

  async function revocations(): Promise<readonly unknown[]> {
    const { rows } = await database.owner.query<Record<string, unknown>>(
      `SELECT subject, version::float FROM boxgate.revocation WHERE box = 'default' ORDER BY version, subject`,
    );
    return rows.map((row) => Object.values(row));
  }

  it('stores and reads a resource with its version, owner and whether it has a secret', async () => {
    const version = await store(client('a', { name: 'é "x"' }, { secrets: ['$sha256$1'], owner: ownerOne }));
    const found = await database.read((connection) => readResource(connection, 'default', key));
    expect(found).to.deep.include({
      kind: 'Client',
      id: 'a',
      version,
      hasSecret: true,
      owner: ownerOne,
      body: { resourceType: 'Client', id: 'a', grant_types: ['client_credentials'], name: 'é "x"' },
    });
  });

  it('finds nothing of another box', async () => {
    await store(client('a'));
    const { pool } = database;
    const { inBox } = await import('../../../api/db/core/transaction.ts');
    const found = await inBox(pool, 'other', 'snapshot', async (connection) => [
      await readResource(connection, 'default', key),
      await readResource(connection, 'other', key),
    ]);
    expect(found).to.deep.equal([undefined, undefined]);
  });

  it('keeps the secrets when none are given, and replaces or removes them when they are', async () => {
    await store(client('a', {}, { secrets: ['$sha256$1', '$sha256$2'] }));
    await store(client('a', { name: 'n' }));
    expect((await columns())?.['secrets']).to.deep.equal(['$sha256$1', '$sha256$2']);
    await store(client('a', {}, { secrets: ['$sha256$3'] }));
    expect((await columns())?.['secrets']).to.deep.equal(['$sha256$3']);
    await store(client('a', {}, { secrets: [] }));
    expect((await columns())?.['secrets']).to.deep.equal([]);
  });

  describe('sessions_from', () => {
    it('begins at the version of the creation, without a revocation', async () => {
      const version = await store(client('a'));
      expect(await columns()).to.include({ version, sessions_from: version });
      expect(await revocations()).to.deep.equal([]);
    });

    it('stays when anything else changes', async () => {
      const first = await store(client('a', { active: true }));
      const second = await store(client('a', { name: 'n' }));
      expect(await columns()).to.include({ version: second, sessions_from: first, touched: true });
      expect(await revocations()).to.deep.equal([]);
    });

    it('moves when a client is disabled, once, and stays when it is active again', async () => {
      await store(client('a'));
      const disabled = await store(client('a', { active: false }));
      await store(client('a', { active: false, name: 'n' }));
      await store(client('a', { active: true }));
      expect((await columns())?.['sessions_from']).to.equal(disabled);
      expect(await revocations()).to.deep.equal([['client:a', disabled]]);
    });

    it('moves when a client is created again', async () => {
      await store(client('a'));
      const deleted = await remove('a');
      const again = await store(client('a'));
      expect((await columns())?.['sessions_from']).to.equal(again);
      expect(await revocations()).to.deep.equal([
        ['client:a', deleted],
        ['client:a', again],
      ]);
    });

    const others: Record<string, Owner> = {
      'another uid': { ...ownerOne, uid: 'u2' },
      'another cluster': { ...ownerOne, cluster: 'c2' },
    };
    for (const [what, owner] of Object.entries(others)) {
      it(`moves when the owner changes to ${what}`, async () => {
        await store(client('a', {}, { owner: ownerOne }));
        await store(client('a', {}, { owner: ownerOne }));
        expect(await revocations()).to.deep.equal([]);
        const moved = await store(client('a', {}, { owner }));
        expect((await columns())?.['sessions_from']).to.equal(moved);
        expect(await revocations()).to.deep.equal([['client:a', moved]]);
      });
    }

    it('stays when the client is retained without an owner, and moves when somebody takes it over', async () => {
      const first = await store(client('a', {}, { owner: ownerOne }));
      await store(client('a'));
      expect((await columns())?.['sessions_from']).to.equal(first);
      const taken = await store(client('a', {}, { owner: { ...ownerOne, uid: 'u2' } }));
      expect((await columns())?.['sessions_from']).to.equal(taken);
    });

    it('of the box moves when the Box becomes inactive, and outlives its resource', async () => {
      const inactive = await store(box({ active: false }));
      await database.write(async (connection) => {
        const version = await bumpVersion(connection, 'default');
        await deleteResources(connection, 'default', version, [{ kind: 'Box', id: 'default' }]);
      });
      const { rows } = await database.owner.query(
        `SELECT sessions_from::float8 FROM boxgate.box WHERE box = 'default'`,
      );
      expect(rows).to.deep.equal([{ sessions_from: inactive }]);
      expect(await revocations()).to.deep.equal([['box', inactive]]);
    });
  });

  describe('revoke_sessions_before', () => {
    const early = '2020-01-01T00:00:00Z';
    const late = '2021-01-01T01:00:00.5+01:00';

    it('counts with the highest value ever stored for a client', async () => {
      await store(client('a'));
      await store(client('a', { revoke_sessions_before: late }));
      await store(client('a', { revoke_sessions_before: early }));
      await store(client('a'));
      expect((await columns())?.['revoked_before']).to.deep.equal(new Date(late));
      expect(await revocations()).to.deep.equal([['client:a:before', Date.parse(late)]]);
    });

    it('counts with the highest value ever stored for the box', async () => {
      await store(box({ revoke_sessions_before: late }));
      await store(box({ revoke_sessions_before: early }));
      const { rows } = await database.owner.query(`SELECT revoked_before FROM boxgate.box WHERE box = 'default'`);
      expect(rows).to.deep.equal([{ revoked_before: new Date(late) }]);
      expect(await revocations()).to.deep.equal([['box:before', Date.parse(late)]]);
    });
  });

  it('leaves a tombstone of a deleted resource, which goes when the id comes back', async () => {
    const tombstones = async () =>
      (await database.owner.query<object>(`SELECT kind, id, version::float8 FROM boxgate.tombstone`)).rows;
    await store(client('a'), client('b'));
    const version = await remove('a');
    await remove('a');
    expect(await tombstones()).to.deep.equal([{ kind: 'Client', id: 'a', version }]);
    await store(client('a'));
    expect(await tombstones()).to.deep.equal([]);
  });

  it('stores and deletes ten thousand resources in one call each', async () => {
    const many = Array.from({ length: 10_000 }, (_, index) =>
      client(`c${String(index)}`, {}, { owner: { ...ownerOne, name: `default/c${String(index)}` }, digest: 'd' }),
    );
    await store(...many);
    const declared = await database.read((connection) => digestsOf(connection, 'default', 'c1'));
    expect(declared).to.have.length(10_000);
    expect(declared[0]).to.deep.include({ digest: 'd' });
    await database.write(async (connection) => {
      const version = await bumpVersion(connection, 'default');
      await deleteResources(connection, 'default', version, [...many, { kind: 'Client', id: 'unknown' }]);
    });
    expect(await database.read((connection) => digestsOf(connection, 'default', 'c1'))).to.deep.equal([]);
    expect(await revocations()).to.have.length(10_000);
  });

  it('tells of the named resources that are there, whoever made them', async () => {
    await store(client('a', {}, { owner: ownerOne, digest: 'd' }), client('b'));
    const found = await database.read((connection) =>
      findResources(connection, 'default', [key, { kind: 'Client', id: 'b' }, { kind: 'AccessPolicy', id: 'a' }]),
    );
    const byId = found.toSorted((left, right) => left.id.localeCompare(right.id));
    expect(byId.map(({ id, owner, digest }) => ({ id, owner, digest }))).to.deep.equal([
      { id: 'a', owner: ownerOne, digest: 'd' },
      { id: 'b', owner: undefined, digest: undefined },
    ]);
  });

  it('lets one change of a box wait for another', async () => {
    const order: string[] = [];
    await database
      .write(async (connection) => {
        expect(await lockResources(connection, 'default')).to.equal(1);
        const other = database.write(async (second) => {
          await lockResources(second, 'default');
          order.push('second');
        });
        await bumpVersion(connection, 'default');
        order.push('first');
        return { other };
      })
      .then(({ other }) => other);
    expect(order).to.deep.equal(['first', 'second']);
  });

  describe('the search', () => {
    const span = { limit: 2, offset: 0, descending: false, backward: false };
    const search = { box: 'default', filters: {} } as const;
    const clients = resourceListing('Client');
    const orderOf = (sort: 'id' | 'created_at') => clients.orders[sort] ?? [];

    beforeEach(async () => {
      for (const id of ['e', 'd', 'c', 'b', 'a']) await store(client(id, { name: id === 'c' ? 'see' : 'x' }));
      await store({ ...client('p'), kind: 'AccessPolicy' });
    });

    it('reads forward, backward, in both orders and from any row', async () => {
      const ids = (sort: 'id' | 'created_at', over: object) =>
        database.read(async (connection) => {
          const page = await clients.read(connection, search, orderOf(sort), { ...span, ...over });
          return `${page.rows.map((row) => row.id).join('')}${page.more ? '+' : ''}`;
        });
      expect(await ids('id', {})).to.equal('ab+');
      expect(await ids('id', { from: ['b'] })).to.equal('cd+');
      expect(await ids('id', { from: ['c'] })).to.equal('de');
      expect(await ids('id', { from: ['e'] })).to.equal('');
      expect(await ids('id', { from: ['d'], backward: true })).to.equal('bc+');
      expect(await ids('id', { backward: true })).to.equal('de+');
      expect(await ids('id', { descending: true })).to.equal('ed+');
      expect(await ids('id', { descending: true, from: ['d'], backward: true })).to.equal('e');
      expect(await ids('id', { offset: 3 })).to.equal('de');
      expect(await ids('created_at', {})).to.equal('ed+');
      expect(await ids('created_at', { descending: true, limit: 9 })).to.equal('abcde');
    });

    it('pages by creation without loss among equal times', async () => {
      await store(...['v', 'w', 'x', 'y', 'z'].map((id) => client(id)));
      const seen: string[] = [];
      await database.read(async (connection) => {
        let from: readonly string[] | undefined;
        for (let more = true; more;) {
          const page = await clients.read(connection, search, orderOf('created_at'), { ...span, limit: 3, from });
          seen.push(...page.rows.map((row) => row.id));
          const last = page.rows.at(-1);
          from = last && [last.createdAt, last.id];
          more = page.more;
        }
      });
      expect(seen.join('')).to.equal('edcbavwxyz');
    });

    it('counts, and stops counting where it is told', async () => {
      const counts = await database.read(async (connection) => [
        await clients.count(connection, search),
        await clients.count(connection, search, 3),
        await clients.count(connection, { ...search, filters: { name: 'see' } }),
        await clients.count(connection, { ...search, filters: { createdAt: { from: Date.now() + 60_000 } } }),
        await clients.count(connection, { ...search, filters: { createdAt: { to: Date.now() + 60_000 } } }),
      ]);
      expect(counts).to.deep.equal([5, 3, 1, 0, 5]);
    });
  });
});
