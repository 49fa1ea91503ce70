import { batchBounds } from './core/batch-bounds.ts';
import type { Connections } from './core/pool.ts';
import { batchesOn } from './core/statement-batches.ts';
import { endActiveSession } from './session/end-statement.ts';
import type { RequestedEnding } from './session/end-statement.ts';
import type { SessionRecord } from './session/record.ts';

/**
 * Ends an active session in a statement that requests share; null if only a transaction can tell why it was not ended,
 * or end it. From its result on every check refuses the token. Throws Outage.
 */
export type EndActiveSession = (ending: RequestedEnding) => Promise<SessionRecord | null>;

/** Endings of one statement; one statement is in flight, so that endings of all boxes leave the pool to the rest. */
const bounds = { ...batchBounds, size: 64, inFlight: 1 };

/** Ends sessions in micro-batches on a pool. */
export function createSessionEndings(pool: Connections): EndActiveSession {
  return batchesOn(pool, bounds)(endActiveSession);
}
