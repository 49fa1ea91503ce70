/** Time limit of a piece of work. */
export interface Deadline {
  /** Aborted when the time has passed, with the error of the deadline as its reason. */
  readonly signal: AbortSignal;
  /** Ends the time limit: the signal is not aborted any more. */
  lift(): void;
}

/** Creates a deadline that passes after `limit` milliseconds; `reason` makes its error. */
export function createDeadline(limit: number, reason: () => Error): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(reason()), limit);
  return { signal: controller.signal, lift: () => clearTimeout(timer) };
}

/** Waits for work until the signal is aborted; throws what `reason` returns then, by default the signal's own. */
export async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  reason: () => unknown = () => signal.reason,
): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const stop = (): void => aborted.reject(reason());
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([aborted.promise, work]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
