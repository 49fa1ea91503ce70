import { expect } from 'chai';
import fc from 'fast-check';
import { randomBytes, randomUUID } from 'node:crypto';
import { endAnswersOf, lockAnswer } from '../../../api/db/authorization/authorization-answer.ts';
import type { NewCode } from '../../../api/db/authorization/code-statements.ts';
import type { CodeUse } from '../../../api/db/authorization/use-code.ts';
import { singleStatements } from '../../../api/db/batched-statements.ts';
import type { BatchedStatements } from '../../../api/db/batched-statements.ts';
import { bumpVersion } from '../../../api/db/box/box.ts';
import { inBox } from '../../../api/db/core/transaction.ts';
import { lockResources } from '../../../api/db/resource/write.ts';
import { endGrant } from '../../../api/db/session/end-grant.ts';
import { deleteUser } from '../../../api/db/user/user-write.ts';
import {
  browser,
  foundOf,
  newCode,
  now,
  onCodeDatabase,
  overForTheUser,
  redemption,
  sessionOf,
  somebodyWaits,
  stored,
} from './code-rows.ts';
import type { CodeDatabase } from './code-rows.ts';

/** Returns a use of a code that expects its row as it is. */
function useOf(code: NewCode, over: Partial<CodeUse> = {}): CodeUse {
  const { client, redirectUri, challenge } = code;
  const { session } = redemption(code);
  const expected = { client, redirectUri, challenge, since: 0, mayHaveIdToken: true, withPerson: false };
  return { code: { id: code.id, hash: code.hash }, ...expected, session, now, ...over };
}

