import { ManagementError } from '../api/client/management-error.ts';
import { defaultBackOff } from './back-off.ts';
import { emptyMemory, type BoxMemory } from './box-memory.ts';
import { reconcileBox } from './pass.ts';
import type { PassContext } from './pass-context.ts';
import { createQueue, type QueueOptions } from './queue.ts';

/** Keeps every box as it is declared, until it is stopped. */
export interface Reconciler {
  /** Resolves when every box has had its first pass, whether it went well or not. */
  readonly firstRound: Promise<void>;
  /** Rejects when the reconciler cannot go on: somebody else has taken over (ManagementError `fenced`). */
  readonly failed: Promise<never>;
  /** Looks at everything in every box, soon. */
  sweep(): Promise<void>;
  /** Resolves when the running passes have ended. */
  stop(): Promise<void>;
}

/** What a reconciler works with: what a pass does (the epoch is claimed here), time, chance, and who hears of failures. */
export interface ReconcilerOptions extends Omit<PassContext, 'epoch'> {
  /** Milliseconds between two looks at everything; spread by up to a tenth. */
  readonly sweepPeriod: number;
  readonly schedule: QueueOptions['schedule'];
  /** Hears of every failed pass, and how many milliseconds it waits. */
  readonly onFailure: (box: string, error: unknown, wait: number) => void;
}

const concurrency = 2;

/**
 * Claims the next epoch and begins. Throws ManagementError when the API cannot be reached: nothing is reconciled under
 * an epoch that was never claimed.
 */
export async function startReconciler(options: ReconcilerOptions): Promise<Reconciler> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const epoch = await options.management.claimEpoch(options.cluster, signal);
  const context: PassContext = { ...options, epoch };
  const memories = new Map<string, BoxMemory>();
  const sweepDue = new Set<string>();
  const failure = Promise.withResolvers<never>();
  // Nobody may be listening yet.
  failure.promise.catch(() => undefined);

  const queue = createQueue({
    ...options,
    concurrency,
    backOff: defaultBackOff,
    async run(box) {
      const memory = memories.get(box) ?? emptyMemory();
      memories.set(box, memory);
      const scope = sweepDue.delete(box) ? 'everything' : 'changes';
      try {
        await reconcileBox(box, memory, scope, context, signal);
      } catch (error) {
        if (isFenced(error)) failure.reject(error);
        throw error;
      }
    },
    onFailure(box, error, wait) {
      sweepDue.add(box);
      if (!signal.aborted && !isFenced(error)) options.onFailure(box, error, wait);
    },
  });

  async function sweep(): Promise<void> {
    const declared = await options.source.boxes(signal);
    const stored = await options.management.declaredBoxes(options.cluster, signal);
    const inDatabase = new Set(stored.map(({ box }) => box));
    for (const box of new Set([...declared, ...inDatabase])) {
      if (!inDatabase.has(box) && !memories.has(box)) memories.set(box, { ...emptyMemory(), known: true });
      sweepDue.add(box);
      queue.add(box);
    }
  }

  // Before the first sweep: what changes during it must not be missed.
  options.source.watch((box) => {
    queue.add(box);
  }, signal);
  await sweep();
  const cancelSweeps = repeat(sweep, options, (error) => {
    if (!signal.aborted) options.onFailure('', error, 0);
  });
  return {
    firstRound: queue.idle(),
    failed: failure.promise,
    sweep,
    async stop() {
      cancelSweeps();
      stopping.abort(new Error('the reconciler is stopping'));
      await queue.stop();
    },
  };
}

function isFenced(error: unknown): boolean {
  return error instanceof ManagementError && error.sort === 'fenced';
}

/** Runs work on a period until its result is called; a failure is told and the period goes on. */
function repeat(
  work: () => Promise<void>,
  { sweepPeriod, random, schedule }: ReconcilerOptions,
  onError: (error: unknown) => void,
): () => void {
  let cancel: () => void;
  let isOver = false;
  const next = (): void => {
    if (isOver) return;
    cancel = schedule(sweepPeriod * (0.9 + random() / 5), () => {
      work().catch(onError).finally(next);
    });
  };
  next();
  return () => {
    isOver = true;
    cancel();
  };
}
