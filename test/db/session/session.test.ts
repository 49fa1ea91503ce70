import { expect } from 'chai';
import { bumpVersion } from '../../../api/db/box/box.ts';
import { deleteResources } from '../../../api/db/resource/write.ts';
import { storeResources } from '../../../api/db/resource/store.ts';
import { endFamily, endSession, readSession } from '../../../api/db/session/session.ts';
import type { SessionRecord } from '../../../api/db/session/record.ts';
import { countSessions, readScope, searchSessions } from '../../../api/db/session/search.ts';
import type { SessionFilters } from '../../../api/db/session/search.ts';
import { boxDatabase } from '../../records/box-database.ts';
import type { BoxDatabase } from '../../records/box-database.ts';
import { storeFamily, storeSession, uuidAt } from '../../records/sample-sessions.ts';
import { waitForLock } from '../../support/lock-wait.ts';

const minute = 60_000;
const hour = 60 * minute;
const span = { limit: 100, offset: 0, descending: true, backward: false };

describe('the session statements', () => {
  let database: BoxDatabase;
  // Read again for each test: between loading this file and running it others may take minutes.
  let now = 0;

  before(async () => {
    database = await boxDatabase();
  });
  after(() => database.end());
  beforeEach(async () => {
    now = Date.now();
    // Not TRUNCATE: two hundred partitions with their indexes take a second each time.
    await database.owner.query('DELETE FROM boxgate.session');
    await database.owner.query('TRUNCATE boxgate.refresh_family, boxgate.revocation');
  });

  /** Reads a session by its id, and sees that a search finds the same. */
  function read(id: string, at = now): Promise<SessionRecord | undefined> {
    return database.read(async (connection) => {
      const session = await readSession(connection, 'default', id, at);
      const search = { box: 'default', filters: { id }, now: at, scope: await readScope(connection, 'default') };
      const { rows } = await searchSessions(connection, search, span);
      expect(rows).to.deep.equal(session === undefined ? [] : [session]);
      return session;
    });
  }

  async function statusOf(id: string, at = now): Promise<string | undefined> {
    return (await read(id, at))?.status;
  }

  async function found(filters: SessionFilters, over: object = {}): Promise<readonly string[]> {
    const page = await database.read(async (connection) => {
      const search = { box: 'default', filters, now, scope: await readScope(connection, 'default') };
      return searchSessions(connection, search, { ...span, ...over });
    });
    return page.rows.map((row) => row.id);
  }

  function end(id: string, as: 'closed' | 'revoked' = 'closed', at = now) {
    return database.write((connection) => endSession(connection, 'default', id, { as, now: at }));
  }

  function revokeClient(client: string, ...at: readonly number[]): Promise<unknown> {
    return database.owner.query(
      `INSERT INTO boxgate.revocation (box, subject, version, at)
       VALUES ('default', $1, 2, to_timestamp($2::numeric / 1000.0))`,
      [`client:${client}`, at[0] ?? now],
    );
  }

  it('reads every field of a session, whatever bucket it is in', async () => {
    const parent = await storeSession(database.owner, {});
    const family = await storeFamily(database.owner);
    const tenYears = now - (now % 1000) + 10 * 365 * 24 * hour;
    const id = await storeSession(database.owner, {
      createdAt: now - 1234,
      expiresAt: tenYears,
      type: 'r',
      client: 'c',
      user: 7,
      family,
      scope: 'x y',
      audience: ['one', 'two'],
      parent,
      remoteAddr: '2001:db8::1',
      userAgent: 'agent',
    });
    const { bucket, ...session } = (await read(id)) ?? { bucket: 0 };
    expect(bucket).to.be.greaterThan(1_000_000);
    expect(session).to.deep.equal({
      id,
      type: 'r',
      client: 'c',
      user: 7,
      family,
      scope: 'x y',
      audience: ['one', 'two'],
      parent,
      remoteAddr: '2001:db8::1',
      userAgent: 'agent',
      status: 'active',
      expiresAt: tenYears,
      endedAt: undefined,
    });
  });

  it('knows no session of another box', async () => {
    const id = await storeSession(database.owner, { box: 'other' });
    expect(await read(id)).to.equal(undefined);
    expect(await found({})).to.deep.equal([]);
    expect(await end(id)).to.equal(undefined);
  });

  describe('the status', () => {
    it('is active until the moment the session expires', async () => {
      const expiresAt = now - (now % 1000) + hour;
      const id = await storeSession(database.owner, { expiresAt });
      expect(await statusOf(id, expiresAt - 1)).to.equal('active');
      expect(await statusOf(id, expiresAt)).to.equal('expired');
    });

    for (const as of ['closed', 'revoked'] as const) {
      it(`is ${as} for good once it was ended so`, async () => {
        const id = await storeSession(database.owner, { endedAt: now - minute, endedAs: as });
        await revokeClient('a');
        expect(await statusOf(id)).to.equal(as);
        expect(await statusOf(id, now + 9 * hour)).to.equal(as);
        expect((await read(id))?.endedAt).to.equal(now - minute);
      });
    }

    it('is revoked when its client was revoked before it expired, and stays so', async () => {
      const id = await storeSession(database.owner, { client: 'x' });
      await revokeClient('x', now - minute);
      expect(await statusOf(id)).to.equal('revoked');
      expect(await statusOf(id, now + 9 * hour)).to.equal('revoked');
      expect((await read(id))?.endedAt).to.equal(now - minute);
    });

    it('stays expired when its client was revoked after that', async () => {
      const id = await storeSession(database.owner, {
        client: 'x',
        createdAt: now - hour,
        expiresAt: now - 2 * minute,
      });
      await revokeClient('x', now - minute);
      expect(await statusOf(id)).to.equal('expired');
      expect((await read(id))?.endedAt).to.equal(undefined);
    });

    it('is not touched by the revocation of another client, nor when it was decided under a later version', async () => {
      const other = await storeSession(database.owner, { client: 'y' });
      const later = await storeSession(database.owner, { client: 'x', version: 2 });
      await revokeClient('x');
      expect([await statusOf(other), await statusOf(later)]).to.deep.equal(['active', 'active']);
    });

    for (const subject of ['box', 'user:7']) {
      it(`is revoked with ${subject}`, async () => {
        const mine = await storeSession(database.owner, { user: 7 });
        await database.owner.query(`INSERT INTO boxgate.revocation (box, subject, version) VALUES ('default', $1, 2)`, [
          subject,
        ]);
        expect(await statusOf(mine)).to.equal('revoked');
      });
    }

    it('is revoked with its family', async () => {
      const family = await storeFamily(database.owner);
      const id = await storeSession(database.owner, { family });
      await database.write((connection) => endFamily(connection, 'default', family, { as: 'revoked', now }));
      expect(await statusOf(id)).to.equal('revoked');
    });

    it('is revoked when its client is deleted, also when the client is there again', async () => {
      const key = { kind: 'Client', id: 'gone' } as const;
      const body = { resourceType: 'Client', id: 'gone', grant_types: ['client_credentials'] };
      const write = { ...key, body, secrets: [], owner: undefined, digest: undefined };
      const step = (work: 'store' | 'delete') =>
        database.write(async (connection) => {
          const version = await bumpVersion(connection, 'default');
          if (work === 'store') await storeResources(connection, 'default', version, [write]);
          else await deleteResources(connection, 'default', version, [key]);
          return version;
        });
      const id = await storeSession(database.owner, { client: 'gone', version: await step('store') });
      expect(await statusOf(id)).to.equal('active');
      await step('delete');
      expect(await statusOf(id)).to.equal('revoked');
      const again = await storeSession(database.owner, { client: 'gone', version: await step('store') });
      expect([await statusOf(id), await statusOf(again)]).to.deep.equal(['revoked', 'active']);
    });

    it('is revoked when it began before revoke_sessions_before of its client', async () => {
      const key = { kind: 'Client', id: 'cut' } as const;
      const write = { ...key, secrets: [], owner: undefined, digest: undefined };
      const store = (body: object) =>
        database.write(async (connection) => {
          const version = await bumpVersion(connection, 'default');
          await storeResources(connection, 'default', version, [{ ...write, body: { ...body } }]);
        });
      await store({});
      const cut = now - 10 * minute;
      const [old, late, over] = [
        await storeSession(database.owner, { client: 'cut', version: 99, createdAt: cut - 1 }),
        await storeSession(database.owner, { client: 'cut', version: 99, createdAt: cut }),
        await storeSession(database.owner, { client: 'cut', version: 99, createdAt: cut - 2, expiresAt: now - minute }),
      ];
      await store({ revoke_sessions_before: new Date(cut).toISOString() });
      const after = Date.now() + 1000;
      const statuses = [await statusOf(old, after), await statusOf(late, after), await statusOf(over, after)];
      expect(statuses).to.deep.equal(['revoked', 'active', 'expired']);
      expect(await found({ client: 'cut', status: 'revoked' })).to.deep.equal([old]);
    });
  });

  describe('endSession', () => {
    it('ends a session once', async () => {
      const id = await storeSession(database.owner, {});
      const first = await end(id, 'closed');
      expect([first?.ended, first?.session.status, first?.session.endedAt]).to.deep.equal([true, 'closed', now]);
      const second = await end(id, 'revoked', now + minute);
      expect([second?.ended, second?.session.status, second?.session.endedAt]).to.deep.equal([false, 'closed', now]);
    });

    it('leaves an expired session expired', async () => {
      const id = await storeSession(database.owner, { createdAt: now - hour, expiresAt: now - minute });
      const answer = await end(id);
      expect([answer?.ended, answer?.session.status]).to.deep.equal([false, 'expired']);
    });

    it('tells that there is no such session', async () => {
      expect(await end(uuidAt(now))).to.equal(undefined);
    });

    it('ends the family with its other living sessions, also when the session itself is over (S-03)', async () => {
      const family = await storeFamily(database.owner);
      const [over, living, mine, foreign] = [
        await storeSession(database.owner, { family, createdAt: now - hour, expiresAt: now - minute }),
        await storeSession(database.owner, { family, expiresAt: now + 80 * 24 * hour }),
        await storeSession(database.owner, { family }),
        await storeSession(database.owner, {}),
      ];
      await end(over);
      expect(await Promise.all([over, living, mine, foreign].map((id) => statusOf(id)))).to.deep.equal([
        'expired',
        'closed',
        'closed',
        'active',
      ]);
      expect(await found({ status: 'closed' })).to.have.members([living, mine]);
      const { rows } = await database.owner.query('SELECT ended_as FROM boxgate.refresh_family');
      expect(rows).to.deep.equal([{ ended_as: 'closed' }]);
    });

    it('waits for whoever holds the family', async () => {
      const family = await storeFamily(database.owner);
      const id = await storeSession(database.owner, { family });
      const order: string[] = [];
      const ending = await database.write(async (connection) => {
        await connection.query('SELECT FROM boxgate.refresh_family WHERE id = $1 FOR UPDATE', [family]);
        const waiting = end(id).then(() => order.push('ended'));
        await waitForLock('the end', database.owner);
        order.push('held');
        return { waiting };
      });
      await ending.waiting;
      expect(order).to.deep.equal(['held', 'ended']);
    });
  });

  describe('the search', () => {
    it('lists newest first, over all buckets', async () => {
      const ids = [
        await storeSession(database.owner, { createdAt: now - 4, expiresAt: now + hour }),
        await storeSession(database.owner, { createdAt: now - 3, expiresAt: now + 400 * 24 * hour }),
        await storeSession(database.owner, { createdAt: now - 2, expiresAt: now + 30 * 24 * hour }),
        await storeSession(database.owner, { createdAt: now - 1, expiresAt: now + hour }),
      ];
      expect(await found({})).to.deep.equal(ids.toReversed());
      expect(await found({}, { descending: false })).to.deep.equal(ids);
      expect(await found({}, { from: [ids[2]], limit: 1 })).to.deep.equal([ids[1]]);
      expect(await found({}, { from: [ids[2]], backward: true })).to.deep.equal([ids[3]]);
    });

    it('filters by each field, and counts the same', async () => {
      const family = await storeFamily(database.owner);
      const one = await storeSession(database.owner, { client: 'one', type: 'i', user: 5, createdAt: now - hour });
      const two = await storeSession(database.owner, { client: 'two', expiresAt: now + 90 * 24 * hour });
      const over = await storeSession(database.owner, { createdAt: now - 2 * hour, expiresAt: now - minute });
      const shut = await storeSession(database.owner, { endedAt: now - 1, endedAs: 'closed', family });
      const gone = await storeSession(database.owner, { client: 'gone' });
      await revokeClient('gone');
      const cases: readonly (readonly [SessionFilters, readonly string[]])[] = [
        [{ client: 'one' }, [one]],
        [{ client: "one' OR true --" }, []],
        [{ user: 5 }, [one]],
        [{ type: 'i' }, [one]],
        [{ id: two }, [two]],
        [{ status: 'active' }, [one, two]],
        [{ status: 'expired' }, [over]],
        [{ status: 'closed' }, [shut]],
        [{ status: 'revoked' }, [gone]],
        [{ status: 'active', client: 'two' }, [two]],
        [{ createdAt: { to: now - 90 * minute } }, [over]],
        [{ createdAt: { from: now - 90 * minute, to: now - minute } }, [one]],
        [{ createdAt: { from: now + minute } }, []],
        [{ createdAt: { from: -1, to: 0 } }, []],
        [{ expiresAt: { from: now + 2 * hour } }, [two]],
        [{ expiresAt: { to: now } }, [over]],
        [{ expiresAt: { from: now - hour, to: now } }, [over]],
      ];
      for (const [filters, expected] of cases) {
        expect(await found(filters), JSON.stringify(filters)).to.have.members(expected);
        const count = await database.read(async (connection) => {
          const scope = await readScope(connection, 'default');
          return countSessions(connection, { box: 'default', filters, now, scope }, 10);
        });
        expect(count, JSON.stringify(filters)).to.equal(expected.length);
      }
    });

    it('finds the revoked ones also when the whole box was revoked', async () => {
      const id = await storeSession(database.owner, {});
      await database.owner.query(`INSERT INTO boxgate.revocation (box, subject, version) VALUES ('default', 'box', 2)`);
      expect(await found({ status: 'revoked' })).to.deep.equal([id]);
    });
  });
});
