import { expect } from 'chai';
import fc from 'fast-check';
import { randomBytes, randomUUID } from 'node:crypto';
import { endAnswersOf, lockAnswer } from '../../../api/db/authorization/authorization-answer.ts';
import { bumpVersion } from '../../../api/db/box/box.ts';
import { targetKey } from '../../../api/db/authorization/consent.ts';
import { bucketOf } from '../../../api/db/session/bucket.ts';
import { batchedStatements, singleStatements } from '../../../api/db/batched-statements.ts';
import { defaultBatchLimits } from '../../../api/db/core/batch-bounds.ts';
import type { FoundCode, NewCode, Redemption } from '../../../api/db/authorization/code-statements.ts';
import type { BatchedStatements } from '../../../api/db/batched-statements.ts';
import { lockResources } from '../../../api/db/resource/write.ts';
import { deleteSignIn } from '../../../api/db/authorization/sign-in.ts';
import { inBox } from '../../../api/db/core/transaction.ts';
import type { Person } from '../../../api/db/user/person.ts';
import { deleteUser } from '../../../api/db/user/user-write.ts';
import { boxDatabase } from '../../resources/box-database.ts';
import type { BoxDatabase } from '../../resources/box-database.ts';
import { eventually } from '../../support/eventually.ts';

const now = Math.floor(Date.now() / 1000) * 1000;
const back = { redirectUri: 'https://app.example/back', audience: null };
const target = targetKey(back);
const elsewhere = targetKey({ ...back, redirectUri: 'https://app.example/else' });
const forFiles = targetKey({ ...back, audience: 'https://files.example' });
const [browser, other] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];

const awkward = fc.oneof(
  fc.constantFrom('NULL', 'null', '"', '\\', '{}', ',', '\\"', "'", '$1', '\n', ' ', 'é', '😀', '\u2028'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).filter((text) => !text.includes('\u0000')),
);
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { nil: null });
const details = fc.record({
  client: fc.constantFrom('NULL', 'a', 'A.b_c~d-e', '0x1'),
  redirectUri: optional(awkward),
  audience: optional(fc.array(awkward, { maxLength: 3 })),
  challenge: optional(awkward),
  nonce: optional(awkward),
  authenticatedAt: optional(fc.integer({ min: 0, max: now })),
  userAgent: optional(awkward),
});

/** Users 1 and 2 of two boxes, each signed in, and what the first lets a client have; the second agrees to all. */
const arranged = `
  TRUNCATE boxgate.user CASCADE;
  INSERT INTO boxgate.user (box, id, email, email_key, password, pepper)
  SELECT b, i, i, i, '', '' FROM unnest('{default,other}'::text[]) b, generate_series(1, 2) i;
  INSERT INTO boxgate.sign_in (box, browser, user_id, version, created_at, expires_at)
  SELECT b, decode(CASE i WHEN 1 THEN '${browser}' ELSE '${other}' END, 'hex'), i, 1, to_timestamp(${String(now / 1000 - 60)}),
         to_timestamp(${String(now / 1000 + 60)})
    FROM unnest('{default,other}'::text[]) b, generate_series(1, 2) i;
  INSERT INTO boxgate.consent (box, user_id, client, scopes, version, created_at)
  SELECT b, 1, 'app', '{read,openid}', 1, now() FROM unnest('{default,other}'::text[]) b;
  INSERT INTO boxgate.consent_target (box, user_id, client, target, redirect_uri, scopes, version, created_at)
  SELECT box, user_id, client, '\\x${target}', '${back.redirectUri}', scopes, version, created_at FROM boxgate.consent;
  UPDATE boxgate.box SET config_version = 10`;

/** The first user, who is in no group, as codes and families tell of them. */
const person: Person = { id: 1, email: '1', email_verified: false, data: null, groups: null };

