/** Signals that end a program, with their numbers. */
const signals = { SIGTERM: 15, SIGINT: 2 } as const;

/** The part of a process that {@link endOnSignals} needs. */
export interface Signalled {
  on(signal: keyof typeof signals, listener: () => void): unknown;
  listenerCount(signal: keyof typeof signals): number;
  exit(code: number): never;
}

/**
 * Makes SIGTERM and SIGINT end a process that does nothing about them itself, with 128 plus the signal's number. The
 * kernel ignores them in process 1 of a container, unless it has a listener; a command that stops by itself adds one.
 */
export function endOnSignals(process: Signalled): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(128 + signals[signal]);
    });
  }
}
