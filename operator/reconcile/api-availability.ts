import { ManagementError } from '../../api/client/management-error.ts';
import type { QueueOptions } from './queue.ts';

/** Reachability of the API. */
export interface ApiAvailability {
  /** Notes a failed call: if it got no answer, the API is checked immediately. */
  suspect(error: unknown): void;
  /** Checks whether the API did not answer the last time. */
  isUnavailable(): boolean;
  stop(): void;
}

/** Dependencies of the reachability check. */
export interface ApiAvailabilityOptions {
  /** Calls the API; any answer will do. Throws ManagementError `unavailable` if there is none. */
  readonly ask: (signal: AbortSignal) => Promise<unknown>;
  /** Called when the API stops answering. */
  readonly onAway: () => void;
  /** Called when the API answers again. */
  readonly onReturn: () => void;
  readonly schedule: QueueOptions['schedule'];
}

/** Milliseconds between two checks while the API answers: without changes nothing else would notice a failure. */
const calmPeriod = 5_000;
/** Milliseconds between two checks while it does not, and limit of an answer: work resumes within five seconds. */
const period = 2_000;

/**
 * Detects soon that an API is away, and that it is back. A failing box waits longer and longer; one check for all of
 * them is cheap enough to be repeated every few seconds.
 */
export function watchApiAvailability({ ask, onAway, onReturn, schedule }: ApiAvailabilityOptions): ApiAvailability {
  const stopping = new AbortController();
  let isAsking = false;
  let away = false;
  let cancel = (): void => undefined;

  async function look(): Promise<void> {
    isAsking = true;
    const late = new AbortController();
    const spare = schedule(period, () => late.abort(new Error('no answer in time')));
    const answers = await doesAnswer(ask, AbortSignal.any([stopping.signal, late.signal]));
    spare();
    isAsking = false;
    if (stopping.signal.aborted) return;
    const wasAway = away;
    away = !answers;
    cancel = schedule(away ? period : calmPeriod, () => void look());
    if (away && !wasAway) onAway();
    if (wasAway && !away) onReturn();
  }

  cancel = schedule(calmPeriod, () => void look());
  return {
    suspect(error) {
      if (!isNoAnswer(error) || isAsking || away || stopping.signal.aborted) return;
      cancel();
      void look();
    },
    isUnavailable: () => away,
    stop() {
      stopping.abort(new Error('nobody waits for the API any more'));
      cancel();
    },
  };
}

async function doesAnswer(ask: ApiAvailabilityOptions['ask'], signal: AbortSignal): Promise<boolean> {
  try {
    await ask(signal);
    return true;
  } catch (error) {
    return error instanceof ManagementError && !isNoAnswer(error);
  }
}

function isNoAnswer(error: unknown): boolean {
  return error instanceof ManagementError && error.code === 'unavailable';
}
