import { expect } from 'chai';
import { isObject } from '../../../crds/json-value.ts';
import { recordOf } from '../../../api/audit/audit-trail.ts';
import { newAuditId } from '../../../api/audit/audit-id.ts';
import { insertAuditEvents } from '../../../api/db/audit/audit-event.ts';
import { upkeepAuditDays } from '../../../api/db/audit/audit-days.ts';
import { unprepared } from '../../../api/db/core/prepared-statements.ts';
import { inBox, inBoxWithin } from '../../../api/db/core/transaction.ts';
import type { Connection } from '../../../api/db/core/transaction.ts';
import { createSessionEndings } from '../../../api/db/session-endings.ts';
import type { EndActiveSession } from '../../../api/db/session-endings.ts';
import { endActiveSession } from '../../../api/db/session/end-statement.ts';
import type { RequestedEnding } from '../../../api/db/session/end-statement.ts';
import { endSession, readSession } from '../../../api/db/session/session.ts';
import type { EndedSession } from '../../../api/db/session/session.ts';
import { nearBuckets } from '../../../api/db/session/session-buckets.ts';
import { boxDatabase } from '../../resources/box-database.ts';
import type { BoxDatabase } from '../../resources/box-database.ts';
import { storeFamily, storeSession, uuidAt } from '../../resources/sample-sessions.ts';
import type { SampleSession } from '../../resources/sample-sessions.ts';
import { waitForLock } from '../../support/lock-wait.ts';
import { seededRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

describe('the shared statement that ends sessions', () => {
  let database: BoxDatabase;
  let end: EndActiveSession;
  let now = 0;

  before(async () => {
    database = await boxDatabase();
    end = createSessionEndings(database.pool);
    await upkeepAuditDays(database.pool);
  });
  after(() => database.end());
  beforeEach(async () => {
    now = Date.now();
    await database.owner.query('TRUNCATE boxgate.revocation');
    await database.owner.query('UPDATE boxgate.box SET records_from = 0');
  });

  function endingOf(id: string, over: Partial<RequestedEnding> = {}): RequestedEnding {
    return { box: 'default', id, buckets: nearBuckets(id), as: 'revoked', now, record: null, ...over };
  }

  function recorded(id: string, over: Partial<RequestedEnding> = {}): RequestedEnding {
    const event = { event: 'session.revoked', target: `Session/${id}` } as const;
    const origin = { client: 'admin', user: 7, remoteAddr: '192.0.2.1', session: uuidAt(now), requestId: '{"\\,' };
    return endingOf(id, { record: recordOf(newAuditId(now), event, origin, 1), ...over });
  }

  function endAlone({ box, id, as }: RequestedEnding) {
    return inBox(database.pool, box, 'write', (connection) => endSession(connection, box, { id }, { as, now }));
  }

  /** A result without what differs between twins. */
  function nameless(found: EndedSession | undefined): unknown {
    return found && { ended: found.ended, session: { ...found.session, id: '', family: found.session.family && '' } };
  }

  async function rowOf(id: string, box = 'default'): Promise<unknown> {
    const { rows } = await database.owner.query<{ row: unknown }>(
      `SELECT to_jsonb(s) - '{id,family}'::text[] AS row FROM boxgate.session s WHERE s.id = $1 AND s.box = $2`,
      [id, box],
    );
    return rows[0]?.row;
  }

  async function recordsOf(id: string): Promise<readonly Record<string, unknown>[]> {
    const { rows } = await database.owner.query<Record<string, unknown>>(
      'SELECT * FROM boxgate.audit_event WHERE target = $1',
      [`Session/${id}`],
    );
    return rows;
  }

  function revocation(subject: string, version: number, at = now - minute, box = 'default'): Promise<unknown> {
    return database.owner.query(
      `INSERT INTO boxgate.revocation (box, subject, version, at)
       VALUES ($1, $2, $3, to_timestamp($4::numeric / 1000.0)) ON CONFLICT DO NOTHING`,
      [box, subject, version, at],
    );
  }

  /** A session of any kind; `isPlain` if nothing but itself decides about it. */
  function anySession(random: Random): { readonly sample: SampleSession; readonly isPlain: boolean } {
    const lifetime = random.pick([minute, hour, day, 30 * day, 30 * day, 30 * day, 45 * day, 300 * day]);
    const createdAt = now - random.pick([0, 0, 0, 2 * hour, 20 * day]);
    const ended = random.pick([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      'closed',
      'revoked',
    ] as const);
    const client = random.pick(['a', 'a', 'a', 'a', 'a', 'gone']);
    const user = random.pick([undefined, undefined, 5, 6]);
    const version = random.pick([1, 10, 10, 10, 20, 20, 20, 20]);
    const sample = {
      ...{ createdAt, expiresAt: createdAt + lifetime, client, version },
      ...{ scope: 'x', audience: ['one', 'two'], remoteAddr: '2001:db8::1', userAgent: 'agent' },
      ...(user !== undefined && { user, type: 'p' }),
      ...(ended !== undefined && { endedAt: Math.min(now, createdAt + minute) - 1, endedAs: ended }),
    };
    const isRevoked =
      (client === 'gone' && (version < 15 || createdAt < now - hour)) || (user === 6 && version < 15) || version < 5;
    const isNear = [minute, hour, day, 30 * day].includes(lifetime);
    const isPlain = ended === undefined && createdAt + lifetime > now && !isRevoked && isNear;
    return { sample, isPlain };
  }

  it('ends what a transaction ends, with the same result, and leaves the rest to it', async () => {
    const random = seededRandom();
    await database.owner.query(`UPDATE boxgate.box SET records_from = 5 WHERE box = 'default'`);
    await revocation('client:gone', 15);
    await revocation('client:gone:before', now - hour);
    await revocation('user:6', 15);
    await revocation('user:5', 2);
    const counts = { together: 0, alone: 0 };
    const twins = [];
    for (let nth = 0; nth < 150; nth += 1) {
      const { sample, isPlain } = anySession(random);
      const hasFamily = random.below(6) === 0;
      const twin = async () =>
        storeSession(database.owner, hasFamily ? { ...sample, family: await storeFamily(database.owner) } : sample);
      twins.push({ sample, isShared: isPlain && !hasFamily, ids: [await twin(), await twin()] as const });
    }
    const shared = await Promise.all(twins.map(({ ids }) => end(endingOf(ids[0]))));
    for (const [nth, { sample, isShared, ids }] of twins.entries()) {
      const what = `session ${String(nth)} of BOXGATE_SEED=${String(random.seed)}: ${JSON.stringify(sample)}`;
      const done = shared[nth] ?? null;
      counts[done === null ? 'alone' : 'together'] += 1;
      expect(done !== null, what).to.equal(isShared);
      const alone = await endAlone(endingOf(ids[1]));
      const together = done === null ? await endAlone(endingOf(ids[0])) : { session: done, ended: true };
      expect(nameless(together), what).to.deep.equal(nameless(alone));
      expect(await rowOf(ids[0]), what).to.deep.equal(await rowOf(ids[1]));
    }
    expect(Math.min(counts.together, counts.alone)).to.be.greaterThan(10);
  });

  it('returns the session as it is read afterwards', async () => {
    const id = await storeSession(database.owner, {
      user: 7,
      type: 'p',
      scope: 'x',
      audience: ['one'],
      remoteAddr: '192.0.2.1',
    });
    const ended = await end(endingOf(id, { as: 'closed' }));
    expect(ended).to.deep.include({ id, status: 'closed', endedAt: now, user: 7, remoteAddr: '192.0.2.1' });
    const read = await database.read((connection) => readSession(connection, 'default', { id }, now));
    expect(ended).to.deep.equal(read);
  });

  it('ends a session in whichever bucket is named, and none in another', async () => {
    const expiresAt = now + 300 * day;
    const id = await storeSession(database.owner, { expiresAt });
    const { bucket = 0 } = (await database.read((connection) => readSession(connection, 'default', { id }, now))) ?? {};
    const missing = [1, 2_147_483_647];
    expect(await end(endingOf(id))).to.equal(null);
    expect(await end(endingOf(id, { buckets: [] }))).to.equal(null);
    expect(await end(endingOf(id, { buckets: [...missing, bucket] }))).to.include({ id, bucket });
  });

  it('ends a session once, of several requests in one statement and of one that comes later', async () => {
    const id = await storeSession(database.owner, {});
    const requests = Array.from({ length: 8 }, () => recorded(id));
    const done = await Promise.all(requests.map((request) => end(request)));
    expect(done.filter((one) => one !== null)).to.have.length(1);
    expect(await end(recorded(id, { as: 'closed' }))).to.equal(null);
    expect(await recordsOf(id)).to.have.length(1);
  });

  it('stores the record of each session that it ends, as a transaction does, and no other', async () => {
    const sessions = await Promise.all(Array.from({ length: 3 }, () => storeSession(database.owner, {})));
    const [ended = '', silent = '', alone = ''] = sessions;
    const over = await storeSession(database.owner, { endedAt: now, endedAs: 'closed' });
    const request = recorded(ended);
    const results = await Promise.all([end(request), end(endingOf(silent)), end(recorded(over))]);
    expect(results.map((one) => one?.id)).to.deep.equal([ended, silent, undefined]);
    expect([await recordsOf(silent), await recordsOf(over)]).to.deep.equal([[], []]);
    const { record } = recorded(alone);
    await database.write((connection) => insertAuditEvents(connection, 'default', record === null ? [] : [record]));
    const [[found], [expected]] = [await recordsOf(ended), await recordsOf(alone)];
    const own = { id: request.record?.id, session: request.record?.session, target: `Session/${ended}` };
    expect(found).to.deep.equal({ ...expected, ...own });
  });

  it('ends no session whose record cannot be stored, and others next to it', async () => {
    const [mine, theirs] = await Promise.all(
      [{}, { box: 'other' }].map((sample) => storeSession(database.owner, sample)),
    );
    const own = { kind: 'Box', id: 'other', body: { audit: { retention: 399 } } };
    await database.owner.query(
      `INSERT INTO boxgate.resource (box, kind, id, version, body) VALUES ('other', $1, $2, 1, $3)`,
      [own.kind, own.id, own.body],
    );
    const requests = [recorded(mine ?? ''), recorded(theirs ?? '', { box: 'other' })];
    const [done, failed] = await Promise.allSettled(requests.map((request) => end(request)));
    expect(done).to.deep.include({ status: 'fulfilled' });
    expect(String(failed?.status === 'rejected' && failed.reason)).to.match(/no partition of relation "audit_event"/);
    expect(await rowOf(theirs ?? '', 'other')).to.deep.include({ ended_at: null, ended_as: null });
    expect(await recordsOf(mine ?? '')).to.have.length(1);
    expect(await recordsOf(theirs ?? '')).to.deep.equal([]);
    await database.owner.query(`DELETE FROM boxgate.resource WHERE box = 'other'`);
  });

  it('ends sessions of the box that is named alone, with a record in this box', async () => {
    const id = await storeSession(database.owner, {});
    await storeSession(database.owner, { id, box: 'other' });
    const elsewhere = await storeSession(database.owner, { box: 'other' });
    await revocation('box', 99, now, 'other');
    const requests = [
      recorded(id),
      recorded(elsewhere),
      recorded(id, { box: 'no-such-box' }),
      recorded(id, { box: 'other' }),
    ];
    const results = await Promise.all(requests.map((request) => end(request)));
    expect(results.map((one) => one !== null)).to.deep.equal([true, false, false, false]);
    const rows = [await rowOf(id), await rowOf(id, 'other'), await rowOf(elsewhere, 'other')];
    expect(rows.map((row) => isObject(row) && row['ended_as'])).to.deep.equal(['revoked', null, null]);
    expect((await recordsOf(id)).map(({ box }) => box)).to.deep.equal(['default']);
  });

  it('waits for nobody who holds a session, and sees what they did', async () => {
    const [held, free] = await Promise.all([storeSession(database.owner, {}), storeSession(database.owner, {})]);
    await inBoxWithin(database.pool, 'default', { mode: 'write', limit: 20_000 }, async (connection) => {
      await endSession(connection, 'default', { id: held }, { as: 'closed', now });
      const results = await Promise.all([end(recorded(held)), end(recorded(free))]);
      expect(results.map((one) => one?.id)).to.deep.equal([undefined, free]);
    });
    expect(await end(recorded(held))).to.equal(null);
    expect(await rowOf(held)).to.include({ ended_as: 'closed' });
    expect(await recordsOf(held)).to.deep.equal([]);
  });

  it('lets a transaction that ends the same session wait, and find it ended', async () => {
    const id = await storeSession(database.owner, {});
    const alone = await inBoxWithin(database.pool, 'default', { mode: 'write', limit: 20_000 }, async (connection) => {
      const results = await endActiveSession.run(unprepared(connection), [endingOf(id)]);
      expect(results.map((one) => one?.id)).to.deep.equal([id]);
      const other = endAlone(endingOf(id, { as: 'closed' }));
      await waitForLock('the other transaction', database.owner);
      return { other };
    });
    expect(await alone.other).to.deep.include({ ended: false });
    expect(await rowOf(id)).to.include({ ended_as: 'revoked' });
  });

  /** Entries that this connection has read in indexes of a bucket; those of its last transactions may be among them. */
  async function entriesRead(connection: Connection, bucket: number): Promise<number> {
    const { rows } = await connection.query<{ read: number }>(
      `SELECT sum(pg_stat_get_xact_tuples_returned(indexrelid))::integer AS read FROM pg_index WHERE indrelid = $1::regclass`,
      [`boxgate.session_${String(bucket)}`],
    );
    return rows[0]?.read ?? 0;
  }

  for (const statistics of ['without', 'with'] as const) {
    it(`finds each session by its key, ${statistics} statistics`, async () => {
      const expiresAt = now + 30 * day;
      const ids: string[] = [];
      for (let nth = 0; nth < 50; nth += 1) ids.push(await storeSession(database.owner, { expiresAt }));
      const bucket = nearBuckets(ids[0] ?? '')[0] ?? 0;
      await database.owner.query(
        `INSERT INTO boxgate.session (box, id, version, expires_at, bucket, type, client)
         SELECT 'default', gen_random_uuid(), 1, to_timestamp($1::numeric / 1000.0), $2, 'c', 'a' FROM generate_series(1, 1000)`,
        [expiresAt, bucket],
      );
      if (statistics === 'with') await database.owner.query(`ANALYZE boxgate.session_${String(bucket)}`);
      await database.write(async (connection) => {
        const before = await entriesRead(connection, bucket);
        const requests = ids.map((id) => endingOf(id, { buckets: [bucket] }));
        const results = await endActiveSession.run(unprepared(connection), requests);
        expect(results.filter((one) => one !== null)).to.have.length(50);
        expect((await entriesRead(connection, bucket)) - before).to.be.within(50, 200);
      });
    });
  }
});
