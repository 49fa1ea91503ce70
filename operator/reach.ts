import { ManagementError } from '../api/client/management-error.ts';
import type { QueueOptions } from './queue.ts';

/** Whether the API can be reached. */
export interface Reach {
  /** A call failed: where it got no answer the API is asked from now on, until it answers. */
  suspect(error: unknown): void;
  /** Whether it did not answer when it was last asked. */
  isAway(): boolean;
  stop(): void;
}

/** What this works with. */
export interface ReachOptions {
  /** Asks the API for anything; an answer of whatever sort is one. Throws ManagementError `unavailable` when there is none. */
  readonly ask: (signal: AbortSignal) => Promise<unknown>;
  /** Called when the API answers again after it did not. */
  readonly onReturn: () => void;
  readonly schedule: QueueOptions['schedule'];
}

/** Milliseconds from one question to the next, and for its answer: what waited for the API goes on within five seconds. */
const period = 2_000;

/**
 * Finds out soon that an API is back that was away. A box that fails waits longer and longer; one question for all of them
 * costs little enough to be asked every two seconds.
 */
export function watchReach({ ask, onReturn, schedule }: ReachOptions): Reach {
  const stopping = new AbortController();
  let isAsking = false;
  let away = false;
  let cancel = (): void => undefined;

  async function look(): Promise<void> {
    const late = new AbortController();
    const spare = schedule(period, () => late.abort(new Error('no answer in time')));
    const answers = await doesAnswer(ask, AbortSignal.any([stopping.signal, late.signal]));
    spare();
    if (stopping.signal.aborted) return;
    const isBack = away && answers;
    away = !answers;
    if (away) cancel = schedule(period, () => void look());
    else isAsking = false;
    if (isBack) onReturn();
  }

  return {
    suspect(error) {
      if (!isNoAnswer(error) || isAsking || stopping.signal.aborted) return;
      isAsking = true;
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
