import { QUOTA_DEFAULTS } from '../crds/quota.ts';
import { errorFacts } from '../program/log.ts';
import type { Log } from '../program/log.ts';
import { startRoundsWithLast } from '../program/scheduling.ts';
import type { Rounds } from '../program/scheduling.ts';
import { Moved, Outage } from './db/core/outage.ts';
import type { Connections } from './db/core/pool.ts';
import { noteUsage } from './db/session/client-usage.ts';
import { countActive, noteIssued, readSessionQuota, storeCount } from './db/box/session-count.ts';
import type { DueCount } from './db/box/session-count.ts';
import { inBox, inBoxWithin } from './db/core/transaction.ts';
import type { UsageNotes } from './box/notes.ts';

/** Milliseconds between writes, and so the maximum age of the usage that people read. */
const writePeriod = 60_000;

const clientsAtOnce = 5_000;

/** Starts to write a replica's notes of the use of its clients once a minute, and at the end: nothing waits for it. */
export function startUsageWriting(pool: Connections, notes: UsageNotes, log: Log): Rounds {
  return startRoundsWithLast(writePeriod, () => writeUsage(pool, notes, log));
}

/** Writes the noted uses; those that cannot be written now are kept for the next time. Never throws. */
async function writeUsage(pool: Connections, notes: UsageNotes, log: Log): Promise<void> {
  const uses = notes.take();
  for (let from = 0; from < uses.length; from += clientsAtOnce) {
    try {
      await noteUsage(pool, uses.slice(from, from + clientsAtOnce));
    } catch (error) {
      notes.putBack(uses.slice(from));
      log.warn(errorFacts(error), 'the use of clients could not be written; it is tried again');
      return;
    }
  }
}

/** Dependencies of the counting. */
export interface SessionCountParts {
  readonly pool: Connections;
  readonly notes: Pick<UsageNotes, 'takeIssued' | 'putBackIssued'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Log;
}

/** Milliseconds between two reports of a replica: a box may exceed its quota by the tokens issued in this time. */
const reportPeriod = 5_000;
/** Boxes that a replica counts in one round. */
const boxesAtOnce = 20;
/** Milliseconds that a count may take. A million sessions took 1.6 to 2.9 seconds on two busy cores. */
const countLimit = 120_000;

/**
 * Starts to report every five seconds how many tokens this replica has issued, and to count the active sessions of
 * boxes that may have reached their quota. No request waits for it.
 */
export function startSessionCounts(parts: SessionCountParts): Rounds {
  return startRoundsWithLast(reportPeriod, (signal) => countRound(parts, signal));
}

/**
 * Reports the issued tokens once and counts the boxes that are due; a failed report is repeated in the next round,
 * and a failed count is due again. Once `signal` is aborted it only reports. Never throws.
 */
export async function countRound(parts: SessionCountParts, signal: AbortSignal): Promise<void> {
  const { pool, notes, log } = parts;
  const issued = notes.takeIssued();
  try {
    const due = await noteIssued(pool, issued, QUOTA_DEFAULTS.sessions, signal.aborted ? 0 : boxesAtOnce).catch(
      (error: unknown) => {
        notes.putBackIssued(issued);
        throw error;
      },
    );
    for (const one of due) {
      if (!signal.aborted) await count(one, parts).catch(unlessOutage(one.box, log));
    }
  } catch (error) {
    log.warn(errorFacts(error), 'active sessions could not be counted; it is tried again');
  }
}

function unlessOutage(box: string, log: Log) {
  return (error: unknown): void => {
    if (error instanceof Outage) throw error;
    // It is counted where it is now.
    if (error instanceof Moved) return;
    log.error({ ...errorFacts(error), box }, 'the active sessions of a box could not be counted; it is tried again');
  };
}

async function count(due: DueCount, { pool, now, log }: SessionCountParts): Promise<void> {
  const { box } = due;
  const began = performance.now();
  const active = await inBoxWithin(pool, box, { mode: 'snapshot', limit: countLimit }, async (connection) =>
    countActive(connection, box, now(), (await readSessionQuota(connection, box)) + 1),
  );
  const took = Math.ceil(performance.now() - began);
  const isFull = await inBox(pool, box, 'write', (connection) => storeCount(connection, { ...due, active, took }));
  if (isFull === true) log.warn({ box, active }, 'the box has as many active sessions as its quota allows');
  if (isFull === false) log.info({ box, active }, 'the box has room for sessions again');
}
