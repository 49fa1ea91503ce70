import { ManagementError } from '../api/client/management-error.ts';
import { defaultBackOff, waitAfter, type BackOff } from './back-off.ts';
import { emptyMemory, type BoxMemory } from './box-memory.ts';
import { claimedEpoch } from './claimed-epoch.ts';
import { keepClusterSettings, type ReadServiceAccounts } from './cluster-settings.ts';
import { startDeadlines } from './deadlines.ts';
import { inAllBoxes, isTooMuch, type Missing } from './missing.ts';
import { reconcileBox } from './pass.ts';
import type { PassContext } from './pass-context.ts';
import { measured, noMeter, type PassMeter } from './pass-meter.ts';
import { createQueue, type QueueOptions } from './queue.ts';
import { watchReach } from './reach.ts';
import { createWakeUps } from './wake-ups.ts';

/** Keeps every box as it is declared, until it is stopped. */
export interface Reconciler {
  /** Resolves when every box has had its first pass, whether it went well or not. */
  readonly firstRound: Promise<void>;
  /** Rejects when the reconciler cannot go on: somebody else has taken over (ManagementError `fenced`). */
  readonly failed: Promise<never>;
  /** Looks at everything in every box, soon. */
  sweep(): Promise<void>;
  /** Begins no more passes, and resolves when the running ones have ended; after `grace` milliseconds (0) they are cut short. */
  stop(grace?: number): Promise<void>;
}

/** What a reconciler works with: what a pass does (the epoch is claimed here), time, chance, and who hears of failures. */
export interface ReconcilerOptions extends Omit<PassContext, 'epoch' | 'servesServiceAccounts'> {
  /** Who makes the tokens of ServiceAccounts; absent where there are none. */
  readonly readServiceAccounts?: ReadServiceAccounts;
  /** The older installation whose rows and boxes become this one's (a cluster that is rebuilt over its database). */
  readonly adopts?: string | undefined;
  /** Milliseconds between two looks at everything; spread by up to a tenth. */
  readonly sweepPeriod: number;
  readonly schedule: QueueOptions['schedule'];
  /** Hears of every failed pass, and how many milliseconds it waits. */
  readonly onFailure: (box: string, error: unknown, wait: number) => void;
  /** Milliseconds that a deleted object waits for an API that cannot be reached; 60,000 by default. */
  readonly holdLimit?: number;
  /** Measures passes. */
  readonly meter?: PassMeter;
}

const concurrency = 2;
/** A sweep that failed is tried again quickly: what was deleted while the API was away waits for it. */
const sweepBackOff: BackOff = { first: 200, ceiling: 4_000 };

/**
 * Claims the next epoch and begins. While the API cannot be reached no epoch is claimed, and every pass fails: it is tried
 * again for ever, and nothing is reconciled under an epoch that was never claimed.
 */
