import { waitAfter, type BackOff } from './back-off.ts';
import { emptyCache, type BoxCache } from './box-cache.ts';
import type { PassContext } from './pass-context.ts';
import type { QueueOptions } from './queue.ts';

/** Times of sweeps. */
export interface SweepTimes {
  /** Milliseconds between two sweeps; spread by up to a tenth. */
  readonly sweepPeriod: number;
  readonly random: () => number;
  readonly schedule: QueueOptions['schedule'];
}

/** Back-off of a failed sweep, short because objects deleted while the API was away wait for it. */
const sweepBackOff: BackOff = { first: 200, ceiling: 4_000 };

/** Runs work now and periodically until cancelled; sooner after a failure. `first` resolves after the first success. */
export function repeat(
  work: () => Promise<void>,
  { sweepPeriod, random, schedule }: SweepTimes,
  onError: (error: unknown, wait: number) => void,
): { readonly first: Promise<void>; cancel(): void } {
  const first = Promise.withResolvers<void>();
  let cancel = (): void => undefined;
  let isOver = false;
  let failures = 0;
  const run = async (): Promise<void> => {
    let wait = sweepPeriod * (0.9 + random() / 5);
    try {
      await work();
      failures = 0;
      first.resolve();
    } catch (error) {
      failures += 1;
      wait = waitAfter(failures, sweepBackOff, random);
      onError(error, wait);
    }
    if (!isOver) cancel = schedule(wait, () => void run());
  };
  void run();
  return {
    first: first.promise,
    cancel() {
      isOver = true;
      cancel();
    },
  };
}

/** Visits every declared or stored box; declared ones also while the API is away. Throws ManagementError. */
export async function visitBoxes(
  context: PassContext,
  caches: Map<string, BoxCache>,
  lookAgain: (box: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const declared = await context.source.boxes(signal);
  let stored: readonly string[] = [];
  try {
    stored = await storedBoxes(context, signal);
    rememberEmpty(declared, stored, caches);
  } finally {
    for (const box of new Set([...declared, ...stored])) lookAgain(box);
  }
}

/** Returns the boxes with rows of this cluster in the database, once their hosts are assigned. */
async function storedBoxes(
  { source, management, cluster, epoch, hosts }: PassContext,
  signal: AbortSignal,
): Promise<readonly string[]> {
  // From now on every call of an older leader is refused.
  await epoch(signal);
  await hosts?.resend(signal);
  const stored = await management.declaredBoxes(cluster, signal);
  // A box whose namespace is missing is left alone until the namespace exists again.
  return stored.filter(({ box, missing }) => missing !== true || source.isListed?.(box) === true).map(({ box }) => box);
}

/** Marks boxes that the database does not have as known: they need no comparison. */
function rememberEmpty(declared: readonly string[], stored: readonly string[], caches: Map<string, BoxCache>): void {
  const known = new Set(stored);
  for (const box of declared) {
    if (!known.has(box) && !caches.has(box)) caches.set(box, cacheWithoutRows());
  }
}

/** Returns the cache of a box that is known to have no rows. */
function cacheWithoutRows(): BoxCache {
  const cache = emptyCache();
  cache.stored.replaceRows(new Map());
  return cache;
}
