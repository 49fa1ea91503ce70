import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { bumpVersion } from './box.ts';
import { Outage } from '../core/outage.ts';
import type { Connections } from '../core/pool.ts';
import { inBoxInTransit, outsideBoxes } from '../core/transaction.ts';
import type { Connection } from '../core/transaction.ts';

/** A box on its way from one database to another. */
export interface Transit {
  readonly transit: 'leaving' | 'moved' | 'arriving' | undefined;
  /** The name of the other database. */
  readonly counterpart: string | undefined;
  readonly version: number;
}

/** Reads whether a box is on its way; undefined: there is no such box. Call it in transit. */
export async function readTransit(connection: Connection, box: string): Promise<Transit | undefined> {
  const { rows } = await connection.query<{
    transit: Transit['transit'] | null;
    counterpart: string | null;
    version: string;
  }>('SELECT transit, counterpart, config_version AS version FROM boxgate.box WHERE box = $1', [box]);
  const [row] = rows;
  if (row === undefined) return undefined;
  return { transit: row.transit ?? undefined, counterpart: row.counterpart ?? undefined, version: Number(row.version) };
}

/** Time in which the next step of a move must come: otherwise the box takes writes again, and the move has failed. */
const leavingTime = "interval '10 seconds'";

/** Stops the writes of a box, under a new version, which it returns. Throws Outage if it is elsewhere. In transit. */
export async function beginLeaving(connection: Connection, box: string, to: string): Promise<number> {
  const version = await bumpVersion(connection, box);
  const { rowCount } = await connection.query(
    `UPDATE boxgate.box SET transit = 'leaving', counterpart = $2, leaving_until = clock_timestamp() + ${leavingTime}
      WHERE box = $1 AND (transit IS NULL OR transit = 'leaving')`,
    [box, to],
  );
  if (rowCount === 0) throw new Outage('The box was moved meanwhile: the move is tried again');
  return version;
}

/** Lets a box go on leaving. Throws Outage if it has taken writes since it began to leave under this version. */
export async function goOnLeaving(connection: Connection, box: string, version: number): Promise<void> {
  const { rowCount } = await connection.query(
    `UPDATE boxgate.box SET leaving_until = clock_timestamp() + ${leavingTime}
      WHERE box = $1 AND config_version = $2 AND leaving_until > clock_timestamp()`,
    [box, version],
  );
  if (rowCount === 0) throw new Outage('The box took writes during its move: it is tried again');
}

/** Gives a box up for good: it is in the other database from then on. Throws as {@link goOnLeaving}. */
export async function endLeaving(connection: Connection, box: string, version: number): Promise<void> {
  await goOnLeaving(connection, box, version);
  await bumpVersion(connection, box);
  await connection.query("UPDATE boxgate.box SET transit = 'moved', leaving_until = NULL WHERE box = $1", [box]);
}

/**
 * Lets a box that was leaving take writes again, under a new version; with `version`, only if it began to leave under
 * this one, otherwise only if its time is over. Call it in transit.
 */
export async function stay(connection: Connection, box: string, version?: number): Promise<void> {
  const { rowCount } = await connection.query(
    `UPDATE boxgate.box SET transit = NULL, counterpart = NULL, leaving_until = NULL
      WHERE box = $1 AND transit = 'leaving' AND (config_version = $2 OR leaving_until < clock_timestamp())`,
    [box, version],
  );
  if (rowCount !== 0) await bumpVersion(connection, box);
}

/**
 * Puts a box that has arrived into service, under a version above `least`; returns that. Throws Outage if it is already
 * in service. Call it in transit.
 */
export async function arrive(connection: Connection, box: string, least: number): Promise<number> {
  const { rowCount } = await connection.query(
    `UPDATE boxgate.box SET config_version = greatest(config_version, $2), transit = NULL, counterpart = NULL
      WHERE box = $1 AND transit = 'arriving'`,
    [box, least],
  );
  if (rowCount === 0) throw new Outage('The box was moved meanwhile: the move is tried again');
  return bumpVersion(connection, box);
}

/** Milliseconds that older transactions may take before a move is given up, and between two looks at them. */
const longestWait = 5_000;
const lookEvery = 20;

/**
 * Waits until each transaction of the API that runs now has ended: later ones know that the box takes no writes. Throws
 * Outage if one takes too long, such as an apply of a large box.
 */
export async function waitForOlder(pool: Connections): Promise<void> {
  const running = (connection: Connection): Promise<readonly string[]> =>
    connection
      .query<{ id: string }>(
        `SELECT l.virtualtransaction AS id FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
          WHERE l.locktype = 'virtualxid' AND l.granted AND l.pid <> pg_backend_pid()
            AND a.datname = current_database() AND a.usename = session_user`,
      )
      .then(({ rows }) => rows.map(({ id }) => id));
  const older = new Set(await outsideBoxes(pool, running));
  const deadline = performance.now() + longestWait;
  for (;;) {
    const present = await outsideBoxes(pool, running);
    if (!present.some((id) => older.has(id))) return;
    if (performance.now() > deadline) throw new Outage('A long transaction holds up the move: it is tried again');
    await sleep(lookEvery);
  }
}

/** The rows of a table of a box: their number, and a digest that does not depend on their order. */
export interface TableDigest {
  readonly table: string;
  readonly rows: number;
  readonly digest: string;
}

/** Rows that are copied at once. */
const portion = 2_000;

/** Milliseconds that copying or comparing a box may take. */
const copyLimit = 600_000;

