import { setTimeout as sleep } from 'node:timers/promises';
import { allBoxes } from './db/box.ts';
import { upkeepBuckets } from './db/bucket.ts';
import { Outage } from './db/outage.ts';
import { deleteExpiredFamilies } from './db/refresh-family.ts';
import { inBox } from './db/transaction.ts';
import { errorFacts } from './log.ts';
import type { Log } from './log.ts';
import type { OAuthServices } from './oauth/services.ts';

/** The service's own housework, on a period. */
export interface Upkeep {
  /** Ends it, after the step that runs. */
  stop(): Promise<void>;
}

const period = 10 * 60_000;
const familiesAtOnce = 1_000;

/**
 * Makes the buckets that are needed now, then, every ten minutes: buckets ahead, what is over dropped, signing keys
 * rotated, expired refresh families deleted. Every replica does it; each step takes its own lock. Throws Outage when the
 * first buckets cannot be made.
 */
export async function startUpkeep(services: OAuthServices, log: Log): Promise<Upkeep> {
  await buckets(services, log);
  const stopping = new AbortController();
  const running = rounds(services, log, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** One after the other, however long one takes. */
async function rounds(services: OAuthServices, log: Log, signal: AbortSignal): Promise<void> {
  for (;;) {
    await sleep(period, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return;
    await upkeepRound(services, log, signal);
  }
}

/**
 * One round. What fails in one box is logged and does not keep the others from theirs; an outage ends the round. The next
 * one tries again. Never throws.
 */
export async function upkeepRound(services: OAuthServices, log: Log, signal: AbortSignal): Promise<void> {
  try {
    await buckets(services, log);
    for (const box of await allBoxes(services.pool)) {
      if (signal.aborted) return;
      await upkeepBox(box, services, log).catch(unlessOutage(box, log));
    }
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

async function buckets(services: OAuthServices, log: Log): Promise<void> {
  const { made, dropped } = await upkeepBuckets(services.pool, new Date(services.now()));
  if (made.length + dropped.length > 0) log.info({ made: made.length, dropped: dropped.length }, 'session buckets');
}

async function upkeepBox(box: string, services: OAuthServices, log: Log): Promise<void> {
  const settings = await services.states.decide(box, async (state, statements) => ({
    version: await statements.version(box),
    value: state.keys.all.length === 0 ? undefined : state.settings,
  }));
  if (settings !== undefined && (await services.keys.upkeep(box, settings, services.now()))) {
    log.info({ box }, 'signing keys moved on');
  }
  let deleted = familiesAtOnce;
  while (deleted === familiesAtOnce) {
    deleted = await inBox(services.pool, box, 'write', (connection) =>
      deleteExpiredFamilies(connection, box, familiesAtOnce),
    );
  }
}
