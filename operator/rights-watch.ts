import type { QueueOptions } from './reconcile/work-queue.ts';

/** Rights that the operator needs and lacks. */
export interface RightsWatch {
  /** Returns the names of the missing rights: `list clients.boxgate.dev`; empty until some are known to be missing. */
  missing(): readonly string[];
}

/** Dependencies of the watch. */
export interface RightsWatchOptions {
  /** Returns the missing rights. Throws if there is no answer: then the last result stays. */
  readonly ask: (signal: AbortSignal) => Promise<readonly string[]>;
  readonly schedule: QueueOptions['schedule'];
  /** Called after each check that finds rights missing; `isNew` if they are not the same as before. */
  readonly onMissing: (missing: readonly string[], isNew: boolean) => void;
  /** Called when none is missing any more. */
  readonly onReturn: () => void;
}

/** Milliseconds between two checks. */
const period = 5_000;
/** Milliseconds between two checks while a right is missing: waiting work resumes within two seconds. */
const hurried = 1_000;

/**
 * Checks the operator's rights for as long as it runs: a running watch continues without them, so nothing else would
 * show in time that statuses, finalizers or the next list are refused. Stops when aborted.
 */
export function watchRights(options: RightsWatchOptions, signal: AbortSignal): RightsWatch {
  let missing: readonly string[] = [];
  let cancel = (): void => undefined;

  async function look(): Promise<void> {
    const found = await options.ask(signal).catch(() => missing);
    if (signal.aborted) return;
    const [before, now] = [missing.join(), found.join()];
    missing = found;
    if (now !== '') options.onMissing(found, now !== before);
    else if (before !== '') options.onReturn();
    cancel = options.schedule(now === '' ? period : hurried, () => void look());
  }

  signal.addEventListener('abort', () => cancel(), { once: true });
  void look();
  return { missing: () => missing };
}
