import { expect } from 'chai';
import fc from 'fast-check';
import { auditListing } from '../../../api/db/audit/audit-event.ts';
import type { StoredAuditEvent } from '../../../api/db/audit/audit-event.ts';
import { readFilledDays } from '../../../api/db/audit/audit-days.ts';
import { bumpVersion } from '../../../api/db/box/box.ts';
import { deleteRecords, endBoxData } from '../../../api/db/box/box-data.ts';
import type { Page } from '../../../api/db/core/keyset.ts';
import { countedTogether } from '../../../api/db/core/newest-pages.ts';
import type { NewestPages, NewestResult } from '../../../api/db/core/newest-pages.ts';
import { inBox } from '../../../api/db/core/transaction.ts';
import { createFirstPages } from '../../../api/db/first-pages.ts';
import type { FirstPages } from '../../../api/db/first-pages.ts';
import { bucketOf } from '../../../api/db/session/bucket.ts';
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
  let pages: FirstPages;

  before(async () => {
    database = await boxDatabase();
    pages = createFirstPages(database.pool, () => clock.now);
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

  const sessions = (box: string, limit: number, before?: string): Promise<NewestResult<SessionRecord>> =>
    pages.sessions.read({ box, limit, before, isCounted: true, now: clock.now });
  const events = (box: string, limit: number, before?: string): Promise<NewestResult<StoredAuditEvent>> =>
    pages.auditEvents.read({ box, limit, before, isCounted: true });

  /** Compares all pages of both boxes, each read next to the others. */
  async function expectSame<Row extends { readonly id: string }>(
    together: (box: string, limit: number, before?: string) => Promise<NewestResult<Row>>,
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
      const page = found[nth]?.page;
      // Beyond the oldest row no row has the total.
      const shown = expected.rows.length === 0 && before !== undefined ? undefined : expected;
      expect(page, `${box} ${String(limit)} ${String(before)}`).to.deep.equal(shown);
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
    const revocation = fc.record({ subject: fc.constantFrom(...subjects), version: fc.constantFrom(2, clock.now - day) });
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

  /** Returns what a result tells of the total: `alone` if a transaction has to count. */
  const toldOf = ({ page }: NewestResult<unknown>): unknown => (page === undefined ? 'alone' : page.total);

  it('tell a total up to 1,000 themselves, and leave a longer list to a transaction, with its state', async () => {
    await fill(countedTogether, 1);
    expect(toldOf(await sessions('long', 10))).to.equal(1_000);
    await fill(countedTogether + 1, 1);
    const { page, state } = await sessions('long', 10);
    expect([page, state]).to.deep.equal([undefined, (await sessions('long', 10)).state]);
    expect(state).to.match(/^\d+:\{[\d,]+\}$/);
    const uncounted = await pages.sessions.read({
      ...{ box: 'long', limit: 10, before: undefined, isCounted: false, now: clock.now },
    });
    expect([uncounted.page?.rows.length, toldOf(uncounted)]).to.deep.equal([10, undefined]);
  });

  /** Reads the box `long` after a transaction has counted it. */
  async function noted(replica: NewestPages<unknown, Parameters<FirstPages['sessions']['read']>[0]>): Promise<unknown> {
    const read = () =>
      replica.read({ box: 'long', limit: 10, before: undefined, isCounted: true, now: clock.now }).then(toldOf);
    const { state = '' } = await sessions('long', 10);
    replica.noteLong('long', state);
    return read();
  }

  it('do not count a list that is known to be long, until a minute has passed', async () => {
    const replica = createFirstPages(database.pool, () => clock.now).sessions;
    expect(await noted(replica)).to.equal(undefined);
    clock.now += 60_000;
    const search = { box: 'long', limit: 10, before: undefined, isCounted: true, now: clock.now };
    expect(toldOf(await replica.read(search))).to.equal('alone');
  });

  it('count again when a bucket with its sessions is gone, whichever replica counted before', async () => {
    const [one, other] = [0, 1].map(() => createFirstPages(database.pool, () => clock.now).sessions);
    if (one === undefined || other === undefined) throw new TypeError('no replicas');
    await fill(countedTogether + 2, 20);
    expect([await noted(one), await noted(other)]).to.deep.equal([undefined, undefined]);
    const bucket = bucketOf(Math.floor(clock.now / 1000), Math.floor(clock.now / 1000) + 20 * 86_400);
    await database.owner.query(`DROP TABLE boxgate.session_${String(bucket)}`);
    const search = { box: 'long', limit: 10, before: undefined, isCounted: true, now: clock.now };
    for (const replica of [one, other]) expect(toldOf(await replica.read(search))).to.equal('alone');
  });

  it('count again when the data of the box was discarded, and leave its pages to a transaction until then', async () => {
    const replica = createFirstPages(database.pool, () => clock.now).sessions;
    expect(await noted(replica)).to.equal(undefined);
    await inBox(database.pool, 'long', 'write', async (connection) => {
      await endBoxData(connection, 'long', await bumpVersion(connection, 'long'), 'all');
    });
    const search = { box: 'long', limit: 10, before: undefined, isCounted: true, now: clock.now };
    const discarding = await replica.read(search);
    expect([toldOf(discarding), discarding.state]).to.deep.equal(['alone', undefined]);
    expect(toldOf(await events('long', 10))).to.equal('alone');
    expect(await inBox(database.pool, 'long', 'write', (connection) => deleteRecords(connection, 'long'))).to.equal(true);
    await fill(3, 1);
    expect(toldOf(await replica.read(search))).to.equal('alone');
    expect(toldOf(await sessions('long', 10))).to.equal(3);
    // A change that had begun before wrote its record afterwards.
    await database.owner.query(
      `INSERT INTO boxgate.audit_event (id, version, created_at, day, box, event, result)
       SELECT uuidv7(), v, now(), boxgate.audit_day('long'), 'long', 'user.changed', 'success'
         FROM boxgate.box b, LATERAL (VALUES (1), (b.config_version)) o (v) WHERE b.box = 'long'`,
    );
    const { page } = await events('long', 10);
    expect([page?.rows.length, page?.total]).to.deep.equal([1, 1]);
    expect(page).to.deep.equal(await eventsAlone('long', 10));
  });

  it('leave a page to a transaction if its texts are large, or a partition has just been dropped', async () => {
    const texts = { userAgent: 'u'.repeat(1_700), box: 'other', createdAt: clock.now + 1_000 };
    await database.owner.query(`DELETE FROM boxgate.session WHERE box = 'other'`);
    for (let nth = 0; nth < 9; nth += 1) await storeSession(database.owner, { ...texts, id: uuidAt(clock.now + nth) });
    expect((await sessions('other', 9)).page?.rows).to.have.length(9);
    await storeSession(database.owner, { ...texts, id: uuidAt(clock.now + 10) });
    expect((await sessions('other', 8)).page?.rows).to.have.length(8);
    expect((await sessions('other', 9)).page).to.equal(undefined);
    expect((await sessions('default', 9)).page).not.to.equal(undefined);
    const bucket = bucketOf(Math.floor(clock.now / 1000), Math.floor(clock.now / 1000) + 86_400);
    await database.owner.query(`ALTER TABLE boxgate.session_${String(bucket)} RENAME TO session_0${String(bucket)}`);
    expect((await sessions('default', 9)).page).to.equal(undefined);
  });
});
