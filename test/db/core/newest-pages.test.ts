import { expect } from 'chai';
import fc from 'fast-check';
import { auditListing } from '../../../api/db/audit/audit-event.ts';
import type { StoredAuditEvent } from '../../../api/db/audit/audit-event.ts';
import { readFilledDays } from '../../../api/db/audit/audit-days.ts';
import { auditEventsBefore } from '../../../api/db/audit/audit-events-before.ts';
import { bumpVersion } from '../../../api/db/box/box.ts';
import { deleteRecords, endBoxData } from '../../../api/db/box/box-data.ts';
import type { Page } from '../../../api/db/core/keyset.ts';
import { countedPagesOf, countedTogether } from '../../../api/db/core/counted-pages.ts';
import { newestPages } from '../../../api/db/core/newest-pages.ts';
import type { ShortPage } from '../../../api/db/core/page-statement.ts';
import { unprepared } from '../../../api/db/core/prepared-statements.ts';
import type { Runner } from '../../../api/db/core/statement-batches.ts';
import { inBox } from '../../../api/db/core/transaction.ts';
import { withConnection } from '../../../api/db/core/with-connection.ts';
import { createShortPages } from '../../../api/db/short-pages.ts';
import type { ShortPages } from '../../../api/db/short-pages.ts';
import { bucketOf } from '../../../api/db/session/bucket.ts';
import { sessionsBefore } from '../../../api/db/session/sessions-before.ts';
import { countSessions, readScope, searchSessions } from '../../../api/db/session/search.ts';
import type { SessionRecord } from '../../../api/db/session/record.ts';
import { boxDatabase } from '../../resources/box-database.ts';
import type { BoxDatabase } from '../../resources/box-database.ts';
import { storeFamily, storeSession, uuidAt } from '../../resources/sample-sessions.ts';
import type { SampleSession } from '../../resources/sample-sessions.ts';

const day = 86_400_000;

/** A page, and the number of rows of its list. */
type Counted<Row> = Page<Row> & { readonly total: number };