describe('the statement that uses codes at once', () => {
  let database: CodeDatabase;
  let hot: BatchedStatements;
  /** Another replica. */
  let second: BatchedStatements;

  onCodeDatabase((started) => {
    database = started;
    ({ hot, second } = database);
  });

  const sessions = async (): Promise<number> =>
    Number((await database.owner.query('SELECT FROM boxgate.session')).rowCount);

  beforeEach(() => database.owner.query('DELETE FROM boxgate.session'));

  it('finds a code as it was, and stores its session with what was granted', async () => {
    const code = await stored(hot, { audience: ['x"y', 'z'], userAgent: 'test' });
    const use = useOf(code);
    expect(await hot.useCode(use)).to.deep.equal({ version: 10, value: foundOf(code), isUsed: true });
    const { value } = await hot.check(use.session);
    expect(value).to.deep.include({
      client: 'app',
      type: 'a',
      scope: 'read openid',
      audience: ['x"y', 'z'],
      ended: false,
    });
    expect(value?.user?.id).to.equal(1);
    const { rows } = await database.owner.query(
      `SELECT user_agent, host(remote_addr) AS addr, version, family, replace(id::text, '-', '') AS id FROM boxgate.session`,
    );
    const { id, bucket } = use.session;
    expect(rows).to.deep.equal([{ user_agent: 'test', addr: '192.0.2.1', version: '10', family: null, id }]);
    const { tokens } = (await database.write((connection) => lockAnswer(connection, 'default', code.id))) ?? {};
    expect({ ...tokens, session: tokens?.session.replaceAll('-', '') }).to.deep.equal({
      session: id,
      bucket,
      family: null,
    });
  });

  it('finds a code that was used, and stores nothing', async () => {
    const code = await stored(hot);
    await hot.useCode(useOf(code));
    const found = { version: 10, value: { ...foundOf(code), used: true }, isUsed: false };
    expect(await hot.useCode(useOf(code))).to.deep.equal(found);
    expect(await sessions()).to.equal(1);
  });

  it('tells the version of the box where there is no code, and none where there is no box', async () => {
    const code = newCode({ id: randomUUID() });
    expect(await hot.useCode(useOf(code))).to.deep.equal({ version: 10, value: undefined, isUsed: false });
    const nowhere = useOf(newCode({ box: 'no-such-box' }));
    expect(await hot.useCode(nowhere)).to.deep.equal({ version: undefined, value: undefined, isUsed: false });
  });

  const other: Readonly<Record<string, (code: NewCode) => Partial<CodeUse>>> = {
    'another hash': ({ id }) => ({ code: { id, hash: randomBytes(32).toString('hex') } }),
    'another client': () => ({ client: 'other' }),
    'another redirect URI': () => ({ redirectUri: 'https://app.example/else' }),
    'no redirect URI': () => ({ redirectUri: null }),
    'another challenge': () => ({ challenge: 'another' }),
    'no challenge': () => ({ challenge: null }),
    'a revocation after it was issued': () => ({ since: now + 1 }),
    'the moment of its end': () => ({ now: now + 60_000 }),
    'no key for its id_token': () => ({ mayHaveIdToken: false }),
    'an older version': (code) => ({ session: redemption({ ...code, version: 9 }).session }),
    'a later version': (code) => ({ session: redemption({ ...code, version: 11 }).session }),
  };
  for (const [what, over] of Object.entries(other)) {
    it(`finds and does not use a code with ${what}, and uses the others of its batch`, async () => {
      const row = { redirectUri: 'https://app.example/back', challenge: 'one' };
      const [code, neighbour] = [await stored(hot, row), await stored(hot, row)];
      const use = useOf(code, over(code));
      const told = await Promise.all([hot.useCode(useOf(neighbour)), hot.useCode(use)]);
      expect(told.map(({ isUsed }) => isUsed)).to.deep.equal([true, false]);
      expect(told[1]).to.deep.include({ version: 10, value: foundOf(code) });
      expect(await sessions()).to.equal(1);
      expect((await hot.code(code)).value?.used).to.equal(false);
    });
  }

  it('uses a code at the last moment, without a redirect URI, a challenge, or a key that it does not need', async () => {
    const code = await stored(hot, { scope: 'read', expiresAt: now + 1 });
    expect(await hot.useCode(useOf(code, { since: now, mayHaveIdToken: false }))).to.deep.include({ isUsed: true });
  });

  const since: Readonly<Record<string, string>> = {
    'the version of the box moved': `UPDATE boxgate.box SET config_version = 11 WHERE box = 'default'`,
    'it was used or ended': `UPDATE boxgate.authorization_answer SET used_at = now() WHERE box = 'default'`,
    'it is gone': `DELETE FROM boxgate.authorization_answer WHERE box = 'default'`,
    'it is a token that was given at once': `UPDATE boxgate.authorization_answer SET hash = NULL WHERE box = 'default'`,
    ...Object.fromEntries(Object.entries(overForTheUser).map(([what, sql]) => [`they ${what}`, sql])),
  };
  for (const [what, change] of Object.entries(since)) {
    it(`uses no code when ${what}`, async () => {
      const use = useOf(await stored(hot));
      const elsewhere = useOf(await stored(hot, { box: 'other' }));
      await database.owner.query(change);
      const told = await Promise.all([hot.useCode(use), hot.useCode(elsewhere)]);
      expect(told.map(({ isUsed }) => isUsed)).to.deep.equal([false, true]);
      expect(await sessions()).to.equal(1);
    });
  }

  it('uses no code that is older than the version, although the box is there', async () => {
    const code = await stored(hot);
    await database.owner.query(`UPDATE boxgate.box SET config_version = 11`);
    const told = await hot.useCode(useOf(code, { session: redemption({ ...code, version: 11 }).session }));
    expect(told).to.deep.equal({ version: 11, value: foundOf(code), isUsed: false });
    expect(await sessions()).to.equal(0);
  });

  it('lets one of a hundred uses at once win, on two replicas', async () => {
    for (let round = 0; round < 10; round += 1) {
      const code = await stored(hot);
      const uses = Array.from({ length: 100 }, () => useOf(code));
      const told = await Promise.all(uses.map((use, index) => (index % 2 === 0 ? hot : second).useCode(use)));
      expect(told.filter(({ isUsed }) => isUsed)).to.have.length(1);
      const found = await Promise.all(uses.map(({ session }) => hot.check(session)));
      expect(found.map(({ value }) => value !== undefined)).to.deep.equal(told.map(({ isUsed }) => isUsed));
    }
  });

  it('wins once against the statement for codes that were validated', async () => {
    for (let round = 0; round < 20; round += 1) {
      const code = await stored(hot);
      const [{ isUsed }, isRedeemed] = await Promise.all([hot.useCode(useOf(code)), second.redeem(redemption(code))]);
      expect([isUsed, isRedeemed].filter(Boolean)).to.have.length(1);
    }
    expect(await sessions()).to.equal(20);
  });

  const awkward = fc.oneof(
    fc.constantFrom('NULL', 'null', '"', '\\', '{}', ',', "'", '$1', '\n', ' ', 'é', '😀'),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).filter((text) => !text.includes('\u0000')),
  );
  const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { nil: null });
  const details = fc.record({
    client: fc.constantFrom('NULL', 'a', 'A.b_c~d-e', '0x1'),
    redirectUri: optional(awkward),
    audience: optional(fc.array(awkward, { minLength: 1, maxLength: 3 })),
    challenge: optional(fc.stringMatching(/^[A-Za-z0-9_-]{43}$/)),
    nonce: optional(awkward),
    userAgent: optional(awkward),
  });
  it('uses each code as it was stored, whatever shares a batch', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(details, { minLength: 1, maxLength: 40 }), async (all) => {
        await database.owner.query('TRUNCATE boxgate.authorization_answer');
        const codes = all.map((one) => newCode({ ...one, consentVersion: null }));
        await Promise.all(codes.map((code) => hot.storeCode(code)));
        const uses = codes.map((code) => useOf(code));
        const told = await Promise.all(uses.map((use) => hot.useCode(use)));
        expect(told).to.deep.equal(codes.map((code) => ({ version: 10, value: foundOf(code), isUsed: true })));
        const found = await Promise.all(uses.map(({ session }) => hot.check(session)));
        const granted = found.map(({ value }) => [value?.client, value?.scope, value?.audience]);
        expect(granted).to.deep.equal(codes.map(({ client, scope, audience }) => [client, scope, audience]));
      }),
      { numRuns: 20 },
    );
  });

  for (const [what, scope, withPerson, isTold] of [
    ['the scope groups', 'openid groups', false, true],
    ['a client that puts claims into id_tokens', 'openid', true, true],
    ['neither', 'openid mygroups groups:read', false, false],
  ] as const) {
    it(`${isTold ? 'reads' : 'does not read'} the person of a code with ${what}`, async () => {
      const code = await stored(hot, { scope, consentVersion: null });
      const { value, isUsed } = await hot.useCode(useOf(code, { withPerson }));
      expect([value?.person?.id, isUsed]).to.deep.equal([isTold ? 1 : undefined, true]);
    });
  }

  type Connection = Parameters<typeof bumpVersion>[0];
  const underWay: Readonly<Record<string, (connection: Connection, code: NewCode) => Promise<unknown>>> = {
    'its person is being deleted': (connection) => deleteUser(connection, 'default', 1),
    'its person is signing out': (connection) => endAnswersOf(connection, 'default', [browser], now),
    'another one uses it': (connection, { id }) => lockAnswer(connection, 'default', id),
  };
  for (const [what, begin] of Object.entries(underWay)) {
    it(`waits for nothing and uses no code while ${what}`, async () => {
      const code = await stored(hot);
      const rollback = new Error('not committed');
      const doing = database.write(async (connection) => {
        await begin(connection, code);
        expect(await hot.useCode(useOf(code))).to.deep.equal({ version: 10, value: foundOf(code), isUsed: false });
        throw rollback;
      });
      expect(await doing.catch((error: unknown) => error)).to.equal(rollback);
      expect(await sessions()).to.equal(0);
      expect((await hot.useCode(useOf(code))).isUsed).to.equal(true);
    });
  }

  it('stores the older version while the box is being changed, which every check then compares', async () => {
    const code = await stored(hot);
    await database.write(async (connection) => {
      await lockResources(connection, 'default');
      await bumpVersion(connection, 'default');
      expect((await hot.useCode(useOf(code))).isUsed).to.equal(true);
    });
    const { rows } = await database.owner.query('SELECT version FROM boxgate.session');
    expect(rows).to.deep.equal([{ version: '10' }]);
  });

  it('a sign-out waits for a use that is on its way, and hears of its session', async () => {
    const code = await stored(hot);
    const use = useOf(code);
    let ending = Promise.resolve<Awaited<ReturnType<typeof endAnswersOf>>>([]);
    await database.write(async (connection) => {
      expect((await singleStatements(connection).useCode(use)).isUsed).to.equal(true);
      ending = database.write((another) => endAnswersOf(another, 'default', [browser], now));
      await somebodyWaits(database);
    });
    expect((await ending).map(({ tokens }) => tokens?.session.replaceAll('-', ''))).to.deep.equal([use.session.id]);
  });

  it('the end of a grant waits for a use that is on its way, and ends its session', async () => {
    const code = await stored(hot);
    const use = useOf(code);
    let ending = Promise.resolve();
    // A batch holds nothing of the box: only the row of the code is between the two.
    await inBox(database.pool, 'default', 'write', async (connection) => {
      expect((await singleStatements(connection).useCode(use)).isUsed).to.equal(true);
      ending = inBox(database.pool, 'default', 'write', async (another) => {
        await lockResources(another, 'default');
        await endGrant(another, 'default', { user: 1, client: 'app' }, now);
      });
      await somebodyWaits(database);
    });
    await ending;
    expect((await hot.check(use.session)).value?.ended).to.equal(true);
  });

  it('uses nothing where statements do not each see the present', async () => {
    const code = await stored(hot);
    for (const level of ['REPEATABLE READ', 'SERIALIZABLE', 'READ COMMITTED']) {
      const told = await inBox(database.pool, 'default', 'write', async (connection) => {
        await connection.query(`SET TRANSACTION ISOLATION LEVEL ${level}`);
        return singleStatements(connection).useCode(useOf(code));
      });
      expect(told, level).to.deep.equal({ version: 10, value: foundOf(code), isUsed: level === 'READ COMMITTED' });
    }
  });

  it('finds the sessions of both statements by the same check', async () => {
    const [at, after] = [await stored(hot), await stored(hot)];
    const [use, redeemed] = [useOf(at), redemption(after)];
    await Promise.all([hot.useCode(use), hot.redeem(redeemed)]);
    const found = [(await hot.check(use.session)).value, (await sessionOf(hot, redeemed)).value];
    expect(found.map((session) => [session?.type, session?.ended])).to.deep.equal([
      ['a', false],
      ['a', false],
    ]);
  });
});
