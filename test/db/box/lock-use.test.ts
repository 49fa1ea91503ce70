import { expect } from 'chai';
import { lockUse } from '../../../api/db/box/box-use.ts';
import { deleteSomeUsers } from '../../../api/db/box/box-data.ts';
import { inBox } from '../../../api/db/core/transaction.ts';
import { insertUser } from '../../../api/db/user-write.ts';
import { createUser } from '../../../api/records/user-change.ts';
import { removeUser } from '../../../api/records/user.ts';
import { resetAdmin } from '../../../api/users/reset-admin.ts';
import { makeWorld } from '../../oauth/world.ts';
import type { World } from '../../oauth/world.ts';
import { waitForLock } from '../../support/lock-wait.ts';

describe('lockUse', () => {
  let world: World;
  before(async () => {
    world = await makeWorld();
    await world.declare('shop', { kind: 'Box', id: 'shop' });
  });
  after(() => world.end());
  beforeEach(() => world.owner.query('DELETE FROM boxgate.user'));

  const resourceServices = () => ({ ...world.services, trail: world.services.trailOf({}) });
  const caller = {
    settings: { resourceType: 'Box', id: 'shop' },
    user: undefined,
    guessPassword: () => Promise.reject(new Error('no password is guessed')),
  } as const;
  const create = (email: string) =>
    createUser(resourceServices(), 'shop', { email, password: 'a long password of one' }, caller);
  const reset = (email: string) =>
    resetAdmin(resourceServices(), { box: 'shop', email, password: 'a long password of one' });

  const changes: Readonly<Record<string, (id: number) => Promise<unknown>>> = {
    'creates a user': () => create('created@shop.example'),
    'deletes a user': (id) => removeUser(resourceServices(), 'shop', id),
    'deletes a portion of the users': () =>
      inBox(world.services.pool, 'shop', 'write', (connection) => deleteSomeUsers(connection, 'shop')),
    'gives an administrator access': () => reset('reset@shop.example'),
  };
  for (const [what, change] of Object.entries(changes)) {
    it(`comes first in a transaction that ${what}, as in an apply that creates the first administrator`, async () => {
      await reset('admin@shop.example');
      const { id } = await create('found@shop.example');
      const row = { emailVerified: null, password: { hash: '', pepper: '' }, data: null, status: null };
      const { declared, changed } = await inBox(world.services.pool, 'shop', 'write', async (connection) => {
        await lockUse(connection, 'shop');
        const other = change(id).then(
          () => 'done',
          (error: unknown) => error,
        );
        await waitForLock('the other change', world.owner);
        // The row that the other change may already hold, then a number that it may have taken.
        await connection.query('SELECT FROM boxgate.user WHERE box = $1 FOR NO KEY UPDATE', ['shop']);
        const email = 'declared@shop.example';
        return { declared: await insertUser(connection, 'shop', { ...row, email, emailKey: email }), changed: other };
      });
      expect([typeof declared, await changed]).to.deep.equal(['number', 'done']);
    });
  }
});
