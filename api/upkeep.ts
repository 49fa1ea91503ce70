import type { Box } from '../crds/box.ts';
import { checkResource } from '../crds/validate.ts';
import { allBoxes } from './db/box/box.ts';
import { deleteRecords } from './db/box/box-data.ts';
import {
  deleteExpired,
  EXPIRING_TABLES,
  pruneVersions,
  readBoxUpkeep,
  takeLease,
  firstRevocation,
  pruneRevocations,
} from './db/box/box-upkeep.ts';
import type { ExpiringTable, RevocationPlace } from './db/box/box-upkeep.ts';
import { forgetMoved, stay } from './db/box/move.ts';
import { upkeepAuditDays } from './db/audit/audit-days.ts';
import { upkeepBuckets } from './db/session/bucket.ts';
import { isReadOnly, Outage } from './db/core/outage.ts';
import type { Connections } from './db/core/pool.ts';
import { inBox, inBoxWithin } from './db/core/transaction.ts';
import type { Connection } from './db/core/transaction.ts';
import { errorFacts } from '../program/log.ts';
import type { Log } from '../program/log.ts';
import { startRounds } from '../program/scheduling.ts';
import type { Rounds } from '../program/scheduling.ts';
import type { OAuthServices } from './oauth/services.ts';

const period = 10 * 60_000;
/** A little less, so that the clock of the database may be slower: otherwise a lone replica finds its own lease. */
const leased = period - 30_000;
const overAtOnce = 5_000;
const revocationsAtOnce = 1_000;
const discardLimit = 30_000;
const pruneLimit = 10_000;
/** Milliseconds for which the rows of a box that was moved stay in the database that it has left: seven days. */
const movedKept = 604_800_000;

/**
 * Creates the buckets and days of the audit trail that are needed now, then does the following every ten minutes:
 * creates those ahead, drops old ones, rotates signing keys, and deletes expired refresh families, sign-ins and consent
 * requests, old answers, used assertions, counts of failed attempts, old recorded requests, old versions, records of
 * discarded sessions, revocations that affect no stored session, and the rows of boxes that were moved a week ago. One
 * replica does it, under a lease. Throws Outage if the first buckets cannot be created, unless Postgres is read-only:
 * nothing needs them then.
 */
export async function startUpkeep(services: OAuthServices, log: Log): Promise<Rounds> {
  try {
    await buckets(services, log);
    await auditDays(services, log);
  } catch (error) {
    if (!isReadOnly(error)) throw error;
    log.warn(errorFacts(error), 'upkeep cannot begin while Postgres is read-only; it is tried again');
  }
  return startRounds(period, (signal) => leasedRound(services, log, signal));
}

/** Runs one round, unless another replica has run one within this period. Never throws. */
export async function leasedRound(services: OAuthServices, log: Log, signal: AbortSignal): Promise<void> {
  try {
    if (await takeLease(services.pool, 'upkeep', leased)) await upkeepRound(services, log, signal);
  } catch (error) {
    log.warn(errorFacts(error), 'upkeep could not begin; it is tried again');
  }
}

/**
 * Runs one round. A failure in one box is logged and does not affect the others; an outage ends the round. The next
 * one tries again. Never throws.
 */
export async function upkeepRound(services: OAuthServices, log: Log, signal: AbortSignal): Promise<void> {
  try {
    const dropped = await buckets(services, log);
    await auditDays(services, log);
    for (const box of await allBoxes(services.pool)) {
      if (signal.aborted) return;
      await upkeepBox(box, services, log).catch(unlessOutage(box, log));
      // Sessions that a revocation affects are deleted only with their bucket.
      if (dropped > 0) await revocations(box, services.pool, signal).catch(unlessOutage(box, log));
    }
    await forgetMoved(services.pool, services.now() - movedKept);
    // Last: a deletion that a slow disk ends keeps no key from being rotated.
    for (const table of EXPIRING_TABLES) await ofAllBoxes(table, services, signal);
  } catch (error) {
    log.warn(errorFacts(error), 'upkeep could not finish; it is tried again');
  }
}

function unlessOutage(box: string, log: Log) {
  return (error: unknown): void => {
    if (error instanceof Outage) throw error;
    log.error({ ...errorFacts(error), box }, 'upkeep of a box failed; it is tried again');
  };
}

/** Maintains the buckets; returns the number of dropped ones. */
async function buckets(services: OAuthServices, log: Log): Promise<number> {
  const { made, dropped } = await upkeepBuckets(services.pool, new Date(services.now()));
  if (made.length + dropped.length > 0) log.info({ made: made.length, dropped: dropped.length }, 'session buckets');
  return dropped.length;
}

async function auditDays({ pool }: OAuthServices, log: Log): Promise<void> {
  const { made, dropped } = await upkeepAuditDays(pool);
  if (made + dropped > 0) log.info({ made, dropped }, 'days of the audit trail');
}

async function revocations(box: string, pool: Connections, signal: AbortSignal): Promise<void> {
  let place: RevocationPlace | undefined = firstRevocation;
  while (place !== undefined && !signal.aborted) {
    const from: RevocationPlace = place;
    const prune = (connection: Connection) => pruneRevocations(connection, box, from, revocationsAtOnce);
    place = await inBoxWithin(pool, box, { mode: 'write', limit: pruneLimit }, prune);
  }
}

/** Deletes the expired rows of a table in all boxes. */
async function ofAllBoxes(table: ExpiringTable, { pool, now }: OAuthServices, signal: AbortSignal): Promise<void> {
  let deleted = overAtOnce;
  while (deleted === overAtOnce && !signal.aborted)
    deleted = await deleteExpired(pool, table, new Date(now()), overAtOnce);
}

/** Maintains a box without loading it: most need nothing, and unused ones must take no memory. */
async function upkeepBox(box: string, services: OAuthServices, log: Log): Promise<void> {
  const { pool } = services;
  const found = await inBox(pool, box, 'snapshot', (connection) => readBoxUpkeep(connection, box));
  if (found.hasKeys && (await services.keys.upkeep(box, settingsOf(box, found.settings), services.now()))) {
    services.countedEvents.note({ box, event: 'keys.rotated', target: `Box/${box}`, origin: {} });
    log.info({ box }, 'signing keys moved on');
  }
  if (found.hasOldVersions) await inBox(pool, box, 'write', (connection) => pruneVersions(connection, box));
  if (found.wasLeaving) await inBox(pool, box, 'write', (connection) => stay(connection, box));
  let done = !found.isDiscarding;
  while (!done) {
    done = await inBoxWithin(pool, box, { mode: 'write', limit: discardLimit }, (connection) =>
      deleteRecords(connection, box),
    );
  }
}

/** Returns the settings as a replica reads them: unusable ones are treated as not declared. */
function settingsOf(box: string, body: unknown): Box {
  const checked = checkResource('Box', body);
  const { resource } = checked.ok ? checked : {};
  return resource?.resourceType === 'Box' ? resource : { resourceType: 'Box', id: box };
}
