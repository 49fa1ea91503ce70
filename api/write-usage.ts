import { errorFacts } from '../program/log.ts';
import type { Log } from '../program/log.ts';
import { startRoundsWithLast } from '../program/scheduling.ts';
import type { Rounds } from '../program/scheduling.ts';
import { noteUsage } from './db/session/client-usage.ts';
import type { Connections } from './db/core/pool.ts';
import type { UsageNotes } from './box/notes.ts';

/** Milliseconds between writes, and so the maximum age of the usage that people read. */
const period = 60_000;

const clientsAtOnce = 5_000;

/** Starts to write a replica's notes of the use of its clients once a minute, and at the end: nothing waits for it. */
export function startUsageWriting(pool: Connections, notes: UsageNotes, log: Log): Rounds {
  return startRoundsWithLast(period, () => writeUsage(pool, notes, log));
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
