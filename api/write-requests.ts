import { errorFacts } from '../program/log.ts';
import type { Log } from '../program/log.ts';
import { inPortions, startRoundsWithLast, createTurns } from '../program/scheduling.ts';
import type { Rounds } from '../program/scheduling.ts';
import { BoundedMap } from '../program/bounded-map.ts';
import type { Connections } from './db/core/pool.ts';
import { storeRequests, trimRequests } from './db/request/recorded-request.ts';
import type { RequestCount, RequestKey } from './db/request/recorded-request.ts';
import { requestKeys } from './box/notes.ts';
import type { RequestNotes } from './box/notes.ts';

/** Dependencies of the recording. */
export interface RequestWritingOptions {
  readonly pool: Connections;
  readonly notes: RequestNotes;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Log;
}

/** Milliseconds between writes of what is new: people see a request within a second. */
const period = 250;

/** Milliseconds after which the count of a request that is recorded already is written again. */
const recountAfter = 60_000;

/** Milliseconds without a write after one that failed. */
const pauseAfterFailure = 5_000;

/** Milliseconds between two deletions of what exceeds the limits of the record. */
const trimEvery = 5_000;

/** Counts of one statement, and those that wait at most. */
const countsAtOnce = 500;
const mostWaiting = 10_000;

/** Keys that are remembered as written. */
const mostWritten = 50_000;

/** Starts to record a replica's decided requests. No request waits for it; under pressure requests are dropped. */
export function startRequestWriting({ pool, notes, now, log }: RequestWritingOptions): Rounds {
  const waiting = new Map<string, RequestCount>();
  const written = new BoundedMap<number>(mostWritten);
  const grown = new Set<string>();
  let paused = 0;
  let trimmed = 0;

  async function count(): Promise<void> {
    const turn = createTurns();
    const time = now();
    for (const noted of notes.take()) {
      for (const key of requestKeys(noted)) add(key, time);
      await turn();
    }
  }

  function add(key: RequestKey, time: number): void {
    const text = JSON.stringify(Object.values(key));
    const before = waiting.get(text);
    if (before === undefined && waiting.size >= mostWaiting) return;
    const { requests, firstSeen } = before ?? { requests: 0, firstSeen: time };
    waiting.set(text, { ...key, requests: requests + 1, firstSeen, lastSeen: time });
  }

  async function write(isLast: boolean): Promise<void> {
    const since = isLast ? Infinity : now() - recountAfter;
    const due = [...waiting].filter(([key]) => (written.get(key) ?? -Infinity) <= since);
    for (const batch of inPortions(due, countsAtOnce)) {
      await storeRequests(
        pool,
        batch.map(([, one]) => one),
      );
      for (const [key, { box }] of batch) {
        waiting.delete(key);
        if (!written.has(key)) grown.add(box);
        written.setNewest(key, now());
      }
    }
  }

  async function trim(): Promise<void> {
    if (grown.size === 0 || now() < trimmed + trimEvery) return;
    trimmed = now();
    const boxes = [...grown];
    grown.clear();
    await trimRequests(pool, boxes);
  }

  return startRoundsWithLast(period, async ({ aborted: isLast }) => {
    try {
      await count();
      if (now() < paused) return;
      await write(isLast);
      await trim();
    } catch (error) {
      paused = now() + pauseAfterFailure;
      log.warn(errorFacts(error), 'requests could not be recorded; it is tried again');
    }
  });
}
