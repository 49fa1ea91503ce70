import { ManagementError } from '../../api/client/management-error.ts';
import { watchApiAvailability, type ApiAvailability } from './api-availability.ts';
import { defaultBackOff, WorkQueue, type QueueOptions } from './work-queue.ts';
import { destinationOf, emptyCache, type BoxCache } from './box-cache.ts';
import { createClusterSettings, type ReadServiceAccounts, createJobs, SWEEP } from './sweep.ts';
import { startDeadlines } from './deadlines.ts';
import { failureOf, type Failure } from '../status/reconcile-result.ts';
import { keepHosts } from '../desired/hosts.ts';
import { inAllBoxes, isMassDeletion } from './deletion.ts';
import { reconcileBox } from './pass.ts';
import type { Remainder } from './statuses.ts';
import type { PassContext } from './box-pass.ts';

/** Keeps every box as declared, until it is stopped. */
export interface Reconciler {
  /** Resolves when every box has had its first pass, successful or not. */
  readonly firstRound: Promise<void>;
  /** Rejects when the reconciler cannot continue: another one has taken over (ManagementError `fenced`). */
  readonly failed: Promise<never>;
  /** Boxes whose last pass failed, with the error. */
  readonly failing: ReadonlyMap<string, unknown>;
  /** Requests a pass over everything in every box. */
  sweep(): void;
  /** Retries the boxes whose last pass failed, without any wait. */
  retry(): void;
  /** Starts no more passes; resolves when the running ones have ended, aborted after `grace` milliseconds (0). */
  stop(grace?: number): Promise<void>;
}

/** Measures the passes of a reconciler. */
export interface PassMeter {
  /** Sets the sources of its readings: the number of boxes that wait for their pass, and what is known of each box. */
  measure(waiting: () => number, boxes: () => Iterable<BoxCache>): void;
  /** Notes a change in a box. */
  heard(box: string): void;
  /** Notes the start of a pass; the returned function notes its end, successful or not. */
  begin(box: string): (isGood: boolean) => void;
}

/** Parts of the context of a pass that the reconciler provides. */
type OwnFacts = 'epoch' | 'servesServiceAccounts' | 'hosts' | 'apiFault' | 'isMuchMissing';

/** Dependencies of a reconciler: those of a pass (the epoch is claimed here), time, randomness and failure handling. */
export interface ReconcilerOptions extends Omit<PassContext, OwnFacts>, Pick<QueueOptions, 'schedule'> {
  /** Reads the issuer and keys of ServiceAccount tokens; absent if there are none. */
  readonly readServiceAccounts?: ReadServiceAccounts;
  /** Milliseconds between two sweeps; spread by up to a tenth. */
  readonly sweepPeriod: number;
  /** Called on every failure (an empty box: it concerns no single one), with the milliseconds until the next try. */
  readonly onFailure: (box: string, error: unknown, wait: number) => void;
  /** Called once for each outage of the API, with its first reason. */
  readonly onApiAway?: (fault: string) => void;
  /** Milliseconds that a deleted object waits for an API that cannot be reached; 60,000 by default. */
  readonly holdLimit?: number;
  readonly meter?: PassMeter;
}

/** Settings of the queue: concurrent passes, and the back-off of failed ones. */
const passing = { concurrency: 2, backOff: defaultBackOff } as const;

/**
 * Claims the next epoch and starts. While the API cannot be reached no epoch is claimed and every pass fails: this is
 * retried forever, and nothing is reconciled under an epoch that was never claimed.
 */
