import { expect } from 'chai';
import fc from 'fast-check';
import { randomBytes, randomUUID } from 'node:crypto';
import { lockAnswer } from '../../../api/db/authorization/authorization-answer.ts';
import { targetKey } from '../../../api/db/authorization/consent.ts';
import { singleStatements } from '../../../api/db/batched-statements.ts';
import type { BatchedStatements } from '../../../api/db/batched-statements.ts';
import { inBox } from '../../../api/db/core/transaction.ts';
import type { Person } from '../../../api/db/user/person.ts';
import {
  back,
  browser,
  onCodeDatabase,
  foundOf,
  newCode,
  now,
  other,
  overForTheUser,
  redemption,
  sessionOf,
  stored,
  target,
} from './code-rows.ts';
import type { CodeDatabase } from './code-rows.ts';

const elsewhere = targetKey({ ...back, redirectUri: 'https://app.example/else' });
const forFiles = targetKey({ ...back, audience: 'https://files.example' });

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

/** The first user, who is in no group, as codes and families tell of them. */
const person: Person = { id: 1, email: '1', email_verified: false, data: null, groups: null };

describe('the hot statements of the code flow', () => {
  let database: CodeDatabase;
  let hot: BatchedStatements;
  /** Another replica. */
  let second: BatchedStatements;

  onCodeDatabase((started) => {
    database = started;
    ({ hot, second } = database);
  });

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

  for (const [what, change] of Object.entries(overForTheUser)) {
    it(`find nobody signed in, and no code that counts, of users who ${what}`, async () => {
      const { id } = await stored(hot);
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
      const { id } = await stored(hot, { scope, consentVersion: null });
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
    const code = await stored(hot);
    const first = redemption(code);
    expect(await hot.redeem(first)).to.equal(true);
    const { value } = await sessionOf(hot, first);
    expect(value).to.deep.include({ client: 'app', type: 'a', scope: 'read', audience: ['x"y'], ended: false });
    expect(value?.user?.id).to.equal(1);
    expect((await hot.code(code)).value?.used).to.equal(true);
    const tokens = { session: first.session.id, bucket: first.session.bucket, family: null };
    const locked = await database.write((connection) => lockAnswer(connection, 'default', code.id));
    expect({ ...locked?.tokens, session: locked?.tokens?.session.replaceAll('-', '') }).to.deep.equal(tokens);
    const again = redemption(code);
    expect(await hot.redeem(again)).to.equal(false);
    expect((await sessionOf(hot, again)).value).to.equal(undefined);
  });

  it('give a session and its code the refresh family of their own redemption, whatever shares a batch', async () => {
    const codes = [await stored(hot), await stored(hot), await stored(hot)];
    const families = [randomUUID(), null, randomUUID()];
    const uses = codes.map((code, index) => ({ ...redemption(code), family: families[index] ?? null }));
    expect(await Promise.all(uses.map((use) => hot.redeem(use)))).to.deep.equal([true, true, true]);
    const found = await Promise.all(uses.map((use) => sessionOf(hot, use)));
    expect(found.map(({ value }) => value?.family)).to.deep.equal(families);
    const locked = await Promise.all(
      codes.map(({ id }) => database.write((connection) => lockAnswer(connection, 'default', id))),
    );
    expect(locked.map((answer) => answer?.tokens?.family)).to.deep.equal(families);
  });

  it('let one of a hundred uses at once win, on two replicas', async () => {
    for (let round = 0; round < 10; round += 1) {
      const code = await stored(hot);
      const uses = Array.from({ length: 100 }, () => redemption(code));
      const won = await Promise.all(uses.map((use, index) => (index % 2 === 0 ? hot : second).redeem(use)));
      expect(won.filter(Boolean)).to.have.length(1);
      const sessions = await Promise.all(uses.map((use) => sessionOf(hot, use)));
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

  it('store and redeem nothing where statements do not each see the present', async () => {
    const code = await stored(hot);
    for (const level of ['REPEATABLE READ', 'SERIALIZABLE', 'READ COMMITTED']) {
      const done = await inBox(database.pool, 'default', 'write', async (connection) => {
        await connection.query(`SET TRANSACTION ISOLATION LEVEL ${level}`);
        const single = singleStatements(connection);
        return [await single.storeCode(newCode()), await single.redeem(redemption(code))];
      });
      expect(done, level).to.deep.equal(level === 'READ COMMITTED' ? [true, true] : [false, false]);
    }
  });
});
