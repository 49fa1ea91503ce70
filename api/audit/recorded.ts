import { insertAuditEvents } from '../db/audit/audit-event.ts';
import type { Connections } from '../db/core/pool.ts';
import { inBoxWithin } from '../db/core/transaction.ts';
import type { Connection } from '../db/core/transaction.ts';
import { requestLimit } from '../db/core/with-connection.ts';
import { recordsOf } from './audit-trail.ts';
import type { AuditTrail, SecurityEvent } from './audit-trail.ts';

/** Notes an event of the transaction in progress: it is recorded if the transaction commits. */
export type NoteEvent = (event: SecurityEvent) => void;

/** Dependencies of a recorded change. */
export interface RecordingServices {
  readonly pool: Connections;
  readonly trail: AuditTrail;
}

/** Work in a recorded transaction. */
export type RecordedWork<T> = (connection: Connection, note: NoteEvent) => Promise<T>;

/**
 * Runs work in a `write` transaction of a box, stores the events that it notes in one statement at its end, and logs
 * them once they are committed: a change that is rolled back leaves no record. `limit` in milliseconds. Throws Outage.
 */
export async function inBoxRecorded<T>(
  { pool, trail }: RecordingServices,
  box: string,
  work: RecordedWork<T>,
  limit = requestLimit,
): Promise<T> {
  const { outcome, log } = await inBoxWithin(pool, box, { mode: 'write', limit }, async (connection) => {
    const events: SecurityEvent[] = [];
    const outcome = await work(connection, (event) => events.push(event));
    return { outcome, log: await recordIn(connection, box, trail, events) };
  });
  log();
  return outcome;
}

/** Stores events in a transaction, and returns the function that logs them: to be called once it is committed. */
export async function recordIn(
  connection: Connection,
  box: string,
  trail: AuditTrail,
  events: readonly SecurityEvent[],
): Promise<() => void> {
  const records = recordsOf(trail, events);
  if (records.length > 0) await insertAuditEvents(connection, box, records);
  return () => {
    trail.log(box, records);
  };
}