export function startReconciler(options: ReconcilerOptions): Reconciler {
  const stopping = new AbortController();
  const { signal } = stopping;
  const { meter = noMeter, holdLimit = 60_000 } = options;
  const epoch = claimedEpoch(() => options.management.claimEpoch(options.cluster, signal, options.adopts));
  const memories = new Map<string, BoxMemory>();
  const sweepDue = new Set<string>();
  /** Boxes whose last pass failed. */
  const failing = new Set<string>();
  const failure = Promise.withResolvers<never>();
  // Nobody may be listening yet.
  failure.promise.catch(() => undefined);

  const onServed = (): void => memories.forEach((_, box) => queue.add(box));
  const settings = keepClusterSettings({ ...options, epoch, onServed, onFenced: failure.reject }, signal);
  const { servesServiceAccounts } = settings;
  const missing = (): Missing => inAllBoxes(memories.values());
  const crowd = { isCrowded: () => queue.waiting > 0, isMuchMissing: () => isTooMuch(missing()) };
  const context: PassContext = { ...options, epoch, servesServiceAccounts, ...crowd };
  const queue = createQueue({
    ...options,
    concurrency,
    backOff: defaultBackOff,
    async run(box) {
      const memory = memories.get(box) ?? emptyMemory();
      memories.set(box, memory);
      const scope = sweepDue.delete(box) ? 'everything' : 'changes';
      try {
        const left = await measured(meter, box, () => reconcileBox(box, memory, scope, context, signal));
        if (left === 'more') queue.add(box);
        failing.delete(box);
        wakeUps.runAt(box, memory.nextLook);
      } catch (error) {
        if (isFenced(error)) failure.reject(error);
        throw error;
      }
    },
    onFailure(box, error, wait) {
      sweepDue.add(box);
      failing.add(box);
      reach.suspect(error);
      if (!signal.aborted && !isFenced(error)) options.onFailure(box, error, wait);
    },
  });
  meter.measure(() => queue.waiting, missing);

  const wakeUps = createWakeUps((box) => queue.add(box), options.now, options.schedule);
  const reach = watchReach({
    ask: (stop) => options.management.declaredBoxes(options.cluster, stop),
    schedule: options.schedule,
    onReturn() {
      for (const box of removalsFirst([...failing], memories)) queue.add(box);
    },
  });
  const { holds } = options.source;
  const isFailing = (box: string): boolean => reach.isAway() || failing.has(box);
  if (holds !== undefined) startDeadlines({ ...options, holds, holdLimit, isFailing }, signal);

  async function sweep(): Promise<void> {
    await settings.refresh();
    const declared = await options.source.boxes(signal);
    let stored: ReadonlySet<string> = new Set();
    try {
      // From now on every call of an older leader is refused.
      await epoch(signal);
      stored = new Set((await options.management.declaredBoxes(options.cluster, signal)).map(({ box }) => box));
      for (const box of declared) {
        if (!stored.has(box) && !memories.has(box)) memories.set(box, { ...emptyMemory(), known: true });
      }
    } finally {
      for (const box of new Set([...declared, ...stored])) {
        sweepDue.add(box);
        queue.add(box);
      }
    }
  }

  // Before the first sweep: what changes during it must not be missed.
  options.source.watch((box) => {
    meter.heard(box);
    queue.add(box);
  }, signal);
  const sweeps = repeat(sweep, options, (error, wait) => {
    reach.suspect(error);
    if (!signal.aborted) options.onFailure('', error, wait);
  });
  return {
    firstRound: sweeps.first.then(() => queue.idle()),
    failed: failure.promise,
    sweep,
    async stop(grace = 0) {
      sweeps.cancel();
      reach.stop();
      wakeUps.stop();
      await stopWithin(grace, queue.stop(), stopping, options.schedule);
    },
  };
}

/** What is under way may end within `grace` milliseconds; then it is cut short. */
async function stopWithin(
  grace: number,
  ended: Promise<void>,
  stopping: AbortController,
  schedule: QueueOptions['schedule'],
): Promise<void> {
  const cut = (): void => stopping.abort(new Error('the reconciler is stopping'));
  if (grace === 0) cut();
  const spare = schedule(grace, cut);
  await ended;
  spare();
  cut();
}

/** These boxes, those first in which something is to be removed. */
function removalsFirst(boxes: readonly string[], memories: ReadonlyMap<string, BoxMemory>): readonly string[] {
  const owes = (box: string): boolean => memories.get(box)?.owesRemovals === true;
  return [...boxes.filter(owes), ...boxes.filter((box) => !owes(box))];
}

function isFenced(error: unknown): boolean {
  return error instanceof ManagementError && error.sort === 'fenced';
}

/** Runs work now and on a period until it is cancelled; sooner where it failed. `first` resolves when it went well once. */
function repeat(
  work: () => Promise<void>,
  { sweepPeriod, random, schedule }: ReconcilerOptions,
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
