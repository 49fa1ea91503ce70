import { expect } from 'chai';
import { bumpVersion } from '../../api/db/box/box.ts';
import { insertGroup } from '../../api/db/group.ts';
import { findSigningIn, readUser, userListing } from '../../api/db/user.ts';
import type { UserFilters } from '../../api/db/user.ts';
import { deleteUser, endUserSessions, insertUser, setGroupsOfUser, updateUser } from '../../api/db/user-write.ts';
import type { NewUser, UserChange } from '../../api/db/user-write.ts';
import { boxDatabase } from '../records/box-database.ts';
import type { BoxDatabase } from '../records/box-database.ts';

const span = { limit: 3, offset: 0, descending: false, backward: false };

describe('the statements of users', () => {
  let database: BoxDatabase;

  before(async () => {
    database = await boxDatabase();
  });
  after(() => database.end());
  beforeEach(async () => {
    await database.owner.query('DELETE FROM boxgate.user; DELETE FROM boxgate.group; DELETE FROM boxgate.last_id');
  });

  function sample(email: string, over: Partial<NewUser> = {}): NewUser {
    const password = { hash: '$argon2id$x', pepper: 'p' };
    return { email, emailKey: email.toLowerCase(), emailVerified: null, password, data: null, status: null, ...over };
  }

  function insert(email: string, over: Partial<NewUser> = {}): Promise<number | undefined> {
    return database.write((connection) => insertUser(connection, 'default', sample(email, over)));
  }

  function group(name: string, description: string | null = null): Promise<number | undefined> {
    return database.write(async (connection) => {
      const version = await bumpVersion(connection, 'default');
      return (await insertGroup(connection, 'default', version, { name, description }))?.id;
    });
  }

  it('gives ids that count from 1 in each box, and none twice', async () => {
    expect([await insert('a@b.example'), await insert('b@b.example')]).to.deep.equal([1, 2]);
    expect(await database.write((connection) => deleteUser(connection, 'default', 2))).to.equal(true);
    expect(await insert('c@b.example')).to.equal(3);
    expect(await database.write((connection) => deleteUser(connection, 'default', 2))).to.equal(false);
  });

  it('reads a user as it was stored', async () => {
    await insert('Ann@B.example', { data: '{"a": 1}', status: 'inactive' });
    const { createdAt, updatedAt, ...rest } = (await database.read((c) => readUser(c, 'default', 1))) ?? {};
    expect(rest).to.deep.equal({
      id: 1,
      email: 'Ann@B.example',
      emailVerified: null,
      password: { hash: '$argon2id$x', pepper: 'p' },
      data: '{"a": 1}',
      status: 'inactive',
      groups: [],
    });
    expect([createdAt, updatedAt].every((time) => typeof time === 'number')).to.equal(true);
    expect(await database.read((c) => readUser(c, 'default', 2))).to.equal(undefined);
  });

  it('reads a user of whom nothing is said as one whose email nobody has verified', async () => {
    await database.owner.query(
      `INSERT INTO boxgate.user (box, id, email, email_key, password, pepper) VALUES ('default', 7, 'a', 'a', '', '')`,
    );
    expect(await database.read((c) => readUser(c, 'default', 7))).to.include({ emailVerified: false });
    // Nor does being let in approve it: nobody knows whether it registered.
    const change = (status: 'inactive' | 'active') =>
      database.write((connection) => updateUser(connection, 'default', 7, { status }));
    await change('inactive');
    expect(await change('active')).to.include({ emailVerified: false });
  });

  it('verifies the email of a user who waits for approval once it is let in, unless something else is said', async () => {
    const waits = { status: 'inactive', emailVerified: false, awaitsApproval: true } as const;
    for (const email of ['a@b.example', 'b@b.example', 'c@b.example']) await insert(email, waits);
    const change = (id: number, over: UserChange) =>
      database.write((connection) => updateUser(connection, 'default', id, over));
    expect(await change(1, { status: 'inactive', data: '1' })).to.include({ emailVerified: false });
    expect(await change(1, { status: null })).to.include({ emailVerified: true });
    expect(await change(2, { status: 'active', emailVerified: null })).to.include({ emailVerified: null });
    expect(await change(3, { status: 'active', emailVerified: false })).to.include({ emailVerified: false });
    for (const status of ['inactive', 'active'] as const) await change(3, { status });
    expect(await database.read((c) => readUser(c, 'default', 3))).to.include({ emailVerified: false });
  });

  it('U-01 stores an email once, of a hundred at the same time too', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => insert('a@b.example')));
    expect(answers.filter((id) => id !== undefined)).to.have.length(1);
  });

  it('changes what is given and leaves the rest, and refuses the email of another', async () => {
    await insert('a@b.example', { data: '1' });
    await insert('b@b.example');
    const change = (over: object) => database.write((connection) => updateUser(connection, 'default', 1, over));
    expect(await change({ status: 'inactive' })).to.deep.include({ data: '1', status: 'inactive' });
    expect(await change({ data: null, status: null })).to.deep.include({ data: null, status: null });
    expect(await change({ email: 'c@b.example', emailKey: 'c@b.example' })).to.deep.include({ email: 'c@b.example' });
    const taken = await change({ email: 'B@b.example', emailKey: 'b@b.example' }).catch((error: unknown) => error);
    expect(String(taken)).to.match(/taken|rolled back/);
    expect(await database.read((c) => readUser(c, 'default', 1))).to.deep.include({ email: 'c@b.example' });
    expect(await database.write((c) => updateUser(c, 'default', 9, { data: '1' }))).to.equal(undefined);
  });

  it('finds who signs in by the normal form, with the config version of that moment', async () => {
    await insert('Ann@B.example');
    const version = await database.write((connection) => bumpVersion(connection, 'default'));
    const found = await database.read((c) => findSigningIn(c, 'default', 'ann@b.example'));
    expect(found).to.deep.include({ version });
    expect(found?.user.id).to.equal(1);
    expect(await database.read((c) => findSigningIn(c, 'default', 'Ann@B.example'))).to.equal(undefined);
  });

  it('puts a user into exactly the given groups, and into none when one of them is not there', async () => {
    await insert('a@b.example');
    const [one = 0, two = 0, three = 0] = [await group('one'), await group('two'), await group('three')];
    const set = (...ids: number[]) => database.write((c) => setGroupsOfUser(c, 'default', 1, ids));
    const names = async () => (await database.read((c) => readUser(c, 'default', 1)))?.groups.map(({ name }) => name);
    expect(await set(one, two)).to.deep.equal([]);
    expect(await names()).to.deep.equal(['one', 'two']);
    expect(await set(two, three)).to.deep.equal([]);
    expect(await names()).to.deep.equal(['two', 'three']);
    expect(await set(one, 99)).to.deep.equal([99]);
    expect(await names()).to.deep.equal(['two', 'three']);
    expect(await set()).to.deep.equal([]);
    expect(await names()).to.deep.equal([]);
  });

  describe('what lives of a user', () => {
    function living(id: number, version: number): Promise<unknown> {
      return database.read(async (connection) => {
        const { rows } = await connection.query<{ person: unknown }>(
          'SELECT boxgate.living_user($1, $2, $3) AS person',
          ['default', id, version],
        );
        return rows[0]?.person;
      });
    }

    it('is shown with the IDs and names of its groups: descriptions would make each check long', async () => {
      await insert('a@b.example', { data: '"x"' });
      const [one = 0, two = 0] = [await group('one', 'x'.repeat(1_024)), await group('two')];
      await database.write((c) => setGroupsOfUser(c, 'default', 1, [two, one]));
      expect(await living(1, 1)).to.deep.equal({
        id: 1,
        email: 'a@b.example',
        email_verified: null,
        data: '"x"',
        groups: [
          { id: one, name: 'one' },
          { id: two, name: 'two' },
        ],
      });
    });

    it('is nothing of one who is inactive, gone, or never was', async () => {
      await insert('a@b.example', { status: 'inactive' });
      expect(await living(1, 1)).to.equal(null);
      await database.write((c) => deleteUser(c, 'default', 1));
      expect(await living(1, 1)).to.equal(null);
    });

    it('U-07 is nothing that began before all of it was ended, for good', async () => {
      await insert('a@b.example');
      const version = await database.write(async (connection) => {
        const next = await bumpVersion(connection, 'default');
        await endUserSessions(connection, 'default', next, 1);
        return next;
      });
      expect(await living(1, version - 1)).to.equal(null);
      expect(await living(1, version)).to.deep.include({ id: 1 });
    });
  });

  describe('a search', () => {
    beforeEach(async () => {
      for (const name of ['d', 'a', 'c', 'b', 'ab']) await insert(`${name}@b.example`);
    });

    const find = (filters: UserFilters, over: object = {}, sort: 'id' | 'email' = 'id') =>
      database.read((c) =>
        userListing.read(c, { box: 'default', filters }, userListing.orders[sort] ?? [], { ...span, ...over }),
      );

    it('pages by id and by email', async () => {
      const first = await find({});
      expect([first.rows.map(({ id }) => id), first.more]).to.deep.equal([[1, 2, 3], true]);
      const next = await find({}, { from: ['3'] });
      expect([next.rows.map(({ id }) => id), next.more]).to.deep.equal([[4, 5], false]);
      const byEmail = await find({}, { from: ['ab@b.example'] }, 'email');
      expect(byEmail.rows.map(({ emailKey }) => emailKey)).to.deep.equal(['b@b.example', 'c@b.example', 'd@b.example']);
    });

    it('compares with the email, its beginning, the group and the status', async () => {
      const one = (await group('one')) ?? 0;
      await database.write((c) => setGroupsOfUser(c, 'default', 3, [one]));
      await database.write((c) => updateUser(c, 'default', 4, { status: 'inactive' }));
      await database.write((c) => updateUser(c, 'default', 5, { status: 'active' }));
      const cases: readonly (readonly [UserFilters, readonly number[]])[] = [
        [{ emailKey: 'c@b.example' }, [3]],
        [{ emailKey: 'c' }, []],
        [{ emailBeginning: 'a' }, [2, 5]],
        [{ emailBeginning: 'a%' }, []],
        [{ group: one }, [3]],
        [{ group: 99 }, []],
        [{ status: 'inactive' }, [4]],
        [{ status: 'active', emailBeginning: 'a' }, [2, 5]],
      ];
      for (const [filters, ids] of cases) {
        expect(
          (await find(filters)).rows.map(({ id }) => id),
          JSON.stringify(filters),
        ).to.deep.equal(ids);
        expect(await database.read((c) => userListing.count(c, { box: 'default', filters }))).to.equal(ids.length);
      }
      expect(await database.read((c) => userListing.count(c, { box: 'default', filters: {} }, 2))).to.equal(2);
    });
  });
});
