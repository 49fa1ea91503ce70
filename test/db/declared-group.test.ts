import { expect } from 'chai';
import { declaredGroups, findGroups, sizesOfGroups, storeGroups } from '../../api/db/declared-group.ts';
import { insertGroup } from '../../api/db/group.ts';
import { insertUser, setGroupsOfUser } from '../../api/db/user-write.ts';
import { boxDatabase } from '../records/box-database.ts';
import type { BoxDatabase } from '../records/box-database.ts';

const owner = { cluster: 'c1', name: 'shop/staff', uid: 'u' };

describe('the statements of declared groups', () => {
  let database: BoxDatabase;

  before(async () => {
    database = await boxDatabase();
  });
  after(() => database.end());
  beforeEach(async () => {
    await database.owner.query('DELETE FROM boxgate.user; DELETE FROM boxgate.group; DELETE FROM boxgate.last_id');
  });

  const store = (...names: readonly string[]) =>
    database.change((connection, version) =>
      storeGroups(
        connection,
        'default',
        version,
        names.map((name) => ({ name, description: null, owner, digest: 'd', retain: true })),
      ),
    );

  async function ids(): Promise<readonly unknown[]> {
    const { rows } = await database.owner.query<{ id: number; name: string }>(
      'SELECT id::int, name FROM boxgate.group ORDER BY id',
    );
    return rows;
  }

  it('give new groups the next numbers, and keep the number of one that is there', async () => {
    await database.change((c, version) =>
      insertGroup(c, 'default', version, { name: 'b', description: 'made over REST' }),
    );
    await store('c', 'b', 'a');
    expect(await ids()).to.deep.equal([
      { id: 1, name: 'b' },
      { id: 2, name: 'a' },
      { id: 3, name: 'c' },
    ]);
    await database.change((c, version) => insertGroup(c, 'default', version, { name: 'd', description: null }));
    await store('e');
    expect(JSON.stringify(await ids())).to.contain('{"id":4,"name":"d"},{"id":5,"name":"e"}');
  });

  it('find a group whoever made it, and of the declared ones those of one cluster', async () => {
    await store('ours');
    await database.change((c, version) => insertGroup(c, 'default', version, { name: 'theirs', description: null }));
    const found = await database.read((c) => findGroups(c, 'default', ['theirs', 'ours', 'nobody']));
    expect(found.map(({ id }) => id).sort()).to.deep.equal(['ours', 'theirs']);
    expect(await database.read((c) => declaredGroups(c, 'default', 'c2'))).to.deep.equal([]);
    const [ours] = await database.read((c) => declaredGroups(c, 'default', 'c1'));
    expect(ours).to.deep.include({ kind: 'Group', id: 'ours', owner, digest: 'd', retain: true, purge: false });
  });

  it('count members of each group up to a limit, and of all groups those of the first names', async () => {
    await store('a', 'b', 'c');
    const password = { hash: 'x', pepper: 'p' };
    for (const [nth, groups] of [[1, 2], [2, 1], [2]].entries()) {
      const email = String(nth);
      const user = { email, emailKey: email, emailVerified: null, password, data: null, status: null };
      const id = await database.write((c) => insertUser(c, 'default', user));
      await database.write((c) => setGroupsOfUser(c, 'default', id ?? 0, groups));
    }
    const sizes = async (each: number, all: number) =>
      (await database.read((c) => sizesOfGroups(c, 'default', 'c1', { each, all })))
        .map(({ name, members }) => `${name} ${String(members)}`)
        .join();
    expect(await sizes(10, 100)).to.equal('a 2,b 3,c 0');
    expect(await sizes(2, 100)).to.equal('a 2,b 2,c 0');
    expect(await sizes(10, 4)).to.equal('a 2');
    expect(await database.read((c) => sizesOfGroups(c, 'default', 'c2', { each: 1, all: 1 }))).to.deep.equal([]);
  });
});
