import { expect } from 'chai';
import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { bucketOf } from '../../api/db/session/bucket.ts';
import { planChecks } from '../../api/db/hot/check.ts';
import { batchedStatements, singleStatements } from '../../api/db/hot/index.ts';
import { batchBounds } from '../../api/db/hot/statement-batches.ts';
import type { FirstGrant } from '../../api/db/session/record.ts';
import type { FoundSession, SessionKey } from '../../api/db/hot/check.ts';
import type { BatchedStatements } from '../../api/db/hot/index.ts';
import type { NewSession } from '../../api/db/hot/issue.ts';
import type { Person } from '../../api/db/user.ts';
import { inBox } from '../../api/db/core/transaction.ts';
import { boxDatabase } from '../records/box-database.ts';
import type { BoxDatabase } from '../records/box-database.ts';

const now = Math.floor(Date.now() / 1000);
const day = 86_400;
/** Names that an array literal could misread. */
const boxes = ['a', 'b', 'null', 'no-such-box'];
const lifetimes = [1, 3600, 59 * day, 100 * day, 200 * day, 400 * day, 315_360_000];

const awkward = fc.oneof(
  fc.constantFrom('NULL', 'null', '"', '\\', '{}', ',', '\\"', "'", '$1', '\n', ' ', 'é', '😀', '\u2028'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }),
);
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { nil: null });

const details = fc.record({
  box: fc.constantFrom(...boxes),
  behind: fc.constantFrom(0, 0, 0, 0, 1),
  lifetime: fc.constantFrom(...lifetimes),
  type: fc.constantFrom('c', 'r', 'i', 'a', 'p'),
  client: fc.constantFrom('NULL', 'a', 'A.b_c~d-e', '0x1'),
  jwt: fc.boolean(),
  remoteAddr: optional(fc.constantFrom('127.0.0.1', '2001:db8::1', '::ffff:10.0.0.1')),
  // One who lives, one who is inactive, one who is not there.
  user: optional(fc.constantFrom(1, 2, 9_007_199_254_740_991)),
  scope: optional(awkward.filter((text) => !text.includes('\u0000'))),
  audience: optional(fc.array(awkward, { maxLength: 3 })),
  userAgent: optional(awkward.filter((text) => !text.includes('\u0000'))),
});

type Details = typeof details extends fc.Arbitrary<infer T> ? T : never;

function newSession(of: Details, version: number): NewSession {
  const { box, lifetime, type, client, remoteAddr, user, scope, audience, userAgent } = of;
  return {
    ...{ box, type, client, remoteAddr, user, scope, audience, userAgent },
    id: randomBytes(16).toString('hex'),
    hash: of.jwt ? null : randomBytes(32).toString('hex'),
    version: version - of.behind,
    expiresAt: now + lifetime,
    bucket: bucketOf(now, now + lifetime),
  } as const satisfies NewSession;
}

function keyOf({ box, bucket, id, hash }: NewSession): SessionKey {
  return { box, bucket, id, hash };
}

function expected(session: NewSession): FoundSession {
  const { version, expiresAt, type, client, scope, audience } = session;
  const user = session.user === 1 ? person : null;
  const ended = session.user !== null && user === null;
  return { version, expiresAt, type, client, user, scope, audience, family: null, ended, grant: grantOf(session) };
}

/** No session of these tests has a family. */
function grantOf({ type }: NewSession): FirstGrant | null {
  return type === 'r' ? null : type;
}

const person: Person = {
  id: 1,
  email: 'A"@b.example',
  email_verified: false,
  data: '{"a": "\\"}',
  groups: [{ id: 1, name: 'null' }],
};

/** The users that sessions of a box belong to. */
const users = `
  INSERT INTO boxgate.user (box, id, email, email_key, password, pepper, data, status)
  SELECT b, id, $1, id, '', '', $2, CASE WHEN id = 2 THEN 'inactive' END
    FROM unnest('{a,b,"null"}'::text[]) b, generate_series(1, 2) id`;
const groups = `
  INSERT INTO boxgate.group (box, id, name, version) SELECT b, 1, 'null', 1 FROM unnest('{a,b,"null"}'::text[]) b;
  INSERT INTO boxgate.group_member (box, user_id, group_id) SELECT b, 1, 1 FROM unnest('{a,b,"null"}'::text[]) b`;

