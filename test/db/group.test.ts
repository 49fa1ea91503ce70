import { expect } from 'chai';
import { deleteGroup, insertGroup, readGroup, updateGroup } from '../../api/db/group.ts';
import type { StoredGroup } from '../../api/db/group.ts';
import { insertUser, setGroupsOfUser } from '../../api/db/user-write.ts';
import { boxDatabase } from '../records/box-database.ts';
import type { BoxDatabase } from '../records/box-database.ts';

describe('the statements of groups', () => {
  let database: BoxDatabase;

  before(async () => {
    database = await boxDatabase();
  });
  after(() => database.end());
  beforeEach(async () => {
    await database.owner.query('DELETE FROM boxgate.user; DELETE FROM boxgate.group; DELETE FROM boxgate.last_id');
  });

  function insert(name: string, description: string | null = null): Promise<StoredGroup | undefined> {
    return database.change((connection, version) => insertGroup(connection, 'default', version, { name, description }));
  }

  it('gives ids that count from 1, and refuses a name that is there', async () => {
    expect(await insert('one', 'the first')).to.include({ id: 1, name: 'one', description: 'the first', members: 0 });
    expect(await insert('two')).to.include({ id: 2, description: null });
    expect(await insert('one')).to.equal(undefined);
    expect(await insert('One')).to.include({ name: 'One' });
  });

  it('changes a group under a new version, unless another one has the name', async () => {
    const one = await insert('one');
    await insert('two');
    const change = (id: number, name: string) =>
      database.change((connection, version) =>
        updateGroup(connection, 'default', { id, version }, { name, description: 'x' }),
      );
    const changed = await change(1, 'three');
    expect(changed).to.include({ name: 'three', description: 'x' });
    expect(typeof changed === 'object' && changed.version > (one?.version ?? 0)).to.equal(true);
    expect(String(await change(1, 'two').catch((error: unknown) => error))).to.match(/taken|rolled back/);
    expect(await change(9, 'nine')).to.equal(undefined);
    expect(await database.read((c) => readGroup(c, 'default', 1))).to.include({ name: 'three' });
  });

  it('counts its members, and lets them go when it goes', async () => {
    const password = { hash: 'x', pepper: 'p' };
    for (const email of ['a', 'b']) {
      const user = { email, emailKey: email, password, emailVerified: null, data: null, status: null };
      await database.write((c) => insertUser(c, 'default', user));
    }
    await insert('one');
    for (const user of [1, 2]) await database.write((c) => setGroupsOfUser(c, 'default', user, [1]));
    expect(await database.read((c) => readGroup(c, 'default', 1))).to.include({ members: 2 });
    await database.write((c) => deleteGroup(c, 'default', 1));
    expect(await database.read((c) => readGroup(c, 'default', 1))).to.equal(undefined);
    const { rows } = await database.owner.query('SELECT FROM boxgate.group_member');
    expect(rows).to.have.length(0);
    expect(await insert('one')).to.include({ id: 2, members: 0 });
  });
});