/**
 * Reads every row of a box but its own, as of one moment: each portion as a list of JSON objects. Returns the digest of
 * each table. Rows in partitions that will be dropped within a day are left out.
 */
export function readRows(
  pool: Connections,
  box: string,
  onPortion: (table: string, rows: string) => Promise<void>,
): Promise<readonly TableDigest[]> {
  return inBoxInTransit(pool, box, { mode: 'snapshot', limit: copyLimit }, async (connection) => {
    const digests: TableDigest[] = [];
    for (const table of (await tablesOfBox(connection)).slice(1)) {
      digests.push(await readTable(connection, table, (rows) => onPortion(table, rows)));
    }
    return digests;
  });
}

async function tablesOfBox(connection: Connection): Promise<readonly string[]> {
  const { rows } = await connection.query<{ tables: string[] }>('SELECT boxgate.tables_of_box() AS tables');
  return rows[0]?.tables ?? [];
}

/** Conditions of the rows that are copied, where not all are. */
const copied: Readonly<Record<string, string>> = {
  session: 'WHERE boxgate.bucket_end(t.bucket) > now()',
  audit_event: 'WHERE t.day > (extract(epoch FROM now())::bigint / 86400)::integer',
};

async function readTable(
  connection: Connection,
  table: string,
  onPortion: (rows: string) => Promise<void>,
): Promise<TableDigest> {
  const sum = Buffer.alloc(32);
  let count = 0;
  await connection.query(
    `DECLARE rows CURSOR FOR SELECT to_jsonb(t)::text AS row FROM boxgate."${table}" t ${copied[table] ?? ''}`,
  );
  for (;;) {
    const { rows } = await connection.query<{ row: string }>(`FETCH ${String(portion)} FROM rows`);
    if (rows.length === 0) break;
    for (const { row } of rows) {
      const hash = createHash('sha256').update(row).digest();
      for (let index = 0; index < sum.length; index += 1) sum[index] = (sum[index] ?? 0) ^ (hash[index] ?? 0);
    }
    count += rows.length;
    await onPortion(`[${rows.map(({ row }) => row).join(',')}]`);
  }
  await connection.query('CLOSE rows');
  return { table, rows: count, digest: sum.toString('hex') };
}

/**
 * Reads the row of a box as it begins its arrival elsewhere under a version; no row if it has another one. Call it in
 * transit.
 */
export async function readOwnRow(connection: Connection, box: string, version: number, from: string): Promise<string> {
  const { rows } = await connection.query<{ row: string }>(
    `SELECT (to_jsonb(b) || jsonb_build_object('transit', 'arriving', 'counterpart', $2::text, 'leaving_until', NULL))::text AS row
       FROM boxgate.box b WHERE b.box = $1 AND b.config_version = $3`,
    [box, from, version],
  );
  return `[${rows[0]?.row ?? ''}]`;
}

/** A box that arrives under the version that it has left under. */
interface Arrival {
  readonly pool: Connections;
  readonly box: string;
  readonly version: number;
}

/** Stores rows of a box that arrives; those of `box` begin the arrival. Throws Outage. */
export function receiveRows({ pool, box, version }: Arrival, table: string, rows: string): Promise<void> {
  return inBoxInTransit(pool, box, { mode: 'write', limit: 60_000 }, async (connection) => {
    await connection.query('SELECT boxgate.receive_rows($1, $2, $3)', [table, rows, version]);
  });
}

/** Reads the buckets and the days of the audit trail of the rows that are copied. Call it in transit. */
export async function partitionsOf(
  connection: Connection,
): Promise<{ readonly buckets: readonly number[]; readonly retentions: readonly number[] }> {
  const { rows } = await connection.query<{ buckets: number[]; retentions: number[] }>(
    `SELECT ARRAY(SELECT DISTINCT t.bucket FROM boxgate.session t ${copied['session'] ?? ''}) AS buckets,
            ARRAY(SELECT DISTINCT t.day - (extract(epoch FROM now())::bigint / 86400)::integer
                    FROM boxgate.audit_event t ${copied['audit_event'] ?? ''}) AS retentions`,
  );
  return rows[0] ?? { buckets: [], retentions: [] };
}

/** Creates the partitions that the rows of an arriving box need, where they are missing. Throws Outage. */
export async function makePartitions(
  pool: Connections,
  { buckets, retentions }: Awaited<ReturnType<typeof partitionsOf>>,
): Promise<void> {
  await outsideBoxes(
    pool,
    async (connection) => {
      await connection.query('SELECT boxgate.make_buckets($1)', [buckets]);
      for (const retention of retentions) {
        await connection.query(
          `SELECT boxgate.make_audit_days($1) WHERE NOT EXISTS (
             SELECT FROM boxgate.audit_day WHERE day = (extract(epoch FROM now())::bigint / 86400)::integer + $1)`,
          [retention],
        );
      }
    },
    60_000,
  );
}

/** Deletes what boxes have left behind that were moved elsewhere before a time, in milliseconds since 1970. */
export async function forgetMoved(pool: Connections, before: number): Promise<void> {
  const moved = await outsideBoxes(pool, async (connection) => {
    const text = 'SELECT box FROM boxgate.moved_boxes($1)';
    return (await connection.query<{ box: string }>(text, [before * 1_000])).rows;
  });
  for (const { box } of moved) {
    await inBoxInTransit(pool, box, { mode: 'write', limit: 60_000 }, (connection) =>
      connection.query('SELECT boxgate.forget_box()'),
    );
  }
}
