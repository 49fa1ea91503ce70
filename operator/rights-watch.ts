import type { QueueOptions } from './queue.ts';

/** What the operator may not do although it must. */
export interface RightsWatch {
  /** Names of the rights that it lacks: `list clients.boxgate.dev`; empty while nobody has said so. */
  missing(): readonly string[];
}

/** What this works with. */
export interface RightsWatchOptions {
  /** Asks which rights are missing. Throws where nobody answers: then what was known stays. */
  readonly ask: (signal: AbortSignal) => Promise<readonly string[]>;
  readonly schedule: QueueOptions['schedule'];
  /** Called as long as rights are missing, each time that was asked; `isNew` where they are other ones than before. */
  readonly onMissing: (missing: readonly string[], isNew: boolean) => void;
  /** Called when none is missing any more. */
  readonly onReturn: () => void;
}

/** Milliseconds from one question to the next. */
const period = 5_000;
/** While a right is missing: what waits for it goes on within two seconds. */
const hurried = 1_000;

/**
 * Asks for as long as the operator runs whether it has its rights: a watch that runs goes on without them, and so nothing
 * else would tell in time that statuses, finalizers or the next list are refused. Stops when aborted.
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
