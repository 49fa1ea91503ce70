import type { TimeRange } from '../core/keyset.ts';
import { readFilledDays } from './audit-days.ts';
import { listingOf } from '../core/listing.ts';
import type { Connections } from '../core/pool.ts';
import type { Connection } from '../core/transaction.ts';
import { requestLimit, withConnection } from '../core/with-connection.ts';
import { firstIdAt, uuidV7Time } from '../core/uuid-v7.ts';

/** Result of a security event. */
export type AuditResult = 'success' | 'failure' | 'denied';

/** A record of the audit trail as it is stored. */
export interface StoredAuditEvent {
  /** A UUIDv7: its first 48 bits are the time of the record. */
  readonly id: string;
  readonly event: string;
  readonly result: AuditResult;
  readonly client: string | undefined;
  readonly user: number | undefined;
  readonly remoteAddr: string | undefined;
  /** The cluster whose operator acted, or a command of the installation. */
  readonly operator: string | undefined;
  readonly session: string | undefined;
  readonly requestId: string | undefined;
  /** `<kind>/<id>`. */
  readonly target: string | undefined;
  /** The user who joined or left the target. */
  readonly member: number | undefined;
  readonly changed: readonly string[] | undefined;
  /** The reason of a refused request, and the part of it that is wrong. */
  readonly reason: string | undefined;
  readonly sent: string | undefined;
  /** Number of events that are this record. */
  readonly count: number;
}

interface AuditColumns {
  readonly id: string;
  readonly event: string;
  readonly result: AuditResult;
  readonly client: string | null;
  readonly user_id: string | null;
  readonly remote_addr: string | null;
  readonly operator: string | null;
  readonly session: string | null;
  readonly request_id: string | null;
  readonly target: string | null;
  readonly member: string | null;
  readonly changed: string[] | null;
  readonly reason: string | null;
  readonly sent: string | null;
  readonly count: number;
}

/** Filters of a search in the audit trail; `days` are the partitions to read. */
export interface AuditFilters {
  readonly id?: string | undefined;
  readonly event?: string | undefined;
  /** `refused`: whatever is no success. */
  readonly result?: AuditResult | 'refused' | undefined;
  readonly reason?: string | undefined;
  readonly client?: string | undefined;
  readonly user?: number | undefined;
  readonly remoteAddr?: string | undefined;
  readonly target?: string | undefined;
  readonly member?: number | undefined;
  readonly session?: string | undefined;
  readonly requestId?: string | undefined;
  readonly createdAt?: TimeRange | undefined;
  readonly days?: readonly number[] | undefined;
}

/** The order of the records is that of their ids. */
const byId = [{ column: 'e.id', type: 'uuid', keyOf: ({ id }: StoredAuditEvent) => id }] as const;

/** The audit trail of a box, without records of data that was discarded. */
export const auditListing = listingOf<AuditColumns, StoredAuditEvent, AuditFilters>({
  columns: `e.id, e.event, e.result, e.client, e.user_id, e.remote_addr, e.operator, e.session, e.request_id,
       e.target, e.member, e.changed, e.reason, e.sent, e.count`,
  rowOf: storedEvent,
  orders: { created_at: byId, id: byId },
  from: 'boxgate.audit_event e',
  size: "octet_length(concat_ws(' ', e.target, e.sent, e.remote_addr, array_to_string(e.changed, ' ')))",
  where: (conditions, box, filters) => {
    const { id, event, result, reason, client, user, remoteAddr, target, member, session, requestId, createdAt, days } =
      filters;
    conditions.compare(box, (place) => `e.box = ${place}`);
    conditions.compare(
      box,
      (place) => `e.version >= (SELECT b.records_from FROM boxgate.box b WHERE b.box = ${place})`,
    );
    conditions.compare(days, (place) => `e.day = ANY (${place}::integer[])`);
    conditions.compare(id, (place) => `e.id = ${place}::uuid`);
    conditions.compare(event, (place) => `e.event = ${place}`);
    const isRefused = result === 'refused';
    conditions.compare(isRefused ? undefined : result, (place) => `e.result = ${place}`);
    conditions.compare(isRefused || undefined, (place) => `${place}::boolean AND e.result <> 'success'`);
    conditions.compare(reason, (place) => `e.reason = ${place}`);
    conditions.compare(client, (place) => `e.client = ${place}`);
    conditions.compare(user, (place) => `e.user_id = ${place}`);
    conditions.compare(remoteAddr, (place) => `e.remote_addr = ${place}`);
    conditions.compare(target, (place) => `e.target = ${place}`);
    conditions.compare(member, (place) => `e.member = ${place}`);
    conditions.compare(session, (place) => `e.session = ${place}::uuid`);
    conditions.compare(requestId, (place) => `e.request_id = ${place}`);
    conditions.compare(firstIdAt(createdAt?.from), (place) => `e.id >= ${place}::uuid`);
    conditions.compare(firstIdAt(createdAt?.to), (place) => `e.id < ${place}::uuid`);
  },
});

