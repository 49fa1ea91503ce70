import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { deleteExpired } from '../../../api/db/box/box-upkeep.ts';
import { bucketOf } from '../../../api/db/session/bucket.ts';
import type { NewSession } from '../../../api/db/hot/issue.ts';
import { Outage } from '../../../api/db/core/outage.ts';
import { insertFamily, lockFamily, rotateFamily, slideFamily } from '../../../api/db/session/refresh-family.ts';
import type { NewRefreshFamily } from '../../../api/db/session/refresh-family.ts';
import { insertSession, readSession } from '../../../api/db/session/session.ts';
import { inBox, inBoxWithin } from '../../../api/db/core/transaction.ts';
import type { Connection } from '../../../api/db/core/transaction.ts';
import { boxDatabase } from '../../records/box-database.ts';
import type { BoxDatabase } from '../../records/box-database.ts';
import { uuidAt } from '../../records/sample-sessions.ts';
import { digest, sampleFamily } from './sample-family.ts';

const hour = 3_600_000;
const day = 24 * hour;

describe('the statements of refresh families', () => {
  let database: BoxDatabase;
  const now = Date.UTC(2026, 1, 3, 4, 5, 6, 789);

  before(async () => {
    database = await boxDatabase();
  });
  after(() => database.end());

  async function stored(over: Partial<NewRefreshFamily> = {}): Promise<ReturnType<typeof sampleFamily>> {
    const made = sampleFamily(now, over);
    await database.write((connection) => insertFamily(connection, made));
    return made;
  }

  function read(id: string, box = 'default') {
    return inBox(database.pool, box, 'write', (connection) => lockFamily(connection, box, id));
  }

  it('read a family as it was stored, to the millisecond', async () => {
    const { box: _, sessionsEnd: __, ...expected } = await stored();
    expect(await read(expected.id)).to.deep.equal({
      ...expected,
      userGone: false,
      person: null,
      generation: 0,
      successor: null,
      rotatedAt: null,
      ended: false,
    });
    const bare = await stored({ scope: null, audience: null });
    expect(await read(bare.id)).to.include({ scope: null, audience: null });
  });

  it('tell of a family whose user counts no more', async () => {
    await database.owner.query(
      `INSERT INTO boxgate.user (box, id, email, email_key, password, pepper) VALUES ('default', 5, 'a', 'a', '', '')`,
    );
    const { id } = await stored({ user: 5, authenticatedAt: now - 1 });
    const person = { id: 5, email: 'a', email_verified: false, data: null, groups: null };
    expect(await read(id)).to.deep.include({ user: 5, userGone: false, person, authenticatedAt: now - 1 });
    await database.owner.query('UPDATE boxgate.user SET sessions_from = 4 WHERE id = 5');
    expect(await read(id)).to.include({ user: 5, userGone: true, person: null });
    expect(await read((await stored({ user: 6 })).id)).to.include({ user: 6, userGone: true });
  });

  it('find no family of another box, and none by a wrong id', async () => {
    const { id } = await stored();
    expect(await read(id, 'other')).to.equal(undefined);
    expect(await read(randomUUID())).to.equal(undefined);
  });

  it('store the session of an access token with its family and the session it came from', async () => {
    const { id } = await stored();
    const [issued, parent] = [Math.floor(Date.now() / 1000), randomUUID()];
    const session: NewSession = {
      box: 'default',
      version: 3,
      id: uuidAt(issued * 1000),
      bucket: bucketOf(issued, issued + 3600),
      expiresAt: issued + 3600,
      type: 'r',
      client: 'a',
      hash: digest(),
      remoteAddr: '2001:db8::7',
      user: 5,
      scope: 'x',
      audience: ['one'],
      userAgent: 'agent',
    };
    await database.write((connection) => insertSession(connection, session, id, parent));
    const found = await database.read((connection) => readSession(connection, 'default', session.id, issued * 1000));
    expect(found).to.deep.include({ ...{ id: session.id, client: 'a', type: 'r', user: 5, scope: 'x', family: id } });
    expect(found).to.deep.include({ parent, audience: ['one'], remoteAddr: '2001:db8::7', userAgent: 'agent' });
    expect(found?.expiresAt).to.equal(session.expiresAt * 1000);
  });

  it('note a use: the newest session and the sliding end; the end of its sessions never comes nearer', async () => {
    const { id } = await stored();
    const use = (session: string, sessionEnd: number) =>
      database.write((connection) =>
        slideFamily(connection, 'default', id, { session, now: now + 5, expiresAt: now + 3 * hour, sessionEnd }),
      );
    const session = randomUUID();
    await use(session, now + 9 * hour);
    await use(session, now + hour);
    expect(await read(id)).to.include({ session, expiresAt: now + 3 * hour, endsAt: now + day });
    const { rows } = await database.owner.query('SELECT sessions_end FROM boxgate.refresh_family WHERE id = $1', [id]);
    expect(rows[0]).to.deep.equal({ sessions_end: new Date(now + 9 * hour) });
  });

  it('move a family to its next token', async () => {
    const { id } = await stored();
    const next = { generation: 1, tokenHash: digest(), successor: Buffer.from('sealed') };
    await database.write((connection) => rotateFamily(connection, 'default', id, { ...next, now: now + 9 }));
    expect(await read(id)).to.deep.include({ ...next, rotatedAt: now + 9 });
  });

  it('let only one of two work on a family at a time', async () => {
    const { id } = await stored();
    const hold = async (connection: Connection): Promise<void> => {
      await lockFamily(connection, 'default', id);
      expect(await read(id).catch((error: unknown) => error)).to.be.instanceOf(Outage);
    };
    await inBoxWithin(database.pool, 'default', { mode: 'write', limit: 20_000 }, hold);
    expect(await read(id)).to.include({ id });
  });

  describe('delete families', () => {
    const old = Date.now() - 2 * day;
    const over = { createdAt: old - day, expiresAt: old, endsAt: old, sessionsEnd: old };

    function remove(limit = 100): Promise<number> {
      return deleteExpired(database.pool, 'refresh_family', new Date(), limit);
    }

    it('that expired a day ago, with all their sessions, and no others', async () => {
      await remove();
      const gone = await stored(over);
      const kept = await Promise.all([
        stored({ ...over, expiresAt: Date.now() - hour }),
        stored({ ...over, sessionsEnd: Date.now() + hour }),
        stored({ expiresAt: Date.now() + hour, endsAt: Date.now() + day, sessionsEnd: Date.now() + hour }),
      ]);
      expect(await remove()).to.equal(1);
      expect(await read(gone.id)).to.equal(undefined);
      for (const { id } of kept) expect(await read(id)).to.not.equal(undefined);
    });

    it('a few at a time, and two that do it at once share the work', async () => {
      await Promise.all(Array.from({ length: 30 }, () => stored(over)));
      const counts = await Promise.all([remove(10), remove(10), remove(10), remove(10)]);
      expect(Math.max(...counts)).to.be.at.most(10);
      const rest = await remove();
      expect(counts.reduce((sum, count) => sum + count, 0) + rest).to.equal(30);
    });
  });
});
