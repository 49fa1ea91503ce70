/** The part of a process that {@link endOnSignals} needs. */
export type Signalled = Pick<NodeJS.Process, 'on' | 'listenerCount' | 'exit'>;

/**
 * Makes SIGTERM and SIGINT end a process that does nothing about them itself, with 128 plus the signal's number. The
 * kernel ignores them in process 1 of a container, unless it has a listener; a command that stops by itself adds one.
 */
export function endOnSignals(process: Signalled): void {
  for (const [signal, number] of [
    ['SIGTERM', 15],
    ['SIGINT', 2],
  ] as const) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(128 + number);
    });
  }
}
