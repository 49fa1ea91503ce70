import { setTimeout as sleep } from 'node:timers/promises';
import type { LoggedProcess } from '../../support/logged-process.ts';
import { demandNoSecrets } from '../../support/secrets-in.ts';

/** A program that is started again whenever it ends, as a kubelet does. */
export interface KeptProcess<T extends LoggedProcess> {
  /** The process that runs now; undefined while there is none. */
  readonly now: () => T | undefined;
  /** Returns how often it has ended. */
  readonly ends: () => number;
  /** Ends it for good. Throws when a secret was found in one of the logs. */
  stop(): Promise<void>;
}

/** Milliseconds from the end of a process to the start of the next one. */
const pause = 100;

/** Starts a program, waits until it has started once, and keeps it running. Throws what the first start threw. */
export async function keepRunning<T extends LoggedProcess>(start: () => Promise<T>): Promise<KeptProcess<T>> {
  let current: T | undefined = await start();
  let isOver = false;
  let ends = 0;
  const faults: unknown[] = [];

  async function keep(): Promise<void> {
    while (!isOver) {
      const running = current;
      await running?.ended;
      current = undefined;
      if (running !== undefined) look(running);
      if (stopped()) return;
      ends += 1;
      await sleep(pause);
      // What it needs may be away: it is tried again.
      current = await start().catch(() => undefined);
      if (stopped()) current?.signal('SIGKILL');
    }
    await current?.ended;
  }

  const stopped = (): boolean => isOver;

  function look({ lines }: T): void {
    try {
      demandNoSecrets(lines);
    } catch (error) {
      faults.push(error);
    }
  }

  const kept = keep();
  return {
    now: () => current,
    ends: () => ends,
    async stop() {
      isOver = true;
      // A frozen process ends of SIGKILL too.
      current?.signal('SIGKILL');
      await kept;
      if (faults.length > 0) throw faults[0];
    },
  };
}