/** Ways in which a key is not that of its session. */
const mistakes: Readonly<Record<string, (key: SessionKey) => SessionKey>> = {
  'another box': (key) => ({ ...key, box: key.box === 'a' ? 'b' : 'a' }),
  'another id': (key) => ({ ...key, id: randomBytes(16).toString('hex') }),
  'another hash': (key) => ({ ...key, hash: randomBytes(32).toString('hex') }),
  'no hash where there is one, or one where there is none': (key) => ({
    ...key,
    hash: key.hash === null ? randomBytes(32).toString('hex') : null,
  }),
  'another bucket': (key) => ({ ...key, bucket: key.bucket + 1 }),
  'a bucket that is not there': (key) => ({ ...key, bucket: 5 }),
  'the largest bucket a token can name': (key) => ({ ...key, bucket: 4_294_967_295 }),
};

describe('the hot statements', () => {
  let database: BoxDatabase;
  let hot: BatchedStatements;

  before(async () => {
    database = await boxDatabase();
    await database.owner.query(`INSERT INTO boxgate.box (box) VALUES ('a'), ('b'), ('null')`);
    await database.owner.query(users, [person.email, person.data]);
    await database.owner.query(groups);
    hot = batchedStatements(database.pool, { ...batchBounds, size: 16, patience: 20_000 });
  });
  after(() => database.end());

  async function versions(): Promise<ReadonlyMap<string, number>> {
    const { rows } = await database.owner.query<{ box: string; v: string }>(
      'SELECT box, config_version AS v FROM boxgate.box',
    );
    return new Map(rows.map((row) => [row.box, Number(row.v)]));
  }

  function bump(box: string): Promise<unknown> {
    return database.owner.query('UPDATE boxgate.box SET config_version = config_version + 1 WHERE box = $1', [box]);
  }

  it('do as a list of sessions does, whatever shares a batch', async () => {
    const step = fc.record({
      issues: fc.array(details, { minLength: 8, maxLength: 40 }),
      mistaken: fc.array(fc.constantFrom(...Object.keys(mistakes)), { maxLength: 12 }),
      bumped: fc.constantFrom(...boxes),
    });
    const model: NewSession[] = [];
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (steps) => {
        for (const { issues, mistaken, bumped } of steps) {
          const current = await versions();
          const sessions = issues.map((of) => newSession(of, current.get(of.box) ?? 1));
          const told = await Promise.all(sessions.map((session) => hot.issue(session)));
          expect(told.map(({ version }) => version)).to.deep.equal(sessions.map(({ box }) => current.get(box)));
          // The guard: only who decided under the present version is stored.
          const stored = (session: NewSession): boolean => session.version === current.get(session.box);
          model.push(...sessions.filter(stored));
          await bump(bumped);
          const after = await versions();
          const recent = model.slice(-60);
          const found = await Promise.all(recent.map((session) => hot.check(keyOf(session))));
          expect(found).to.deep.equal(
            recent.map((session) => ({ version: after.get(session.box), value: expected(session) })),
          );
          const refused = sessions.filter((session) => !stored(session)).map(keyOf);
          const wrong = recent.slice(0, mistaken.length).map((session, index) => {
            const mistake = mistakes[mistaken[index] ?? ''];
            return mistake === undefined ? keyOf(session) : mistake(keyOf(session));
          });
          for (const key of [...refused, ...wrong]) {
            expect(await hot.check(key)).to.deep.equal({ version: after.get(key.box), value: undefined });
          }
          const asked = await Promise.all(boxes.map((box) => hot.version(box)));
          expect(asked.map(({ version }) => version)).to.deep.equal(boxes.map((box) => after.get(box)));
        }
      }),
      { numRuns: 15 },
    );
    expect(model.length).to.be.greaterThan(100);
  });

  for (const [what, mistake] of Object.entries(mistakes)) {
    it(`find no session by ${what}, and tell the version all the same`, async () => {
      const current = (await versions()).get('a') ?? 0;
      for (const jwt of [true, false]) {
        const session = newSession({ ...plain, jwt }, current);
        await hot.issue(session);
        const key = mistake(keyOf(session));
        expect(await hot.check(key)).to.deep.equal({ version: (await versions()).get(key.box), value: undefined });
      }
    });
  }

  it('answer a batch of many buckets, forged ones among them, each with its own session', async () => {
    const current = (await versions()).get('a') ?? 0;
    const sessions = Array.from({ length: 60 }, (_, index) =>
      newSession({ ...plain, jwt: index % 3 === 0, lifetime: (index + 1) * day }, current),
    );
    await Promise.all(sessions.map((session) => hot.issue(session)));
    const forged = sessions.map((session, index) => ({ ...keyOf(session), bucket: index * 7 }));
    const answers = await Promise.all([...sessions.map(keyOf), ...forged].map((key) => hot.check(key)));
    expect(answers.slice(0, 60).map(({ value }) => value)).to.deep.equal(sessions.map(expected));
    expect(answers.slice(60)).to.deep.equal(forged.map(() => ({ version: current, value: undefined })));
  });

  it('store the other sessions of a batch when one of them cannot be stored', async () => {
    const current = (await versions()).get('a') ?? 0;
    const sessions = Array.from({ length: 12 }, () => newSession(plain, current));
    const withBad = sessions.map((session, index) => (index === 7 ? { ...session, bucket: 3 } : session));
    const outcomes = await Promise.allSettled(withBad.map((session) => hot.issue(session)));
    expect(outcomes.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))).to.deep.equal([7]);
    const found = await Promise.all(sessions.map((session) => hot.check(keyOf(session))));
    expect(found.flatMap(({ value }, index) => (value === undefined ? [index] : []))).to.deep.equal([7]);
  });

  it('tell that a session has ended, by itself or with its family, also when its family is gone', async () => {
    const current = (await versions()).get('a') ?? 0;
    const ended = async (change: string): Promise<boolean | undefined> => {
      const session = newSession(plain, current);
      await hot.issue(session);
      const family = randomBytes(16).toString('hex');
      await database.owner.query(
        `INSERT INTO boxgate.refresh_family (box, id, client, version, family_hash, token_hash, session, created_at,
                                             last_used_at, expires_at, ends_at, sessions_end, grant_type)
         VALUES ('a', $1, 'a', 1, '', '', $2, now(), now(), now(), now(), now(), 'c')`,
        [family, session.id],
      );
      await database.owner.query('UPDATE boxgate.session SET family = $1 WHERE id = $2', [family, session.id]);
      await database.owner.query(change.replace(':family', `'${family}'`).replace(':session', `'${session.id}'`));
      return (await hot.check(keyOf(session))).value?.ended;
    };
    const end = "SET ended_at = now(), ended_as = 'closed'";
    expect(await ended('SELECT 1')).to.equal(false);
    expect(await ended(`UPDATE boxgate.session ${end} WHERE id = :session`)).to.equal(true);
    expect(await ended(`UPDATE boxgate.refresh_family ${end} WHERE id = :family`)).to.equal(true);
    expect(await ended('DELETE FROM boxgate.refresh_family WHERE id = :family')).to.equal(true);
    expect(await ended('UPDATE boxgate.session SET family = NULL WHERE id = :session')).to.equal(false);
  });

  it('do the same one by one in a transaction that holds the box', async () => {
    const current = (await versions()).get('a') ?? 0;
    const session = newSession(plain, current);
    const late = newSession({ ...plain, behind: 1 }, current);
    await inBox(database.pool, 'a', 'write', async (connection) => {
      const single = singleStatements(connection);
      expect((await single.issue(session)).version).to.equal(current);
      expect((await single.issue(late)).version).to.equal(current);
      expect(await single.check(keyOf(session))).to.deep.equal({ version: current, value: expected(session) });
      expect(await single.check(keyOf(late))).to.deep.equal({ version: current, value: undefined });
      expect((await single.version('a')).version).to.equal(current);
      expect((await single.version('no-such-box')).version).to.equal(undefined);
    });
    expect((await hot.check(keyOf(session))).value).to.deep.equal(expected(session));
  });

  it('run as few statements for a batch whatever buckets its tokens name', () => {
    const bucket = fc.oneof(fc.nat(3), fc.nat(1_000_000));
    const key = fc.record({ box: fc.constant('a'), bucket, id: fc.string(), hash: optional(fc.string()) });
    fc.assert(
      fc.property(fc.array(key, { maxLength: 300 }), (keys) => {
        const { alone, joined } = planChecks(keys);
        expect(alone.length).to.be.at.most(4);
        expect(joined.length).to.be.at.most(2);
        const planned = new Set([...alone, ...joined].flat());
        expect(keys.every((one) => planned.has(one))).to.equal(true);
        expect([...alone, ...joined].flat()).to.have.length(keys.length);
        for (const group of alone) expect(new Set(group.map(({ bucket }) => bucket)).size).to.equal(1);
        for (const group of [...alone, ...joined]) {
          expect(new Set(group.map(({ hash }) => hash === null)).size).to.equal(1);
        }
      }),
    );
  });
});

const plain: Details = {
  box: 'a',
  behind: 0,
  lifetime: 3600,
  type: 'c',
  client: 'a',
  jwt: false,
  remoteAddr: null,
  user: null,
  scope: null,
  audience: null,
  userAgent: null,
};