describe('pages that are read together, newest first', () => {
  const clock = { now: Date.now() };
  let database: BoxDatabase;
  let pages: ShortPages;

  before(async () => {
    database = await boxDatabase();
    pages = createShortPages(database.pool, () => clock.now);
    await database.owner.query(`INSERT INTO boxgate.box (box) VALUES ('empty'), ('long')`);
  });
  after(() => database.end());

  /** Reads a page in a transaction of the box. */
  function sessionsAlone(box: string, limit: number, before?: string): Promise<Counted<SessionRecord>> {
    return inBox(database.pool, box, 'snapshot', async (connection) => {
      const search = { box, filters: {}, now: clock.now, scope: await readScope(connection, box) };
      const span = { limit, offset: 0, descending: true, backward: false };
      const from = before === undefined ? before : [before];
      const page = await searchSessions(connection, search, { ...span, from });
      return { ...page, total: await countSessions(connection, search) };
    });
  }

  function eventsAlone(box: string, limit: number, before?: string): Promise<Counted<StoredAuditEvent>> {
    return inBox(database.pool, box, 'snapshot', async (connection) => {
      const filters = { days: await readFilledDays(connection) };
      const span = { limit, offset: 0, descending: true, backward: false };
      const from = before === undefined ? before : [before];
      const order = auditListing.orders['id'] ?? [];
      const page = await auditListing.read(connection, { box, filters }, order, { ...span, from });
      return { ...page, total: await auditListing.count(connection, { box, filters }) };
    });
  }

  const sessions = (box: string, limit: number, before?: string): Promise<ShortPage<SessionRecord>> =>
    pages.sessions({ box, limit, before, isCounted: true, now: clock.now });
  const events = (box: string, limit: number, before?: string): Promise<ShortPage<StoredAuditEvent>> =>
    pages.auditEvents({ box, limit, before, isCounted: true });

  /** Compares all pages of both boxes, each read next to the others. */
  async function expectSame<Row extends { readonly id: string }>(
    together: (box: string, limit: number, before?: string) => Promise<ShortPage<Row>>,
    alone: (box: string, limit: number, before?: string) => Promise<Counted<Row>>,
  ): Promise<void> {
    const ids = (await Promise.all(['default', 'other'].map((box) => alone(box, 100)))).flatMap(({ rows }) =>
      rows.map(({ id }) => id),
    );
    const searches = ['default', 'other', 'empty', 'none'].flatMap((box) =>
      [1, 3, 100].flatMap((limit) => [undefined, ...ids].map((before) => ({ box, limit, before }))),
    );
    const found = await Promise.all(searches.map(({ box, limit, before }) => together(box, limit, before)));
    for (const [nth, { box, limit, before }] of searches.entries()) {
      const expected = await alone(box, limit, before);
      // Beyond the oldest row no row has the total.
      const shown = expected.rows.length === 0 && before !== undefined ? 'large' : expected;
      expect(found[nth], `${box} ${String(limit)} ${String(before)}`).to.deep.equal(shown);
    }
  }

  it('are the sessions that a transaction of the box reads, in every status, bucket and box', async function () {
    this.timeout(120_000);
    const family = await storeFamily(database.owner);
    const endedFamily = await storeFamily(database.owner);
    await database.owner.query(
      `UPDATE boxgate.refresh_family SET ended_at = now(), ended_as = 'closed' WHERE id = $1`,
      [endedFamily],
    );
    const lifetimes = [-day, -60_000, 3_600_000, day, 30 * day, 90 * day];
    const sample = fc.record({
      box: fc.constantFrom('default', 'default', 'other'),
      version: fc.constantFrom(1, 2, 3),
      createdAt: fc.nat(2 * day).map((ago) => clock.now - ago),
      expiresAt: fc.constantFrom(...lifetimes).map((lifetime) => clock.now + lifetime),
      client: fc.constantFrom('a', 'b'),
      user: fc.constantFrom(undefined, 7),
      family: fc.constantFrom(undefined, undefined, family, endedFamily),
      scope: fc.constantFrom(undefined, 'read write'),
      audience: fc.constantFrom(undefined, ['https://a.example', 'b,"c"']),
      userAgent: fc.constantFrom(undefined, 'agent'),
      remoteAddr: fc.constantFrom(undefined, '192.0.2.1'),
      isEnded: fc.boolean(),
    });
    const subjects = ['box', 'client:a', 'user:7', 'box:before', 'client:b:before'];
    const revocation = fc.record({
      subject: fc.constantFrom(...subjects),
      version: fc.constantFrom(2, clock.now - day),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(sample, { maxLength: 12 }),
        fc.array(revocation, { maxLength: 2 }),
        async (samples, revocations) => {
          await database.owner.query('DELETE FROM boxgate.session; DELETE FROM boxgate.revocation');
          for (const { isEnded, ...one } of samples) {
            const ended = { endedAt: clock.now - 1_000, endedAs: 'closed' };
            const given: SampleSession = Object.fromEntries(
              Object.entries({ ...one, ...(isEnded && ended) }).filter(([, value]) => value !== undefined),
            );
            await storeSession(database.owner, given);
          }
          for (const { subject, version } of revocations) {
            await database.owner.query(
              `INSERT INTO boxgate.revocation (box, subject, version) VALUES ('default', $1, $2) ON CONFLICT DO NOTHING`,
              [subject, version],
            );
          }
          await expectSame(sessions, sessionsAlone);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('are the records of the audit trail that a transaction of the box reads, on every day', async () => {
    for (const retention of [1, 30, 90]) await database.owner.query('SELECT boxgate.make_audit_days($1)', [retention]);
    await database.owner.query(
      `INSERT INTO boxgate.audit_event (id, version, created_at, day, count, box, event, result, client, user_id,
                                        remote_addr, operator, session, request_id, target, member, changed)
       SELECT uuidv7(), b.config_version, now(), d.day, n, b.box, 'user.changed', 'success',
              CASE n % 2 WHEN 0 THEN 'a' END, CASE n % 3 WHEN 0 THEN 7 END, CASE n % 2 WHEN 0 THEN '192.0.2.1' END,
              CASE n % 5 WHEN 0 THEN 'cluster' END, CASE n % 2 WHEN 0 THEN uuidv7() END, CASE n % 2 WHEN 0 THEN 'r' || n END,
              CASE n % 3 WHEN 0 THEN 'User/' || n END, CASE n % 4 WHEN 0 THEN n END, CASE n % 2 WHEN 0 THEN '{a,"b,c"}'::text[] END
         FROM boxgate.box b, generate_series(1, 12) n,
              LATERAL (SELECT (extract(epoch FROM now())::bigint / 86400)::int + (ARRAY[1, 30, 90])[n % 3 + 1]) d (day)
        WHERE b.box IN ('default', 'other')`,
    );
    await expectSame(events, eventsAlone);
  });

  /** Stores sessions of the box `long` that end in `days`, up to this number. */
  async function fill(count: number, days: number): Promise<void> {
    const [issued, ends] = [clock.now / 1000, clock.now / 1000 + days * 86_400].map(Math.floor);
    await database.owner.query(
      `INSERT INTO boxgate.session (box, id, version, expires_at, bucket, type, client)
       SELECT b.box, uuidv7(), b.config_version, to_timestamp($2), $3, 'c', 'a'
         FROM boxgate.box b, generate_series(1, $1 - (SELECT count(*) FROM boxgate.session WHERE box = 'long')) n
        WHERE b.box = 'long'`,
      [count, ends, bucketOf(issued ?? 0, ends ?? 0)],
    );
  }

  /** Statements that have counted rows of the box `long`, and those that have not, in the order of their calls. */
  interface Watched {
    readonly read: ShortPages['sessions'];
    readonly most: number[];
  }

  /** A replica of which is seen how many rows each of its statements may count. */
  function watched(): Watched {
    const most: number[] = [];
    const runner =
      (): Runner =>
      ({ run, ...statement }) =>
      (item) =>
        withConnection(database.pool, 10_000, async (connection) => {
          const db = unprepared(connection);
          const [result] = await run(
            {
              rows: (fixed, values) => {
                most.push(Number(values[3]?.slice(1, -1)));
                return db.rows(fixed, values);
              },
            },
            [item],
          );
          if (result === undefined) throw new TypeError(`no result of ${statement.boxOf(item)}`);
          return result;
        });
    return {
      read: countedPagesOf(
        { short: runner(), together: runner(), counting: runner() },
        () => clock.now,
        newestPages(sessionsBefore),
      ),
      most,
    };
  }

  const ofLong = (isCounted = true) => ({ box: 'long', limit: 10, before: undefined, isCounted, now: clock.now });

  /** Reads a page of the box `long`; returns its total, and how many rows were counted for it at most. */
  async function totalOf({ read, most }: Watched, isCounted = true): Promise<readonly unknown[]> {
    most.length = 0;
    const page = await read(ofLong(isCounted));
    return [page === 'large' ? page : page.total, ...most];
  }

  it('tell a total up to 1,000 at once, and one up to 10,000 after a count of its own, which they expect from then on', async () => {
    const replica = watched();
    await fill(countedTogether, 1);
    expect(await totalOf(replica)).to.deep.equal([1_000, 1_000]);
    await fill(countedTogether + 1, 1);
    expect(await totalOf(replica)).to.deep.equal([1_001, 1_000, 10_000]);
    await fill(10_000, 1);
    expect(await totalOf(replica)).to.deep.equal([10_000, 10_000]);
    expect(await totalOf(replica, false)).to.deep.equal([undefined, 0]);
    clock.now += 60_000;
    expect(await totalOf(replica)).to.deep.equal([10_000, 1_000, 10_000]);
  });

  it('do not count a list that is known to be long, until a minute has passed', async () => {
    const replica = watched();
    await fill(10_001, 1);
    expect(await totalOf(replica)).to.deep.equal([undefined, 1_000, 10_000]);
    expect(await totalOf(replica)).to.deep.equal([undefined, 0]);
    await fill(10_002, 1);
    expect(await totalOf(replica)).to.deep.equal([undefined, 0]);
    clock.now += 60_000;
    expect(await totalOf(replica)).to.deep.equal([undefined, 1_000, 10_000]);
  });

  it('count again when a bucket with its sessions is gone, whichever replica counted before', async () => {
    const replicas = [watched(), watched()];
    await fill(10_003, 20);
    for (const one of replicas) expect(await totalOf(one)).to.deep.equal([undefined, 1_000, 10_000]);
    const bucket = bucketOf(Math.floor(clock.now / 1000), Math.floor(clock.now / 1000) + 20 * 86_400);
    await database.owner.query(`DROP TABLE boxgate.session_${String(bucket)}`);
    await database.owner.query(`DELETE FROM boxgate.session WHERE box = 'long' AND id < (
      SELECT id FROM boxgate.session WHERE box = 'long' ORDER BY id DESC OFFSET 1999 LIMIT 1)`);
    for (const one of replicas) expect(await totalOf(one)).to.deep.equal([2_000, 0, 10_000]);
    await fill(10_001, 1);
    for (const one of replicas) expect(await totalOf(one)).to.deep.equal([undefined, 10_000]);
  });

  it('count again when the data of the box was discarded, and leave its pages to a transaction until then', async () => {
    const replica = watched();
    expect(await totalOf(replica)).to.deep.equal([undefined, 1_000, 10_000]);
    await inBox(database.pool, 'long', 'write', async (connection) => {
      await endBoxData(connection, 'long', await bumpVersion(connection, 'long'), 'all');
    });
    expect(await totalOf(replica)).to.include('large');
    expect(await events('long', 10)).to.equal('large');
    const clean = (): Promise<boolean> =>
      inBox(database.pool, 'long', 'write', (connection) => deleteRecords(connection, 'long'));
    while (!(await clean()));
    await fill(3, 1);
    expect(await totalOf(replica)).to.deep.equal([3, 0, 10_000]);
    // A change that had begun before wrote its record afterwards.
    await database.owner.query(
      `INSERT INTO boxgate.audit_event (id, version, created_at, day, box, event, result)
       SELECT uuidv7(), v, now(), boxgate.audit_day('long'), 'long', 'user.changed', 'success'
         FROM boxgate.box b, LATERAL (VALUES (1), (b.config_version)) o (v) WHERE b.box = 'long'`,
    );
    const page = await events('long', 10);
    expect(page).to.include({ total: 1 });
    expect(page).to.deep.equal(await eventsAlone('long', 10));
  });

  it('are counted once for all pages of a box that share a statement', async () => {
    const count = 60;
    await fill(count, 1);
    await database.owner.query(
      `INSERT INTO boxgate.audit_event (id, version, created_at, day, box, event, result)
       SELECT uuidv7(), b.config_version, now(), boxgate.audit_day('long'), 'long', 'user.changed', 'success'
         FROM boxgate.box b, generate_series(1, $1::integer) WHERE b.box = 'long'`,
      [count],
    );
    const connection = await database.owner.connect();
    try {
      for (const [reading, table] of [
        [sessionsBefore.reading, 'session'],
        [auditEventsBefore.reading, 'audit_event'],
      ] as const) {
        const read = (box: string, most: string) =>
          connection.query<{ nth: string; total: string }>(reading.text, [
            Array<string>(8).fill(box),
            Array<string>(8).fill('ffffffff-ffff-ffff-ffff-ffffffffffff'),
            Array<number>(8).fill(1),
            most,
          ]);
        const entries = async (): Promise<number> => {
          const { rows } = await connection.query<{ entries: number }>(
            `SELECT sum(pg_stat_get_xact_tuples_returned(x.indexrelid))::integer AS entries
               FROM pg_inherits i JOIN pg_index x ON x.indrelid = i.inhrelid WHERE i.inhparent = $1::regclass`,
            [`boxgate.${table}`],
          );
          return rows[0]?.entries ?? 0;
        };
        // Entries of rows that other tests have deleted are read until they are removed.
        await connection.query(`VACUUM boxgate.${table}`);
        await connection.query('BEGIN');
        const before = await entries();
        const { rows } = await read('long', '{10,20,10000,10000,10000,10000,10000,10000}');
        const counted = (await entries()) - before;
        await connection.query('ROLLBACK');
        const total = Number(rows[0]?.total);
        expect(total).to.be.at.least(count);
        expect(new Set(rows.map((row) => row.total))).to.deep.equal(new Set([String(total)]));
        // Beside the count are two rows of each page, found and read, and entries of rows that were deleted.
        expect(counted, table).to.be.within(total, 3 * total);
      }
    } finally {
      connection.release();
    }
  });

  it('leave a page to a transaction if its texts are large, or a partition has just been dropped', async () => {
    const texts = { userAgent: 'u'.repeat(1_700), box: 'other', createdAt: clock.now + 1_000 };
    await database.owner.query(`DELETE FROM boxgate.session WHERE box = 'other'`);
    for (let nth = 0; nth < 9; nth += 1) await storeSession(database.owner, { ...texts, id: uuidAt(clock.now + nth) });
    const rowsOf = (page: ShortPage<SessionRecord>): unknown => (page === 'large' ? page : page.rows.length);
    expect(rowsOf(await sessions('other', 9))).to.equal(9);
    await storeSession(database.owner, { ...texts, id: uuidAt(clock.now + 10) });
    expect(rowsOf(await sessions('other', 8))).to.equal(8);
    expect(await sessions('other', 9)).to.equal('large');
    expect(await sessions('default', 9)).not.to.equal('large');
    const bucket = bucketOf(Math.floor(clock.now / 1000), Math.floor(clock.now / 1000) + 86_400);
    await database.owner.query(`ALTER TABLE boxgate.session_${String(bucket)} RENAME TO session_0${String(bucket)}`);
    expect(await sessions('default', 9)).to.equal('large');
  });
});
