import { ManagementError } from '../../api/client/management-error.ts';
import type { ApiAvailability } from './api-availability.ts';
import { followApi, type ApiFollower } from './api-recovery.ts';
import { defaultBackOff } from './back-off.ts';
import { emptyCache, type BoxCache } from './box-cache.ts';
import { claimedEpoch } from './claimed-epoch.ts';
import { keepClusterSettings, type ReadServiceAccounts } from '../cluster-settings.ts';
import { countConditions } from '../status/condition-counts.ts';
import { startDeadlines } from './deadlines.ts';
import { failureOf, type Failure } from './failure.ts';
import { keepHosts } from '../desired/host-keeper.ts';
import { createLargeTurns } from './large-turns.ts';
import { inAllBoxes, isMassDeletion, type Missing } from '../desired/mass-deletion-guard.ts';
import { reconcileBox } from './pass.ts';
import type { PassContext } from './pass-context.ts';
import { measured, noMeter, type PassMeter } from './pass-meter.ts';
import { createQueue, type QueueOptions } from './queue.ts';
import { createRequeueTimers } from './requeue-timers.ts';
import { repeat, visitBoxes, type SweepTimes } from './sweep.ts';

/** Keeps every box as declared, until it is stopped. */
export interface Reconciler {
  /** Resolves when every box has had its first pass, successful or not. */
  readonly firstRound: Promise<void>;
  /** Rejects when the reconciler cannot continue: another one has taken over (ManagementError `fenced`). */
  readonly failed: Promise<never>;
  /** Boxes whose last pass failed, with the error. */
  readonly failing: ReadonlyMap<string, unknown>;
  /** Requests a pass over everything in every box. */
  sweep(): Promise<void>;
  /** Retries the boxes whose last pass failed, without any wait. */
  retry(): void;
  /** Starts no more passes; resolves when the running ones have ended, aborted after `grace` milliseconds (0). */
  stop(grace?: number): Promise<void>;
}

/** Parts of the context of a pass that the reconciler provides. */
type OwnFacts =
  'epoch' | 'servesServiceAccounts' | 'hosts' | 'apiFault' | 'isCrowded' | 'isChangedMeanwhile' | 'isMuchMissing';

/** Dependencies of a reconciler: those of a pass (the epoch is claimed here), time, randomness and failure handling. */
export interface ReconcilerOptions extends Omit<PassContext, OwnFacts>, SweepTimes, ApiFollower {
  /** Reads the issuer and keys of ServiceAccount tokens; absent if there are none. */
  readonly readServiceAccounts?: ReadServiceAccounts;
  /** Called on every failed pass, with the milliseconds that the box waits. */
  readonly onFailure: (box: string, error: unknown, wait: number) => void;
  /** Milliseconds that a deleted object waits for an API that cannot be reached; 60,000 by default. */
  readonly holdLimit?: number;
  /** Measures passes. */
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
  const { meter = noMeter, holdLimit = 60_000 } = options;
  const epoch = claimedEpoch(() => options.management.claimEpoch(options.cluster, signal, options.adopts));
  const caches = new Map<string, BoxCache>();
  const sweepDue = new Set<string>();
  /** Boxes whose last pass failed, with the error. */
  const failing = new Map<string, unknown>();
  const failure = quietFailure();

  const onServed = (): void => caches.forEach((_, box) => queue.add(box));
  const settings = keepClusterSettings({ ...options, epoch, onServed, onFenced: failure.reject }, signal);
  const { missing, conditions } = readingsOf(caches);
  const lookAgain = (box: string): void => {
    sweepDue.add(box);
    queue.add(box);
  };
  const { finalizers, hosts: granted } = options.source;
  const hosts = granted && keepHosts({ ...options, hosts: granted, epoch, onChange: lookAgain });
  const context: PassContext = {
    ...options,
    ...settings,
    epoch,
    hosts,
    isCrowded: () => queue.held > 0,
    isChangedMeanwhile: (box) => queue.isAddedAgain(box),
    isMuchMissing: () => isMassDeletion(missing()),
    apiFault: () => reach.fault(),
  };
  const timing = { ...options, clock: () => options.now().getTime() };
  const turns = createLargeTurns({ ...timing, wake: (box) => queue.add(box) });
  const queue = createQueue({
    ...timing,
    ...passing,
    async run(box) {
      const cache = caches.get(box) ?? emptyCache();
      caches.set(box, cache);
      const scope = sweepDue.delete(box) ? 'everything' : 'changes';
      const large = turns.begin(box);
      try {
        const left = await measured(meter, box, () => reconcileBox({ box, cache, scope, context, large, signal }));
        if (left === 'more') queue.add(box);
        large.end(true);
        succeeded(box);
        timers.runAt(box, cache.nextLook);
      } catch (error) {
        large.end(false);
        if (isFenced(error)) failure.reject(error);
        throw error;
      }
    },
    onFailure(box, error, wait) {
      sweepDue.add(box);
      failing.set(box, error);
      reach.suspect(error);
      if (!signal.aborted && !isFenced(error)) options.onFailure(box, error, wait);
    },
  });
  meter.measure(() => queue.waiting, missing, conditions);

  const timers = createRequeueTimers((box) => queue.add(box), options.now, options.schedule);
  const { reach, retry, succeeded } = followApi(options, caches, failing, (box) => queue.add(box));
  /** Handles a failure that concerns no single box. */
  function told(error: unknown, wait: number): void {
    reach.suspect(error);
    if (isFenced(error)) failure.reject(error);
    if (!signal.aborted) options.onFailure('', error, wait);
  }

  const cause = (box: string): Failure | undefined => causeOf(box, reach, failing);
  if (finalizers !== undefined) startDeadlines({ ...options, finalizers, holdLimit, failureOf: cause }, signal);

  async function sweep(): Promise<void> {
    await settings.refresh();
    await visitBoxes(context, caches, lookAgain, signal);
  }

  // Before the first sweep: changes during it must not be missed.
  const onChange = (box: string): void => {
    meter.heard(box);
    queue.add(box);
  };
  // Hosts are settled even if no box gets a pass. The next pass of any box, or the next sweep, retries a failure.
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
      for (const part of [reach, timers, turns]) part.stop();
      await stopWithin(grace, queue.stop(), stopping, options.schedule);
    },
  };
}

/** Returns why the declarations of a box cannot be carried out at present; undefined if they can. */
function causeOf(
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

/** Returns the readings of a meter over all boxes. */
function readingsOf(caches: ReadonlyMap<string, BoxCache>) {
  return {
    missing: (): Missing => inAllBoxes(caches.values()),
    conditions: () => countConditions(caches.values()),
  };
}

/** Lets running passes end within `grace` milliseconds, then aborts them. */
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

function isFenced(error: unknown): boolean {
  return error instanceof ManagementError && error.code === 'fenced';
}
