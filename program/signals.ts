import { Socket } from 'node:net';

/** Signals that end a program, with their numbers. */
const signals = { SIGTERM: 15, SIGINT: 2 } as const;

/** The part of a process that {@link endOnSignals} needs. */
interface Signalled {
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

/** Resolves when the process is asked to stop, even while it starts. Throws if the pipe cannot be watched. */
export function stopSignal(parentPipe: number | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (parentPipe !== undefined) onParentGone(parentPipe, resolve);
  process.once('SIGTERM', resolve);
  process.once('SIGINT', resolve);
  return promise;
}

/**
 * Calls back once the other end of an inherited pipe is closed: the parent is gone, even if it was killed. Throws an
 * Error of one sentence if the descriptor is not a pipe.
 */
export function onParentGone(descriptor: number, gone: () => void): void {
  const pipe = openPipe(descriptor);
  pipe.on('error', gone);
  pipe.on('close', gone);
  pipe.on('end', gone);
  pipe.resume();
  pipe.unref();
}

function openPipe(descriptor: number): Socket {
  try {
    return new Socket({ fd: descriptor, readable: true, writable: false });
  } catch (cause) {
    throw new Error(`Descriptor ${String(descriptor)} (BOXGATE_PARENT_PIPE) is no pipe that a parent opened`, {
      cause,
    });
  }
}
