import { expect } from 'chai';
import { createHashQueue } from '../../../api/credentials/hash-queue.ts';
import { createPasswords } from '../../../api/credentials/password.ts';
import { bumpVersion } from '../../../api/db/box/box.ts';
import { insertUser, updateUser } from '../../../api/db/user-write.ts';
import { verifyPassword } from '../../../api/users/sign-in/verify-password.ts';
import { boxDatabase } from '../../records/box-database.ts';
import type { BoxDatabase } from '../../records/box-database.ts';

describe('who signs in', () => {
  let database: BoxDatabase;
  const passwords = createPasswords(createHashQueue(2, 100), [Buffer.alloc(32, 1)]);

  before(async () => {
    database = await boxDatabase();
    const password = await passwords.store('right password');
    const user = {
      email: 'Ann@B.example',
      emailKey: 'ann@b.example',
      emailVerified: null,
      password,
      data: null,
      status: null,
    };
    await database.write((connection) => insertUser(connection, 'default', user));
  });
  after(() => database.end());

  const signIn = (email: string, password: string, box = 'default') =>
    verifyPassword({ pool: database.pool, passwords }, box, { email, password }, admitAll);
  const admitAll = () => Promise.resolve({ box: 'default', member: '' });

  it('is the user whose email and password they are, with the version that was read', async () => {
    const version = await database.write((connection) => bumpVersion(connection, 'default'));
    const found = await signIn('ANN@b.example', 'right password');
    expect(found?.version).to.equal(version);
    expect(found?.user).to.include({ id: 1, email: 'Ann@B.example' });
  });

  it('is nobody with a wrong password, without an account, with no email at all, or in another box', async () => {
    expect(await signIn('ann@b.example', 'wrong password')).to.equal(undefined);
    expect(await signIn('ann@b.example', '')).to.equal(undefined);
    expect(await signIn('bob@b.example', 'right password')).to.equal(undefined);
    expect(await signIn('no email', 'right password')).to.equal(undefined);
    expect(await signIn('ann@b.example', 'right password', 'other')).to.equal(undefined);
  });

  it('is nobody while the user is inactive', async () => {
    const set = (status: 'inactive' | null) => database.write((c) => updateUser(c, 'default', 1, { status }));
    await set('inactive');
    expect(await signIn('ann@b.example', 'right password')).to.equal(undefined);
    await set(null);
    expect((await signIn('ann@b.example', 'right password'))?.user.id).to.equal(1);
  });
});
