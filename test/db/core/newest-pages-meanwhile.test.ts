import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type pg from 'pg';
import { auditEventsBefore } from '../../../api/db/audit/audit-events-before.ts';
import { countedPagesOf } from '../../../api/db/core/counted-pages.ts';
import { newestPages } from '../../../api/db/core/newest-pages.ts';
import { batchBounds } from '../../../api/db/core/batch-bounds.ts';
import { batchesOn } from '../../../api/db/core/statement-batches.ts';
import { sessionsBefore } from '../../../api/db/session/sessions-before.ts';
import { boxDatabase } from '../../resources/box-database.ts';
import type { BoxDatabase } from '../../resources/box-database.ts';

/** A list of which pages are read while others change it. */
interface ChangingList {
  readonly name: string;
  readonly table: 'session' | 'audit_event';
  /** The column that names the partition. */
  readonly key: 'bucket' | 'day';
  readonly partitions: string;
  readonly reading: string;
  /** Stores a row of a box in a partition and returns its ID. */
  readonly insert: string;
  readonly makeReads: string;
  readonly drop: string;
}

const lists: readonly ChangingList[] = [
  {
    name: 'sessions',
    table: 'session',
    key: 'bucket',
    partitions: 'SELECT bucket AS number FROM boxgate.buckets()',
    reading: sessionsBefore.reading.text,
    insert: `INSERT INTO boxgate.session (box, id, version, expires_at, bucket, type, client)
             VALUES ($1, uuidv7(), 1, boxgate.bucket_end($2) - interval '1 hour', $2, 'c', 'a') RETURNING id`,
    makeReads: 'make_bucket_reads',
    drop: 'drop_bucket',
  },
  {
    name: 'records of the audit trail',
    table: 'audit_event',
    key: 'day',
    partitions: 'SELECT day AS number FROM boxgate.audit_days()',
    reading: auditEventsBefore.reading.text,
    insert: `INSERT INTO boxgate.audit_event (box, id, version, created_at, day, event, result)
             VALUES ($1, uuidv7(), 1, now(), $2, 'user.changed', 'success') RETURNING id`,
    makeReads: 'make_audit_reads',
    drop: 'drop_audit_day',
  },
];

const boxes = ['default', 'other'] as const;
const afterAll = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Searches of one statement: pages of both boxes, of several lengths. */
const limits = [1, 3, 10, 25];

