import { ManagementError } from '../api/client/management-error.ts';
import type { QueueOptions } from './queue.ts';

/** Whether the API can be reached. */
export interface Reach {
  /** A call failed: where it got no answer the API is asked at once. */
  suspect(error: unknown): void;
  /** Whether it did not answer when it was last asked. */
  isAway(): boolean;
  stop(): void;
}

/** What this works with. */
export interface ReachOptions {
  /** Asks the API for anything; an answer of whatever sort is one. Throws ManagementError `unavailable` when there is none. */
  readonly ask: (signal: AbortSignal) => Promise<unknown>;
  /** Called when the API does not answer any more. */
  readonly onAway: () => void;
  /** Called when the API answers again after it did not. */
  readonly onReturn: () => void;
  readonly schedule: QueueOptions['schedule'];
}

/** Milliseconds from one question to the next while the API answers: where nothing changes nobody else would notice. */
const calmPeriod = 5_000;
/** While it does not, and for its answer: what waited for the API goes on within five seconds. */
const period = 2_000;

/**
 * Finds out soon that an API has gone, and that it is back. A box that fails waits longer and longer; one question for all of
 * them costs little enough to be asked every few seconds.
 */
export function watchReach({ ask, onAway, onReturn, schedule }: ReachOptions): Reach {
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
    isAway: () => away,
    stop() {
      stopping.abort(new Error('nobody waits for the API any more'));
      cancel();
    },
  };
}

async function doesAnswer(ask: ReachOptions['ask'], signal: AbortSignal): Promise<boolean> {
  try {
    await ask(signal);
    return true;
  } catch (error) {
    return error instanceof ManagementError && !isNoAnswer(error);
  }
}

function isNoAnswer(error: unknown): boolean {
  return error instanceof ManagementError && error.sort === 'unavailable';
}
