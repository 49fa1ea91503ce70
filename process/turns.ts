import { setImmediate } from 'node:timers/promises';

/** Milliseconds for which long work holds the event loop before others have their turn. */
const LONGEST_TURN = 10;

/**
 * Returns a function for long work to call between its parts: it lets the rest of the process run once this work has
 * held the event loop for 10 ms, and otherwise costs nothing.
 */
export function createTurns(now: () => number = () => performance.now()): () => Promise<void> | undefined {
  let began = now();
  const next = async (): Promise<void> => {
    await setImmediate();
    began = now();
  };
  return () => (now() - began < LONGEST_TURN ? undefined : next());
}