export function startReconciler(options: ReconcilerOptions): Reconciler {
  const stopping = new AbortController();
  const { signal } = stopping;
  const { meter, holdLimit = 60_000, source, management, schedule, sweepPeriod } = options;
  const epoch = claimedEpoch(() => management.claimEpoch(options.cluster, signal, options.adopts));
  const caches = new Map<string, BoxCache>();
  const sweepDue = new Set<string>();
  const failing = new Map<string, unknown>();
  const failure = quietFailure();
  const settings = createClusterSettings({ ...options, epoch });
  const compare = (box: string): void => {
    sweepDue.add(box);
    queue.add(box);
  };
  const hosts = source.hosts && keepHosts({ ...options, hosts: source.hosts, epoch, onChange: compare });
  const context: PassContext = {
    ...options,
    epoch,
    hosts,
    servesServiceAccounts: settings.isServed,
    isMuchMissing: () => isMassDeletion(inAllBoxes(caches.values())),
    apiFault: () => reach.fault(),
  };

  async function reconcile(box: string): Promise<void> {
    const cache = caches.get(box) ?? emptyCache();
    caches.set(box, cache);
    const scope = sweepDue.delete(box) ? 'everything' : 'changes';
    const remainder = await measured(meter, box, () => reconcileBox({ box, cache, scope, context, signal }));
    if (remainder === 'more') queue.add(box);
    else if (cache.nextLook !== undefined) queue.addAfter(box, cache.nextLook - options.now().getTime());
    failing.delete(box);
    reach.noteServed();
    if (destinationOf(cache) !== undefined) moves.add(box);
  }
  const { jobs, firstSweep } = createJobs({ context, settings, caches, compare, sweepPeriod, signal });

  /** Handles a failure; `box` is empty if it concerns no single one. */
  function onFailure(box: string, error: unknown, wait: number): void {
    if (error instanceof ManagementError && error.code === 'fenced') failure.reject(error);
    else if (!signal.aborted) options.onFailure(box, error, wait);
  }
  const queue: WorkQueue = new WorkQueue({
    ...options,
    ...passing,
    run: (key) => jobs.get(key)?.(queue) ?? reconcile(key),
    onFailure(key, error, wait) {
      const isJob = jobs.has(key);
      if (!isJob) failing.set(key, error);
      if (!isJob) sweepDue.add(key);
      onFailure(isJob ? '' : key, error, wait);
    },
  });
  const moves = createMoves({ ...options, epoch, caches, onMoved: (box) => queue.add(box), onFailure }, signal);
  meter?.measure(
    () => queue.waiting,
    () => caches.values(),
  );

  const retry = (): void => {
    for (const [box, { deletions }] of caches) if (deletions.hasPending && failing.has(box)) queue.add(box);
    queue.retry();
    for (const box of withBox(caches)) queue.add(box);
  };
  const reach = watchApiAvailability({
    ask: (stop) => management.ready(stop),
    onAway(fault, isNew) {
      for (const box of withBox(caches)) queue.add(box);
      if (isNew) options.onApiAway?.(fault);
    },
    onReturn: retry,
    schedule,
  });
  const { finalizers } = source;
  const causeOf = (box: string): Failure | undefined => currentFailure(box, reach, failing);
  if (finalizers !== undefined) startDeadlines({ ...options, finalizers, holdLimit, failureOf: causeOf }, signal);

  // Before the first sweep: changes during it must not be missed.
  const onChange = (box: string): void => {
    meter?.heard(box);
    queue.add(box);
  };
  // Hosts are settled even if no box gets a pass. The next pass of any box, or the next sweep, retries a failure.
  source.watch(onChange, signal, () => void hosts?.settle(signal).catch((error: unknown) => onFailure('', error, 0)));
  queue.add(SWEEP);
  return {
    firstRound: firstSweep.then(() => queue.idle()),
    failed: failure.promise,
    failing,
    sweep: () => queue.add(SWEEP),
    retry,
    async stop(grace = 0) {
      reach.stop();
      await stopWithin(grace, Promise.all([queue.stop(), moves.stop()]), stopping, schedule);
    },
  };
}

/** Dependencies of moves. */
interface MovesOptions extends Pick<ReconcilerOptions, 'management' | 'cluster' | 'random' | 'schedule' | 'onFailure'> {
  readonly epoch: () => Promise<number>;
  readonly caches: ReadonlyMap<string, BoxCache>;
  readonly onMoved: (box: string) => void;
}

/**
 * Returns a queue of boxes, each of which is moved to the database that its Namespace wants. Passes do not wait for it:
 * a move may take minutes.
 */
function createMoves({ management, cluster, epoch, caches, onMoved, ...options }: MovesOptions, signal: AbortSignal) {
  async function run(box: string): Promise<void> {
    const cache = caches.get(box);
    const database = cache && destinationOf(cache);
    if (cache === undefined || database === undefined) return;
    cache.stored.database = await management.move(box, { cluster, epoch: await epoch(), database }, signal);
    onMoved(box);
  }
  return new WorkQueue({ ...options, ...passing, concurrency: 1, run });
}

async function measured(meter: PassMeter | undefined, box: string, pass: () => Promise<Remainder>): Promise<Remainder> {
  const ended = meter?.begin(box);
  let remainder: Remainder | undefined;
  try {
    return (remainder = await pass());
  } finally {
    ended?.(remainder !== undefined);
  }
}

/**
 * Returns a function that claims the epoch of this reconciler at its first call, once; after a failure, at the next
 * call. It throws what the claim throws.
 */
function claimedEpoch(claim: () => Promise<number>): () => Promise<number> {
  let claimed: Promise<number> | undefined;
  return async () => {
    const mine = (claimed ??= claim());
    try {
      return await mine;
    } catch (error) {
      if (claimed === mine) claimed = undefined;
      throw error;
    }
  };
}

/** Returns the boxes that have a Box, whose status reports whether the API answers. */
function withBox(caches: ReadonlyMap<string, BoxCache>): readonly string[] {
  const has = ({ declared: { objects } }: BoxCache): boolean =>
    [...objects.values()].some(({ object }) => object.kind === 'Box');
  return [...caches].flatMap(([box, cache]) => (has(cache) ? [box] : []));
}

/** Returns why the declarations of a box cannot be carried out at present; undefined if they can. */
function currentFailure(
  box: string,
  reach: Pick<ApiAvailability, 'fault'>,
  failing: Reconciler['failing'],
): Failure | undefined {
  if (reach.fault() !== undefined) return 'unreachable';
  return failing.has(box) ? failureOf(failing.get(box)) : undefined;
}

/** Returns a promise that only rejects, also while there is no listener yet. */
function quietFailure(): PromiseWithResolvers<never> {
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined);
  return failure;
}

/** Lets running passes end within `grace` milliseconds, then aborts them. */
async function stopWithin(
  grace: number,
  ended: Promise<unknown>,
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
