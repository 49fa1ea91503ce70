import { expect } from 'chai';
import { endAnswersOf, lockAnswer } from '../../../api/db/authorization/authorization-answer.ts';
import { deleteSignIns } from '../../../api/db/authorization/sign-in.ts';
import { bumpVersion } from '../../../api/db/box/box.ts';
import { singleStatements } from '../../../api/db/batched-statements.ts';
import type { BatchedStatements } from '../../../api/db/batched-statements.ts';
import type { NewCode } from '../../../api/db/authorization/code-statements.ts';
import { lockResources } from '../../../api/db/resource/write.ts';
import { deleteUser } from '../../../api/db/user/user-write.ts';
import { browser, onCodeDatabase, newCode, now, redemption, somebodyWaits, stored } from './code-rows.ts';
import type { CodeDatabase } from './code-rows.ts';

describe('the hot statements of the code flow', () => {
  let database: CodeDatabase;
  let hot: BatchedStatements;

  onCodeDatabase((started) => {
    database = started;
    ({ hot } = database);
  });

  /** Uncommitted changes of another connection; the statements do not wait for them. */
  const underWay: Readonly<Record<string, (connection: Parameters<typeof bumpVersion>[0]) => Promise<unknown>>> = {
    'the box is being changed': (connection) => bumpVersion(connection, 'default'),
    'the box is held for a change': (connection) => lockResources(connection, 'default'),
    'the box is being changed by somebody who does not queue': (connection) =>
      connection.query('UPDATE boxgate.box SET config_version = config_version + 1'),
    'its person is being deleted': (connection) => deleteUser(connection, 'default', 1),
  };
  const underWayForCodes: typeof underWay = {
    ...underWay,
    'its person is signing out': (connection) => deleteSignIns(connection, 'default', browser),
  };
  const underWayForRedemptions: typeof underWay = {
    ...underWay,
    'its person is signing out': (connection) => endAnswersOf(connection, 'default', [browser], now),
    'another one uses it': async (connection) => {
      const { rows } = await connection.query<{ id: string }>('SELECT id FROM boxgate.authorization_answer');
      await lockAnswer(connection, 'default', rows[0]?.id ?? '');
    },
  };
  for (const [what, begin] of Object.entries(underWayForCodes)) {
    it(`wait for nothing and store no code while ${what}`, async () => {
      const rollback = new Error('not committed');
      const doing = database.write(async (connection) => {
        await begin(connection);
        expect(await hot.storeCode(newCode())).to.equal(false);
        expect(await hot.storeCode(newCode({ box: 'other' }))).to.equal(true);
        throw rollback;
      });
      expect(await doing.catch((error: unknown) => error)).to.equal(rollback);
      expect(await hot.storeCode(newCode())).to.equal(true);
    });
  }
  for (const [what, begin] of Object.entries(underWayForRedemptions)) {
    it(`wait for nothing and redeem no code while ${what}`, async () => {
      const use = redemption(await stored(hot));
      const rollback = new Error('not committed');
      const doing = database.write(async (connection) => {
        await begin(connection);
        expect(await hot.redeem(use)).to.equal(false);
        throw rollback;
      });
      expect(await doing.catch((error: unknown) => error)).to.equal(rollback);
      expect(await hot.redeem(use)).to.equal(true);
    });
  }

  it('let a change of the box that waits come first', async () => {
    const change = await database.write(async (connection) => {
      await singleStatements(connection).storeCode(newCode());
      const changing = database.write((other) => bumpVersion(other, 'default'));
      await somebodyWaits(database);
      expect(await hot.storeCode(newCode())).to.equal(false);
      return { changing };
    });
    await change.changing;
  });

  /** Revocations that start while a code is being stored: they wait for it, and find it. */
  const takers: Readonly<Record<string, (code: NewCode) => Promise<unknown>>> = {
    'a sign-out': () =>
      database.write(async (connection) => {
        await deleteSignIns(connection, 'default', browser);
        await endAnswersOf(connection, 'default', [browser], now);
      }),
    'the end of a grant': ({ id }) =>
      database.write(async (connection) => {
        await lockResources(connection, 'default');
        await connection.query('UPDATE boxgate.authorization_answer SET used_at = now() WHERE id = $1', [id]);
      }),
    'a new version of the box': () => database.write((connection) => bumpVersion(connection, 'default')),
    'the deletion of its person': () => database.write((connection) => deleteUser(connection, 'default', 1)),
  };
  for (const [what, take] of Object.entries(takers)) {
    it(`${what} waits for a code that is on its way`, async () => {
      const code = newCode();
      let taken = false;
      let taking: Promise<unknown> = Promise.resolve();
      await database.write(async (connection) => {
        expect(await singleStatements(connection).storeCode(code)).to.equal(true);
        taking = take(code).then(() => (taken = true));
        await somebodyWaits(database);
        expect(taken).to.equal(false);
      });
      await taking;
      const use = redemption(code);
      expect(await hot.redeem(use)).to.equal(false);
    });
  }

  it('a sign-out waits for a redemption that is on its way, and hears of its session', async () => {
    const code = await stored(hot);
    const use = redemption(code);
    let ending = Promise.resolve<Awaited<ReturnType<typeof endAnswersOf>>>([]);
    await database.write(async (connection) => {
      expect(await singleStatements(connection).redeem(use)).to.equal(true);
      ending = database.write((another) => endAnswersOf(another, 'default', [browser], now));
      await somebodyWaits(database);
    });
    expect((await ending).map(({ tokens }) => tokens?.session.replaceAll('-', ''))).to.deep.equal([use.session.id]);
  });
});
