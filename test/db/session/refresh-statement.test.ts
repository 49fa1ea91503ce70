import { expect } from 'chai';
import { randomBytes, randomUUID } from 'node:crypto';
import { batchedStatements } from '../../../api/db/hot/index.ts';
import type { BatchedStatements } from '../../../api/db/hot/index.ts';
import { batchBounds, unprepared } from '../../../api/db/hot/statement-batches.ts';
import { inBox, inBoxWithin } from '../../../api/db/core/transaction.ts';
import type { Connection } from '../../../api/db/core/transaction.ts';
import { bucketOf } from '../../../api/db/session/bucket.ts';
import { findFamily, refreshSession } from '../../../api/db/hot/family.ts';
import { insertFamily, lockFamily, rotateFamily, slideFamily } from '../../../api/db/session/refresh-family.ts';
import type { NewRefreshFamily } from '../../../api/db/session/refresh-family.ts';
import type { RefreshUse } from '../../../api/db/hot/family.ts';
import { endFamily, insertSession } from '../../../api/db/session/session.ts';
import { boxDatabase } from '../../records/box-database.ts';
import type { BoxDatabase } from '../../records/box-database.ts';
import { digest, sampleFamily } from './sample-family.ts';

const hour = 3_600_000;

describe('the shared statements of refresh tokens', () => {
  let database: BoxDatabase;
  let hot: BatchedStatements;
  const now = Date.now();

  before(async () => {
    database = await boxDatabase();
    hot = batchedStatements(database.pool, { ...batchBounds, patience: 20_000 });
    await database.owner.query(
      `INSERT INTO boxgate.user (box, id, email, email_key, password, pepper) VALUES ('default', 5, 'a', 'a', '', '')`,
    );
  });
  after(() => database.end());

  async function stored(over: Partial<NewRefreshFamily> = {}): Promise<NewRefreshFamily> {
    const family = sampleFamily(now, { version: await database.versionOf('default'), endsAt: now + 9 * hour, ...over });
    await inBox(database.pool, family.box, 'write', (connection) => insertFamily(connection, family));
    return family;
  }

  function locked(id: string, box = 'default') {
    return inBox(database.pool, box, 'write', (connection) => lockFamily(connection, box, id));
  }

  function keyOf({ box, id, familyHash }: NewRefreshFamily) {
    return { box, id: id.replaceAll('-', ''), hash: familyHash };
  }

  function useOf(family: NewRefreshFamily, version: number, over: Partial<RefreshUse> = {}): RefreshUse {
    const expiresAt = Math.floor(now / 1000) + 600;
    return {
      session: {
        ...{ box: family.box, version, id: randomUUID(), expiresAt, type: 'r', client: 'a', user: family.user },
        ...{ hash: digest(), remoteAddr: '2001:db8::7', scope: 'x', audience: ['one'], userAgent: null },
        bucket: bucketOf(Math.floor(now / 1000), expiresAt),
      },
      family: family.id,
      tokenHash: family.tokenHash,
      now: now + 5,
      expiresAt: now + 3 * hour,
      next: null,
      ...over,
    };
  }

  async function sessionsOf(family: NewRefreshFamily): Promise<readonly Record<string, unknown>[]> {
    const { rows } = await database.owner.query<Record<string, unknown>>(
      `SELECT to_jsonb(s) - '{id,family,token_hash,parent}'::text[] AS row, s.id, s.parent FROM boxgate.session s
        WHERE s.family = $1 ORDER BY s.id`,
      [family.id],
    );
    return rows;
  }

  it('find a family as a transaction reads it: with a person, and after a rotation', async () => {
    const rotated = await stored();
    const next = { generation: 1, tokenHash: digest(), successor: randomBytes(60), now: now + 9 };
    await database.write((connection) => rotateFamily(connection, 'default', rotated.id, next));
    const families = [
      await stored(),
      rotated,
      await stored({ user: 5, grant: 'a', authenticatedAt: now - 1 }),
      await stored({ user: 6, grant: 'a' }),
      await stored({ scope: null, audience: null }),
      await stored({ box: 'other' }),
    ];
    const found = await Promise.all(families.map((family) => hot.family(keyOf(family))));
    const expected = await Promise.all(families.map(({ id, box }) => locked(id, box)));
    expect(found.map(({ value }) => value)).to.deep.equal(expected);
    expect(found.map(({ value }) => value?.userGone)).to.deep.equal([false, false, false, true, false, false]);
    const versions = await Promise.all(families.map(({ box }) => database.versionOf(box)));
    expect(found.map(({ version }) => version)).to.deep.equal(versions);
  });

  it('find no family by another hash or in another box, and none that has ended, and tell the version all the same', async () => {
    const family = await stored();
    const ended = await stored();
    await database.write((connection) => endFamily(connection, 'default', ended.id, { as: 'closed', now }));
    const nothing = { version: await database.versionOf('default'), value: undefined };
    expect(await hot.family({ ...keyOf(family), hash: digest() })).to.deep.equal(nothing);
    expect(await hot.family({ ...keyOf(family), id: randomUUID() })).to.deep.equal(nothing);
    expect(await hot.family(keyOf(ended))).to.deep.equal(nothing);
    const elsewhere = { version: await database.versionOf('other'), value: undefined };
    expect(await hot.family({ ...keyOf(family), box: 'other' })).to.deep.equal(elsewhere);
    const nowhere = { version: undefined, value: undefined };
    expect(await hot.family({ ...keyOf(family), box: 'no-such-box' })).to.deep.equal(nowhere);
  });

  for (const next of [null, { tokenHash: digest(), successor: randomBytes(60) }]) {
    it(`store a use as a transaction does, ${next === null ? 'without' : 'with'} a rotation`, async () => {
      const version = await database.versionOf('default');
      const [together, alone] = [await stored(), await stored()];
      // A session that lasts longer than all before it, and one that does not.
      for (const [nth, lasting] of [600, 9 * 3600].entries()) {
        const read = async (family: NewRefreshFamily) => (await locked(family.id)) ?? family;
        const end = Math.floor(now / 1000) + lasting;
        const use = async (family: NewRefreshFamily) => {
          const { tokenHash } = await read(family);
          const step = next && { ...next, tokenHash: next.tokenHash.replace(/^./, String(nth)) };
          const planned = useOf(family, version, { tokenHash, next: step, now: now + nth });
          return { ...planned, session: { ...planned.session, expiresAt: end } };
        };
        expect(await hot.refresh(await use(together))).to.equal(true);
        const { session, ...change } = await use(alone);
        await database.write(async (connection) => {
          const family = await lockFamily(connection, 'default', alone.id);
          await insertSession(connection, session, alone.id, family?.session ?? null);
          const slide = { session: session.id, now: change.now, expiresAt: change.expiresAt, sessionEnd: end * 1000 };
          await slideFamily(connection, 'default', alone.id, slide);
          const generation = (family?.generation ?? 0) + 1;
          if (change.next)
            await rotateFamily(connection, 'default', alone.id, { ...change.next, generation, now: change.now });
        });
      }
      const { rows } = await database.owner.query(
        `SELECT to_jsonb(f) - '{id,family_hash,session,token_hash}'::text[] AS row,
                CASE WHEN generation > 0 THEN token_hash END AS next FROM boxgate.refresh_family f WHERE id IN ($1, $2)`,
        [together.id, alone.id],
      );
      expect(rows[0]).to.deep.equal(rows[1]);
      const [found, expected] = [await sessionsOf(together), await sessionsOf(alone)];
      expect(found.map(({ row }) => row)).to.have.deep.members(expected.map(({ row }) => row));
      const parents = new Set(found.map(({ parent }) => parent));
      expect(parents.has(together.session)).to.equal(true);
      expect(found.filter(({ id }) => parents.has(id))).to.have.length(1);
      expect((await locked(together.id))?.session).to.be.oneOf(
        found.filter(({ id }) => !parents.has(id)).map(({ id }) => id),
      );
    });
  }

  const changes: Readonly<Record<string, (family: NewRefreshFamily) => Promise<unknown>>> = {
    'the configuration': () =>
      database.owner.query(`UPDATE boxgate.box SET config_version = config_version + 1 WHERE box = 'default'`),
    'the newest token of the family': ({ id }) =>
      database.write((connection) =>
        rotateFamily(connection, 'default', id, {
          generation: 1,
          tokenHash: digest(),
          successor: randomBytes(60),
          now,
        }),
      ),
    'that the family has not ended': ({ id }) =>
      database.write((connection) => endFamily(connection, 'default', id, { as: 'closed', now })),
    'that there is the family': ({ id }) =>
      database.owner.query('DELETE FROM boxgate.refresh_family WHERE id = $1', [id]),
  };
  for (const [what, change] of Object.entries(changes)) {
    it(`store no use after a change of ${what}, and others next to it`, async () => {
      const family = await stored();
      const use = useOf(family, await database.versionOf('default'));
      await change(family);
      const before = await locked(family.id);
      const others = await Promise.all([stored(), stored()]);
      const version = await database.versionOf('default');
      const uses = [use, ...others.map((other) => useOf(other, version))];
      expect(await Promise.all(uses.map((one) => hot.refresh(one)))).to.deep.equal([false, true, true]);
      expect(await locked(family.id)).to.deep.equal(before);
      expect(await sessionsOf(family)).to.deep.equal([]);
    });
  }

  it('store the first of several uses of a family in one call', async () => {
    const family = await stored();
    const version = await database.versionOf('default');
    const next = () => ({ tokenHash: digest(), successor: randomBytes(60) });
    const uses = Array.from({ length: 8 }, () => useOf(family, version, { next: next() }));
    const done = await Promise.all(uses.map((use) => hot.refresh(use)));
    expect(done).to.deep.equal(uses.map((_, nth) => nth === 0));
    expect(await locked(family.id)).to.include({ generation: 1, tokenHash: uses[0]?.next?.tokenHash });
    expect(await sessionsOf(family)).to.have.length(1);
  });

  /** Entries that this connection has read in indexes of families; those of its last transactions may be among them. */
  async function entriesRead(connection: Connection): Promise<number> {
    const { rows } = await connection.query<{ read: number }>(
      `SELECT sum(pg_stat_get_xact_tuples_returned(indexrelid))::integer AS read FROM pg_index
        WHERE indrelid = 'boxgate.refresh_family'::regclass`,
    );
    return rows[0]?.read ?? 0;
  }

  it('find each family by its key as soon as there are statistics', async () => {
    const version = await database.versionOf('default');
    const few = await stored();
    await database.write(async (connection) => {
      const db = unprepared(connection);
      // The connection keeps the plan that it makes now, while there are few families.
      await findFamily.run(db, [keyOf(few)]);
      await database.owner.query(
        `INSERT INTO boxgate.refresh_family (box, id, client, version, family_hash, token_hash, session, created_at,
                                               last_used_at, expires_at, ends_at, sessions_end, grant_type)
           SELECT 'default', gen_random_uuid(), 'a', 1, '', '', gen_random_uuid(), now(), now(), now(), now(), now(), 'c'
             FROM generate_series(1, 1000)`,
      );
      await database.owner.query('ANALYZE boxgate.refresh_family');
      const families = await Promise.all(Array.from({ length: 50 }, () => stored()));
      const before = await entriesRead(connection);
      const found = await findFamily.run(db, families.map(keyOf));
      expect(found.filter(({ value }) => value !== undefined)).to.have.length(50);
      const uses = families.map((family) => useOf(family, version));
      expect(new Set(await refreshSession.run(db, uses))).to.deep.equal(new Set([true]));
      const read = (await entriesRead(connection)) - before;
      // Three probes of each, and what the planner looks up. An index of the box would give all families to each.
      expect(read).to.be.within(3 * 50, 500);
    });
  });

  it('wait for nobody who holds a family, and see what they did', async () => {
    const family = await stored();
    const version = await database.versionOf('default');
    const hold = async (connection: Connection): Promise<void> => {
      await lockFamily(connection, 'default', family.id);
      expect(await hot.refresh(useOf(family, version))).to.equal(false);
      await endFamily(connection, 'default', family.id, { as: 'closed', now });
    };
    await inBoxWithin(database.pool, 'default', { mode: 'write', limit: 20_000 }, hold);
    expect(await hot.refresh(useOf(family, version))).to.equal(false);
    expect(await sessionsOf(family)).to.deep.equal([]);
  });
});
