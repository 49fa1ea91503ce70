import type { LoggedProcess } from '../../support/logged-process.ts';

/** One process, its proxies, and the plan that may end it. */
export interface Started<Process extends LoggedProcess> {
  readonly process: Process;
  /** Tells whether a plan ended it. */
  readonly isCrashed: () => boolean;
  end(): Promise<void>;
}

/** A process that a write log's plan may end: there is always another. */
export interface Restarted<Process extends LoggedProcess> {
  /**
   * The one that serves now. One that was ended is waited for, and the next takes its place; throws when that fails,
   * and tries again with the next call.
   */
  present(): Promise<Process>;
  /** The last log lines of the one that serves now. */
  lastLines(): string;
  /** Returns the last log lines of processes that ended unexpectedly since the last query. */
  unplanned(): readonly string[];
  end(): Promise<void>;
}

/** Parts of a restarted process. */
export interface RestartOptions<Process extends LoggedProcess, One extends Started<Process>> {
  readonly name: string;
  readonly start: () => Promise<One>;
  /** Lets one that has started take the place of the one before. */
  readonly begin?: (one: One) => Promise<void>;
}

/** Starts a process, and one that waits to take its place: a start takes long. */
export async function startRestarted<Process extends LoggedProcess, One extends Started<Process>>(
  options: RestartOptions<Process, One>,
): Promise<Restarted<Process> & { readonly serving: () => One }> {
  const { name, start, begin } = options;
  let serving = await start();
  await begin?.(serving);
  let spare: Promise<One> | undefined = begun(start());
  let replacing: Promise<void> | undefined;
  let unplanned: string[] = [];

  const lastLines = () => serving.process.lines.slice(-10).join('; ');

  async function replace(): Promise<void> {
    const ended = `I11 the ${name} ended: ${lastLines()}`;
    if (!serving.isCrashed() && !unplanned.includes(ended)) unplanned.push(ended);
    await serving.end();
    const taken = spare ?? begun(start());
    spare = undefined;
    const next = await taken;
    try {
      await begin?.(next);
    } catch (error) {
      await next.end();
      throw error;
    }
    serving = next;
    // Not at the same time: they would take each other's processor.
    spare = begun(start());
  }

  return {
    async present() {
      if (replacing !== undefined || serving.isCrashed() || serving.process.hasEnded()) {
        await (replacing ??= replace().finally(() => (replacing = undefined)));
      }
      return serving.process;
    },
    serving: () => serving,
    lastLines,
    unplanned() {
      const told = unplanned;
      unplanned = [];
      return told;
    },
    async end() {
      await serving.end();
      await (await spare)?.end();
    },
  };
}

function begun<Thing>(making: Promise<Thing>): Promise<Thing> {
  // Who takes it hears of it.
  making.catch(() => undefined);
  return making;
}