describe('the hot statements of the code flow', () => {
  let database: BoxDatabase;
  let hot: BatchedStatements;
  /** Another replica. */
  let second: BatchedStatements;

  before(async () => {
    database = await boxDatabase();
    hot = batchedStatements(database.pool, { ...defaultBatchLimits, size: 16, patience: 20_000 });
    second = batchedStatements(database.pool, { ...defaultBatchLimits, patience: 20_000 });
  });
  after(() => database.end());
  beforeEach(() => database.owner.query(arranged));

  function newCode(over: Partial<NewCode> = {}): NewCode {
    return {
      ...{ box: 'default', version: 10, id: randomUUID(), hash: randomBytes(32).toString('hex'), client: 'app' },
      ...{ user: 1, browser, signInVersion: 1, consentVersion: 1, target, redirectUri: null, scope: 'read openid' },
      ...{ audience: null, challenge: null, nonce: null, authenticatedAt: now - 60_000, userAgent: null },
      ...{ createdAt: now, expiresAt: now + 60_000, keptUntil: now + 86_400_000, ...over },
    };
  }

  function redemption(code: Pick<NewCode, 'id' | 'hash' | 'box' | 'version'>, over: object = {}): Redemption {
    const expiresAt = now / 1000 + 3600;
    const bucket = bucketOf(now / 1000, expiresAt);
    const hash = randomBytes(32).toString('hex');
    const who = { client: 'app', user: 1, type: 'a', scope: 'read', audience: ['x"y'], userAgent: null } as const;
    const { box, version } = code;
    const id = randomBytes(16).toString('hex');
    return {
      code: { id: code.id, hash: code.hash },
      session: { box, version, id, bucket, expiresAt, hash, remoteAddr: '192.0.2.1', ...who, ...over },
      family: null,
      now,
    };
  }

  function sessionOf({ session }: Redemption) {
    const { box, bucket, id, hash } = session;
    return hot.check({ box, bucket, id, hash });
  }

  async function stored(over: Partial<NewCode> = {}): Promise<NewCode> {
    const code = newCode(over);
    expect(await hot.storeCode(code)).to.equal(true);
    return code;
  }

  const answers = async (): Promise<number> =>
    Number((await database.owner.query('SELECT FROM boxgate.authorization_answer')).rowCount);

  it('find who is signed in and what they let a client have, each with the version of its box', async () => {
    const times = { createdAt: now - 60_000, expiresAt: now + 60_000 };
    const found = await Promise.all([
      hot.signIn({ box: 'default', browser, client: 'app', target }),
      hot.signIn({ box: 'other', browser: other, client: 'app', target }),
      hot.signIn({ box: 'default', browser: randomBytes(32).toString('hex'), client: 'app', target }),
      hot.signIn({ box: 'no-such-box', browser, client: 'app', target }),
    ]);
    const consent = { version: 1, scopes: ['read', 'openid'] };
    expect(found).to.deep.equal([
      { version: 10, value: { user: 1, version: 1, ...times, consent } },
      { version: 10, value: { user: 2, version: 1, ...times, consent: undefined } },
      { version: 10, value: undefined },
      { version: undefined, value: undefined },
    ]);
  });

  const overForTheUser = {
    'are inactive': `UPDATE boxgate.user SET status = 'inactive' WHERE box = 'default' AND id = 1`,
    'have ended what was begun then': `UPDATE boxgate.user SET sessions_from = 11 WHERE box = 'default' AND id = 1`,
    'are gone': `DELETE FROM boxgate.user WHERE box = 'default' AND id = 1`,
  };
  for (const [what, change] of Object.entries(overForTheUser)) {
    it(`find nobody signed in, and no code that counts, of users who ${what}`, async () => {
      const { id } = await stored();
      await database.owner.query(change);
      expect(await hot.signIn({ box: 'default', browser, client: 'app', target })).to.deep.equal({
        version: 10,
        value: undefined,
      });
      const { value } = await hot.code({ box: 'default', id });
      expect(value?.userGone ?? true).to.equal(true);
      expect((await hot.signIn({ box: 'other', browser, client: 'app', target })).value?.user).to.equal(1);
    });
  }

  it('find a code as it was stored, whatever shares a batch', async () => {
    const list = fc.array(details, { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(list, async (all) => {
        // A person keeps 50 unused codes.
        await database.owner.query('TRUNCATE boxgate.authorization_answer');
        const codes = all.map((one) => newCode({ ...one, consentVersion: null }));
        expect(await Promise.all(codes.map((code) => hot.storeCode(code)))).to.deep.equal(codes.map(() => true));
        const found = await Promise.all(codes.map(({ box, id }) => hot.code({ box, id })));
        expect(found).to.deep.equal(codes.map((code) => ({ version: 10, value: foundOf(code) })));
        // As the transaction reads and writes them.
        const locked = await database.write((connection) => lockAnswer(connection, 'default', codes[0]?.id ?? ''));
        expect(locked).to.deep.include(codes[0] && { ...foundOf(codes[0]), person });
      }),
      { numRuns: 20 },
    );
    expect(await hot.code({ box: 'default', id: randomUUID() })).to.deep.equal({ version: 10, value: undefined });
    expect(await hot.code({ box: 'no-such-box', id: randomUUID() })).to.deep.equal({
      version: undefined,
      value: undefined,
    });
  });

  const told: readonly (readonly [what: string, scope: string | null, withPerson: boolean, isTold: boolean])[] = [
    ['the scope groups', 'openid groups', false, true],
    ['a client that puts claims into id_tokens', 'openid', true, true],
    ['a client of that kind, without a scope', null, true, true],
    ['neither', 'openid email mygroups groups:read', false, false],
    ['neither, without a scope', null, false, false],
  ];
  for (const [what, scope, withPerson, isTold] of told) {
    it(`${isTold ? 'read' : 'do not read'} the person of a code with ${what}`, async () => {
      const { id } = await stored({ scope, consentVersion: null });
      const { value } = await hot.code({ box: 'default', id, withPerson });
      expect(value?.person).to.deep.equal(isTold ? person : null);
    });
  }

  it('find a code that a transaction stored, and in no other box', async () => {
    const row = newCode();
    expect(await database.write((connection) => singleStatements(connection).storeCode(row))).to.equal(true);
    expect((await hot.code({ box: 'default', id: row.id })).value).to.deep.equal(foundOf(row));
    expect((await hot.code({ box: 'other', id: row.id })).value).to.equal(undefined);
  });

  it('redeem a code once, with the session that comes of it', async () => {
    const code = await stored();
    const first = redemption(code);
    expect(await hot.redeem(first)).to.equal(true);
    const { value } = await sessionOf(first);
    expect(value).to.deep.include({ client: 'app', type: 'a', scope: 'read', audience: ['x"y'], ended: false });
    expect(value?.user?.id).to.equal(1);
    expect((await hot.code(code)).value?.used).to.equal(true);
    const tokens = { session: first.session.id, bucket: first.session.bucket, family: null };
    const locked = await database.write((connection) => lockAnswer(connection, 'default', code.id));
    expect({ ...locked?.tokens, session: locked?.tokens?.session.replaceAll('-', '') }).to.deep.equal(tokens);
    const again = redemption(code);
    expect(await hot.redeem(again)).to.equal(false);
    expect((await sessionOf(again)).value).to.equal(undefined);
  });

  it('give a session and its code the refresh family of their own redemption, whatever shares a batch', async () => {
    const codes = [await stored(), await stored(), await stored()];
    const families = [randomUUID(), null, randomUUID()];
    const uses = codes.map((code, index) => ({ ...redemption(code), family: families[index] ?? null }));
    expect(await Promise.all(uses.map((use) => hot.redeem(use)))).to.deep.equal([true, true, true]);
    const found = await Promise.all(uses.map(sessionOf));
    expect(found.map(({ value }) => value?.family)).to.deep.equal(families);
    const locked = await Promise.all(
      codes.map(({ id }) => database.write((connection) => lockAnswer(connection, 'default', id))),
    );
    expect(locked.map((answer) => answer?.tokens?.family)).to.deep.equal(families);
  });

  it('let one of a hundred uses at once win, on two replicas', async () => {
    for (let round = 0; round < 10; round += 1) {
      const code = await stored();
      const uses = Array.from({ length: 100 }, () => redemption(code));
      const won = await Promise.all(uses.map((use, index) => (index % 2 === 0 ? hot : second).redeem(use)));
      expect(won.filter(Boolean)).to.have.length(1);
      const sessions = await Promise.all(uses.map(sessionOf));
      expect(sessions.map(({ value }) => value !== undefined)).to.deep.equal(won);
    }
  });

  it('serve the others of a batch when one is refused', async () => {
    const codes = [newCode(), newCode({ version: 9 }), newCode({ user: 2 }), newCode({ box: 'other' }), newCode()];
    const told = await Promise.all(codes.map((code) => hot.storeCode(code)));
    expect(told).to.deep.equal([true, false, false, true, true]);
    const uses = codes.map((code, index) => redemption(code, index === 4 ? { version: 11 } : {}));
    expect(await Promise.all(uses.map((use) => hot.redeem(use)))).to.deep.equal([true, false, false, true, false]);
  });

  it('do the same in a transaction that holds the box', async () => {
    const code = newCode();
    await database.write(async (connection) => {
      const single = singleStatements(connection);
      expect((await single.signIn({ box: 'default', browser, client: 'app', target })).value?.user).to.equal(1);
      expect(await single.storeCode(code)).to.equal(true);
      expect((await single.code(code)).value).to.deep.equal(foundOf(code));
      expect(await single.redeem(redemption(code))).to.equal(true);
      expect(await single.redeem(redemption(code))).to.equal(false);
    });
  });

  /** Changes by another connection between the statement that finds and the one that stores. */
  const betweenForBoth = {
    'the version of the box moves': `UPDATE boxgate.box SET config_version = 11 WHERE box = 'default'`,
    ...Object.fromEntries(Object.entries(overForTheUser).map(([what, sql]) => [`they ${what}`, sql])),
  };
  const betweenForCodes = {
    ...betweenForBoth,
    'they sign out': `DELETE FROM boxgate.sign_in WHERE box = 'default' AND browser = '\\x${browser}'`,
    'the sign-in becomes another one': `UPDATE boxgate.sign_in SET version = 2 WHERE box = 'default'`,
    'the sign-in becomes another person’s': `UPDATE boxgate.sign_in SET user_id = 2 WHERE box = 'default'`,
    'the consent is taken back': `DELETE FROM boxgate.consent WHERE box = 'default'`,
    'the consent is given again': `UPDATE boxgate.consent_target SET version = 2 WHERE box = 'default'`,
    'the consent no longer covers the scope': `UPDATE boxgate.consent_target SET scopes = '{read}' WHERE box = 'default'`,
  };
  for (const [what, change] of Object.entries(betweenForCodes)) {
    it(`store no code when ${what}`, async () => {
      await database.owner.query(change);
      expect(await hot.storeCode(newCode())).to.equal(false);
      expect(await answers()).to.equal(0);
      expect(await hot.storeCode(newCode({ box: 'other' }))).to.equal(true);
    });
  }

  for (const [what, otherTarget] of Object.entries({ 'redirect URI': elsewhere, audience: forFiles })) {
    it(`R-07 find no consent for another ${what}, and store no code by it`, async () => {
      const { value } = await hot.signIn({ box: 'default', browser, client: 'app', target: otherTarget });
      expect([value?.user, value?.consent]).to.deep.equal([1, undefined]);
      expect(await hot.storeCode(newCode({ target: otherTarget }))).to.equal(false);
      expect(await hot.storeCode(newCode())).to.equal(true);
    });
  }

  it('store a code of a client that needs no consent without one', async () => {
    await database.owner.query('DELETE FROM boxgate.consent');
    expect(await hot.storeCode(newCode())).to.equal(false);
    expect(await hot.storeCode(newCode({ consentVersion: null }))).to.equal(true);
  });

  const betweenForRedemptions = {
    ...betweenForBoth,
    'it was used or ended': `UPDATE boxgate.authorization_answer SET used_at = now() WHERE box = 'default'`,
    'it is gone': `DELETE FROM boxgate.authorization_answer WHERE box = 'default'`,
    'it is another code by now': `UPDATE boxgate.authorization_answer SET hash = '\\x00' WHERE box = 'default'`,
    'it is a token that was given at once': `UPDATE boxgate.authorization_answer SET hash = NULL WHERE box = 'default'`,
    'it is another client’s by now': `UPDATE boxgate.authorization_answer SET client = 'other' WHERE box = 'default'`,
    'it is another person’s by now': `UPDATE boxgate.authorization_answer SET user_id = 2 WHERE box = 'default'`,
  };
  for (const [what, change] of Object.entries(betweenForRedemptions)) {
    it(`redeem no code when ${what}`, async () => {
      const use = redemption(await stored());
      const elsewhere = redemption(await stored({ box: 'other' }));
      await database.owner.query(change);
      expect(await hot.redeem(use)).to.equal(false);
      expect((await sessionOf(use)).value).to.equal(undefined);
      expect(await hot.redeem(elsewhere)).to.equal(true);
    });
  }

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
    'its person is signing out': (connection) => deleteSignIn(connection, 'default', browser),
  };
  const underWayForRedemptions: typeof underWay = {
    ...underWay,
    'its person is signing out': (connection) => endAnswersOf(connection, 'default', browser, now),
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
      const use = redemption(await stored());
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

  it('store and redeem nothing where statements do not each see the present', async () => {
    const code = await stored();
    for (const level of ['REPEATABLE READ', 'SERIALIZABLE', 'READ COMMITTED']) {
      const done = await inBox(database.pool, 'default', 'write', async (connection) => {
        await connection.query(`SET TRANSACTION ISOLATION LEVEL ${level}`);
        const single = singleStatements(connection);
        return [await single.storeCode(newCode()), await single.redeem(redemption(code))];
      });
      expect(done, level).to.deep.equal(level === 'READ COMMITTED' ? [true, true] : [false, false]);
    }
  });

  it('let a change of the box that waits come first', async () => {
    const change = await database.write(async (connection) => {
      await singleStatements(connection).storeCode(newCode());
      const changing = database.write((other) => bumpVersion(other, 'default'));
      await somebodyWaits();
      expect(await hot.storeCode(newCode())).to.equal(false);
      return { changing };
    });
    await change.changing;
  });

  /** For what another transaction of this database holds. */
  function somebodyWaits(): Promise<void> {
    return eventually('somebody waits', async () => {
      const { rowCount } = await database.owner.query(
        'SELECT FROM pg_locks JOIN pg_stat_activity a USING (pid) WHERE NOT granted AND a.datname = current_database()',
      );
      return rowCount === 1;
    });
  }

  /** Revocations that start while a code is being stored: they wait for it, and find it. */
  const takers: Readonly<Record<string, (code: NewCode) => Promise<unknown>>> = {
    'a sign-out': () =>
      database.write(async (connection) => {
        await deleteSignIn(connection, 'default', browser);
        await endAnswersOf(connection, 'default', browser, now);
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
        await somebodyWaits();
        expect(taken).to.equal(false);
      });
      await taking;
      const use = redemption(code);
      expect(await hot.redeem(use)).to.equal(false);
    });
  }

  it('a sign-out waits for a redemption that is on its way, and hears of its session', async () => {
    const code = await stored();
    const use = redemption(code);
    let ending = Promise.resolve<readonly { session: string }[]>([]);
    await database.write(async (connection) => {
      expect(await singleStatements(connection).redeem(use)).to.equal(true);
      ending = database.write((another) => endAnswersOf(another, 'default', browser, now));
      await somebodyWaits();
    });
    expect((await ending).map(({ session }) => session.replaceAll('-', ''))).to.deep.equal([use.session.id]);
  });
});

function foundOf(code: NewCode): FoundCode {
  const {
    box: _,
    browser: _browser,
    keptUntil: _until,
    signInVersion: _v,
    consentVersion: _c,
    target: _t,
    ...rest
  } = code;
  return { ...rest, used: false, userGone: false, person: null };
}
