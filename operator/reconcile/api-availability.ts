import { ManagementError } from '../../api/client/management-error.ts';
import { createDeadline } from '../../program/scheduling.ts';
import type { QueueOptions } from './work-queue.ts';

/** Reachability of the API. */
export interface ApiAvailability {
  /** Notes that the API has served a pass. */
  noteServed(): void;
  /** Returns why the API could not serve the last time; undefined if it could. */
  fault(): string | undefined;
  stop(): void;
}

/** Dependencies of the reachability check. */
export interface ApiAvailabilityOptions {
  /** Calls the API; any answer will do. Throws ManagementError `unavailable` if there is none. */
  readonly ask: (signal: AbortSignal) => Promise<unknown>;
  /**
   * Called when the API stops answering, and when the reason of that has changed for longer than one check. `isNew`: it
   * has served before, so an outage begins. In a new installation the API begins after the operator.
   */
  readonly onAway: (fault: string, isNew: boolean) => void;
  /** Called when the API answers again. */
  readonly onReturn: () => void;
  readonly schedule: QueueOptions['schedule'];
}

/** Milliseconds between two checks, and limit of an answer: work resumes within five seconds. */
const period = 2_000;

/**
 * Detects soon that an API is away, and that it is back. A failing box waits longer and longer; one check for all of
 * them is cheap enough to be repeated every few seconds.
 */
export function watchApiAvailability({ ask, onAway, onReturn, schedule }: ApiAvailabilityOptions): ApiAvailability {
  const stopping = new AbortController();
  let reported: string | undefined;
  let hasServed = false;
  let last: string | undefined;
  let cancel = (): void => undefined;

  async function look(): Promise<void> {
    const deadline = createDeadline(period, () => new Error('no answer in time'));
    const fault = await faultOf(ask, AbortSignal.any([stopping.signal, deadline.signal]));
    deadline.lift();
    if (stopping.signal.aborted) return;
    const [before, seen] = [reported, last];
    last = fault;
    // Replicas may differ in their reasons: one that comes and goes is not reported.
    if (fault === undefined || before === undefined || fault === seen) reported = fault;
    cancel = schedule(period, () => void look());
    if (reported !== undefined && reported !== before) onAway(reported, before === undefined && hasServed);
    hasServed ||= fault === undefined;
    if (reported === undefined && before !== undefined) onReturn();
  }

  cancel = schedule(period, () => void look());
  return {
    noteServed: () => void (hasServed = true),
    fault: () => reported,
    stop() {
      stopping.abort(new Error('nobody waits for the API any more'));
      cancel();
    },
  };
}

/** Returns why the API cannot serve; undefined if it can, or refuses this call alone. */
async function faultOf(ask: ApiAvailabilityOptions['ask'], signal: AbortSignal): Promise<string | undefined> {
  try {
    await ask(signal);
    return undefined;
  } catch (error) {
    if (error instanceof ManagementError && error.code !== 'unavailable') return undefined;
    return error instanceof Error ? error.message : String(error);
  }
}