describe('pages that are read together while others store rows and drop partitions', () => {
  let database: BoxDatabase;

  beforeEach(async () => {
    database = await boxDatabase();
    await database.owner.query('SELECT boxgate.make_audit_days(n) FROM generate_series(1, 40, 3) n');
    for (const { table } of lists) await database.owner.query(`DELETE FROM boxgate.${table}`);
  });
  afterEach(() => database.end());

  async function numbersOf(statement: string): Promise<readonly number[]> {
    const { rows } = await database.owner.query<{ number: number }>(statement);
    return rows.map(({ number }) => number);
  }

  async function store({ insert }: ChangingList, box: string, partition: number): Promise<string> {
    const { rows } = await database.owner.query<{ id: string }>(insert, [box, partition]);
    return rows[0]?.id ?? '';
  }

  /** Makes a partition that is over, with a row of a box whose pages nobody compares, and drops it. */
  async function makeAndDrop(list: ChangingList, number: number): Promise<void> {
    const name = `boxgate.${list.table}_${String(number)}`;
    await database.owner.query(`CREATE TABLE ${name} (LIKE boxgate.${list.table} INCLUDING ALL)`);
    await database.owner.query(
      `ALTER TABLE boxgate.${list.table} ATTACH PARTITION ${name} FOR VALUES FROM (${String(number)}) TO (${String(number + 1)})`,
    );
    await database.owner.query(`SELECT boxgate.${list.makeReads}($1)`, [number]);
    await store(list, 'dropped', number);
    for (;;) {
      const { rows } = await database.owner.query<{ done: boolean }>(`SELECT boxgate.${list.drop}($1) AS done`, [
        number,
      ]);
      if (rows[0]?.done === true) return;
    }
  }

  /** Rows of a shared statement: item, and its ID and total, which are null if it is left to a transaction. */
  interface Shown {
    readonly nth: string;
    readonly id: string | null;
    readonly total: string | null;
  }

  /** Compares pages of one statement with the rows of the table, in one snapshot. Returns how many were left out. */
  async function compare(connection: pg.PoolClient, list: ChangingList, before: string): Promise<number> {
    const searches = boxes.flatMap((box) =>
      limits.flatMap((limit) => [afterAll, before].map((id) => ({ box, limit, id }))),
    );
    await connection.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { rows } = await connection.query<Shown>(list.reading, [
      searches.map(({ box }) => box),
      searches.map(({ id }) => id),
      searches.map(({ limit }) => limit),
      searches.map(() => 10_000),
    ]);
    // Not before the pages: the table locks all partitions, so none could be dropped meanwhile.
    const stored = await connection.query<{ box: string; id: string }>(
      `SELECT box, id FROM boxgate.${list.table} ORDER BY id DESC`,
    );
    await connection.query('COMMIT');
    let left = 0;
    for (const [index, { box, limit, id }] of searches.entries()) {
      const page = rows.filter(({ nth }) => Number(nth) === index + 1);
      const ofBox = stored.rows.filter((row) => row.box === box).map((row) => row.id);
      if (page.length === 1 && page[0]?.id === null) left += 1;
      else {
        const expected = ofBox.filter((one) => one < id).slice(0, limit + 1);
        expect(page.map((row) => row.id).toSorted((a, b) => ((a ?? '') < (b ?? '') ? 1 : -1))).to.deep.equal(expected);
        expect([...new Set(page.map(({ total }) => Number(total)))]).to.deep.equal(
          expected.length === 0 ? [] : [Math.min(ofBox.length, 10_001)],
        );
      }
    }
    return left;
  }

  for (const list of lists) {
    it(`are the ${list.name} of their snapshot, with their total`, async function () {
      this.timeout(120_000);
      const partitions = await numbersOf(list.partitions);
      await database.owner.query(`INSERT INTO boxgate.box (box) VALUES ('dropped') ON CONFLICT DO NOTHING`);
      const middle = await store(list, 'default', partitions[0] ?? 0);
      const work = { isOver: false, rounds: 0, dropped: 0 };
      const writers = [0, 1].map(async (writer) => {
        for (let nth = 0; !work.isOver; nth += 1) {
          // First the partitions that hold no rows yet, from both ends.
          const place = writer === 0 ? nth : partitions.length - 1 - nth;
          const partition = partitions.at(place % partitions.length) ?? 0;
          await store(list, boxes[nth % 2] ?? '', partition);
          await sleep(1);
        }
      });
      const first = Math.min(...partitions) - 10;
      const dropping = (async () => {
        for (; !work.isOver; work.dropped += 1) await makeAndDrop(list, first);
      })();
      const connection = await database.owner.connect();
      let left = 0;
      try {
        while (work.rounds < 40 || work.dropped < 3) {
          left += await compare(connection, list, middle);
          work.rounds += 1;
          await sleep(2);
        }
      } finally {
        work.isOver = true;
        connection.release();
        await Promise.all([...writers, dropping]);
      }
      // A page is left to a transaction only while a partition is dropped.
      expect(left).to.be.below((work.rounds * boxes.length * limits.length * 2) / 2);
    });

    it(`show each of the ${list.name} as soon as it is committed, though its partition was empty`, async () => {
      const batches = batchesOn(database.pool, { ...batchBounds, size: 32, inFlight: 1 });
      const runners = { short: batches, together: batches, counting: batches };
      const read =
        list.table === 'session'
          ? countedPagesOf(runners, Date.now, newestPages(sessionsBefore))
          : countedPagesOf(runners, Date.now, newestPages(auditEventsBefore));
      const partitions = (await numbersOf(list.partitions)).slice(0, 60);
      for (const [nth, partition] of partitions.entries()) {
        const id = await store(list, 'default', partition);
        const search = { box: 'default', limit: 10, before: undefined, isCounted: true, now: Date.now() };
        const [page, same] = await Promise.all([read(search), read({ ...search, limit: 3 })]);
        if (page === 'large' || same === 'large') throw new TypeError('a page was left to a transaction');
        expect([page.rows[0]?.id, page.total, same.rows[0]?.id]).to.deep.equal([id, nth + 1, id]);
      }
    });
  }
});