function storedEvent(row: AuditColumns): StoredAuditEvent {
  return {
    id: row.id,
    event: row.event,
    result: row.result,
    client: row.client ?? undefined,
    user: row.user_id === null ? undefined : Number(row.user_id),
    remoteAddr: row.remote_addr ?? undefined,
    operator: row.operator ?? undefined,
    session: row.session ?? undefined,
    requestId: row.request_id ?? undefined,
    target: row.target ?? undefined,
    member: row.member === null ? undefined : Number(row.member),
    changed: row.changed ?? undefined,
    reason: row.reason ?? undefined,
    sent: row.sent ?? undefined,
    count: row.count,
  };
}

/** Reads one record; undefined when there is none. */
export async function readAuditEvent(
  connection: Connection,
  box: string,
  id: string,
): Promise<StoredAuditEvent | undefined> {
  const days = await readFilledDays(connection);
  const span = { limit: 1, offset: 0, descending: true, backward: false };
  const { rows } = await auditListing.read(connection, { box, filters: { id, days } }, byId, span);
  return rows[0];
}

/** Stores records of one box, in the transaction of the change that they tell about. */
export async function insertAuditEvents(
  connection: Connection,
  box: string,
  events: readonly StoredAuditEvent[],
): Promise<void> {
  await connection.query(
    `INSERT INTO boxgate.audit_event (id, version, created_at, day, count, box, event, result, client, user_id, remote_addr,
                                      operator, session, request_id, target, member, changed, reason, sent)
     SELECT e.id, b.config_version, e.created_at, (SELECT boxgate.audit_day($1)), e.count, b.box, e.event, e.result, e.client,
            e.user_id, e.remote_addr, e.operator, e.session, e.request_id, e.target, e.member, e.changed, e.reason, e.sent
       FROM boxgate.box b, jsonb_to_recordset($2) AS e (
              id uuid, created_at timestamptz, count integer, event text, result text, client text, user_id bigint,
              remote_addr text, operator text, session uuid, request_id text, target text, member bigint, changed text[],
              reason text, sent text)
      WHERE b.box = $1`,
    [box, JSON.stringify(events.map(columnsOf))],
  );
}

/** A record of one of many boxes. */
export interface AuditEventOfBox extends StoredAuditEvent {
  readonly box: string;
}

/** Stores records of any boxes in one statement. Throws Outage. */
export function storeCountedEvents(pool: Connections, events: readonly AuditEventOfBox[]): Promise<void> {
  const rows = events.map((event) => ({ ...columnsOf(event), box: event.box }));
  return withConnection(pool, requestLimit, async (connection) => {
    await connection.query('SELECT boxgate.store_counted_events($1)', [JSON.stringify(rows)]);
  });
}

/** Returns the columns of a record as JSON names them. */
function columnsOf(event: StoredAuditEvent): Readonly<Record<string, unknown>> {
  const { user, remoteAddr, requestId, ...same } = event;
  const created = new Date(uuidV7Time(event.id)).toISOString();
  return { ...same, created_at: created, user_id: user, remote_addr: remoteAddr, request_id: requestId };
}
