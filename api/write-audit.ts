import { errorFacts } from '../program/log.ts';
import type { Log } from '../program/log.ts';
import { startRoundsWithLast } from '../program/scheduling.ts';
import type { Rounds } from '../program/scheduling.ts';
import { auditLines } from './audit/audit-record.ts';
import type { CountedEvents } from './audit/counted-events.ts';
import { storeCountedEvents } from './db/audit/audit-event.ts';
import type { AuditEventOfBox } from './db/audit/audit-event.ts';
import { Outage } from './db/core/outage.ts';
import type { Connections } from './db/core/pool.ts';

/** The background writing of counted events. */
export interface AuditWriting extends Rounds {
  /** Records that were not stored, with the events that were not counted: the log alone tells of the records. */
  readonly dropped: () => number;
}

/** Dependencies of the writing. */
export interface AuditWritingOptions {
  readonly pool: Connections;
  readonly events: CountedEvents;
  readonly log: Log;
}

/** Milliseconds between writes. */
const period = 1_000;

/** Records of one statement, and those that wait at most while Postgres is away. */
const recordsAtOnce = 500;
const mostWaiting = 10_000;

/**
 * Starts to write counted events: to the log when their minute is over, then to the database, in batches. No request
 * waits for it. Records that Postgres does not take are kept up to a bound, and tried again. The end writes all once.
 */
export function startAuditWriting({ pool, events, log }: AuditWritingOptions): AuditWriting {
  const lines = auditLines(log);
  let waiting: readonly AuditEventOfBox[] = [];
  let dropped = 0;

  async function write({ aborted: isLast }: AbortSignal): Promise<void> {
    const taken = events.take(isLast);
    for (const record of taken) lines(record.box, [record]);
    waiting = [...waiting, ...taken];
    while (waiting.length > 0) {
      const batch = waiting.slice(0, recordsAtOnce);
      try {
        await storeCountedEvents(pool, batch);
      } catch (error) {
        if (error instanceof Outage) {
          log.warn(errorFacts(error), 'records of the audit trail could not be stored; it is tried again');
          break;
        }
        log.error(errorFacts(error), 'records of the audit trail cannot be stored');
        dropped += batch.length;
      }
      waiting = waiting.slice(batch.length);
    }
    if (isLast && waiting.length > 0)
      log.error({ records: waiting.length }, 'records of the audit trail are in the log alone');
    // The oldest are given up: the log has them.
    const tooMany = Math.max(0, waiting.length - (isLast ? 0 : mostWaiting));
    waiting = waiting.slice(tooMany);
    dropped += tooMany;
  }

  return { ...startRoundsWithLast(period, write), dropped: () => dropped + events.refused };
}
