import { ManagementError } from '../api/client/management-error.ts';
import { defaultBackOff, waitAfter, type BackOff } from './back-off.ts';
import { emptyMemory, type BoxMemory } from './box-memory.ts';
import { claimedEpoch } from './claimed-epoch.ts';
import { keepClusterSettings, type ReadServiceAccounts } from './cluster-settings.ts';
import { countConditions } from './condition-counts.ts';
import { startDeadlines } from './deadlines.ts';
import { keepHosts } from './host-keeper.ts';
import { inAllBoxes, isTooMuch, type Missing } from './missing.ts';
import { reconcileBox } from './pass.ts';
import type { PassContext } from './pass-context.ts';
import { measured, noMeter, type PassMeter } from './pass-meter.ts';
import { createQueue, type QueueOptions } from './queue.ts';
import { watchReach, type Reach } from './reach.ts';
import { createWakeUps } from './wake-ups.ts';

/** Keeps every box as it is declared, until it is stopped. */
export interface Reconciler {
  /** Resolves when every box has had its first pass, whether it went well or not. */
  readonly firstRound: Promise<void>;
  /** Rejects when the reconciler cannot go on: somebody else has taken over (ManagementError `fenced`). */
  readonly failed: Promise<never>;
  /** Boxes whose last pass failed. */
  readonly failing: ReadonlySet<string>;
  /** Looks at everything in every box, soon. */
  sweep(): Promise<void>;
  /** Tries the boxes again whose last pass failed, without any wait. */
  retry(): void;
  /** Begins no more passes, and resolves when the running ones have ended; after `grace` milliseconds (0) they are cut short. */
  stop(grace?: number): Promise<void>;
}

/** What a reconciler works with: what a pass does (the epoch is claimed here), time, chance, and who hears of failures. */
export interface ReconcilerOptions extends Omit<PassContext, 'epoch' | 'servesServiceAccounts' | 'hosts'> {
  /** Who makes the tokens of ServiceAccounts; absent where there are none. */
  readonly readServiceAccounts?: ReadServiceAccounts;
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

/** Of the queue: passes at once, and how failed ones wait. */
const passing = { concurrency: 2, backOff: defaultBackOff } as const;
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
  const failure = quietFailure();

  const onServed = (): void => memories.forEach((_, box) => queue.add(box));
  const settings = keepClusterSettings({ ...options, epoch, onServed, onFenced: failure.reject }, signal);
  const { missing, conditions } = readingsOf(memories);
  const around = { isCrowded: () => queue.held > 0, isMuchMissing: () => isTooMuch(missing()) };
  const lookAgain = (box: string): void => {
    sweepDue.add(box);
    queue.add(box);
  };
  const { holds, hosts: granted } = options.source;
  const hosts = granted && keepHosts({ ...options, hosts: granted, epoch, onChange: lookAgain });
  const context: PassContext = { ...options, ...settings, epoch, hosts, ...around, isApiAway: () => reach.isAway() };
  const queue = createQueue({
    ...options,
    ...passing,
    clock: () => options.now().getTime(),
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
  meter.measure(() => queue.waiting, missing, conditions);

  const wakeUps = createWakeUps((box) => queue.add(box), options.now, options.schedule);
  const { reach, retry } = followApi(options, memories, failing, (box) => queue.add(box));
  /** Hears of a failure that concerns no single box. */
  function told(error: unknown, wait: number): void {
    reach.suspect(error);
    if (isFenced(error)) failure.reject(error);
    if (!signal.aborted) options.onFailure('', error, wait);
  }

  const isFailing = (box: string): boolean => reach.isAway() || failing.has(box);
  if (holds !== undefined) startDeadlines({ ...options, holds, holdLimit, isFailing }, signal);

  async function sweep(): Promise<void> {
    await settings.refresh();
    await eachBox(context, memories, lookAgain, signal);
  }

  // Before the first sweep: what changes during it must not be missed.
  const onChange = (box: string): void => {
    meter.heard(box);
    queue.add(box);
  };
  // Also where no box is to have a pass. What fails is tried again by the next pass of any box, or the next sweep.
  options.source.watch(onChange, signal, () => void hosts?.settle(signal).catch((error: unknown) => told(error, 0)));
  const sweeps = repeat(sweep, options, told);
  return {
    firstRound: sweeps.first.then(() => queue.idle()),
    failed: failure.promise,
    failing,
    sweep,
    retry,
    async stop(grace = 0) {
      sweeps.cancel();
      for (const part of [reach, wakeUps]) part.stop();
      await stopWithin(grace, queue.stop(), stopping, options.schedule);
    },
  };
}

/** A promise that only rejects; nobody may be listening yet. */
function quietFailure(): PromiseWithResolvers<never> {
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined);
  return failure;
}

/** What a meter reads of all boxes. */
function readingsOf(memories: ReadonlyMap<string, BoxMemory>) {
  return {
    missing: (): Missing => inAllBoxes(memories.values()),
    conditions: () => countConditions(memories.values()),
  };
}

/** Every box that is declared or that the database has; those that are declared also where the API is away. Throws ManagementError. */
async function eachBox(
  context: PassContext,
  memories: Map<string, BoxMemory>,
  lookAgain: (box: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const declared = await context.source.boxes(signal);
  let stored: readonly string[] = [];
  try {
    stored = await storedBoxes(context, signal);
    rememberEmpty(declared, stored, memories);
  } finally {
    for (const box of new Set([...declared, ...stored])) lookAgain(box);
  }
}

/** The boxes in which the database says that this cluster declares something, once their hosts are assigned. */
async function storedBoxes(
  { source, management, cluster, epoch, hosts }: PassContext,
  signal: AbortSignal,
): Promise<readonly string[]> {
  // From now on every call of an older leader is refused.
  await epoch(signal);
  await hosts?.resend(signal);
  const stored = await management.declaredBoxes(cluster, signal);
  // A box whose namespace is missing is nobody's until that is there again.
  return stored.filter(({ box, missing }) => missing !== true || source.isListed?.(box) === true).map(({ box }) => box);
}

/** Of a box that the database does not have nothing needs to be asked. */
function rememberEmpty(declared: readonly string[], stored: readonly string[], memories: Map<string, BoxMemory>): void {
  const known = new Set(stored);
  for (const box of declared) {
    if (!known.has(box) && !memories.has(box)) memories.set(box, { ...emptyMemory(), known: true });
  }
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

/** Finds out whether the API answers. When that changes, the boxes that failed are tried, and Boxes tell of it. */
function followApi(
  { management, schedule }: ReconcilerOptions,
  memories: ReadonlyMap<string, BoxMemory>,
  failing: ReadonlySet<string>,
  add: (box: string) => void,
): { readonly reach: Reach; readonly retry: () => void } {
  const retry = (): void => [...removalsFirst([...failing], memories), ...withBox(memories)].forEach(add);
  const ask = (signal: AbortSignal): Promise<void> => management.ready(signal);
  return { reach: watchReach({ ask, onAway: () => withBox(memories).forEach(add), onReturn: retry, schedule }), retry };
}

/** The boxes that have a Box, whose status tells of the API. */
function withBox(memories: ReadonlyMap<string, BoxMemory>): readonly string[] {
  const has = ({ objects }: BoxMemory): boolean => [...objects.values()].some(({ object }) => object.kind === 'Box');
  return [...memories].flatMap(([box, memory]) => (has(memory) ? [box] : []));
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
