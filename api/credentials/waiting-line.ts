import { Outage } from '../db/outage.ts';

/** Who waits, and for what. */
export interface Claim {
  /** What it waits for: the same text for the same thing. */
  readonly key: string;
  /** How often the one who asks has tried lately: who tried less often comes first. */
  readonly tries: number;
}

/** Those that wait for one of few threads. */
export interface WaitingLine {
  readonly length: number;
  /** How many wait for one thing. */
  waitingFor(key: string): number;
  /** Waits for its turn. Throws Outage after `longest` milliseconds, and when another one took its place. */
  wait(claim: Claim, longest?: number): Promise<void>;
  /** Begins the turn of the next one; false when nobody waits. */
  startNext(): boolean;
  /**
   * Takes the place of the one who tried most often, the last come of equal ones, of all or of those that wait for one
   * thing; false when nobody tried more often than `tries`.
   */
  displace(tries: number, key?: string): boolean;
}

interface Waiting extends Claim {
  readonly start: () => void;
  readonly giveUp: (reason: string) => void;
}

/** A line in which nobody waits yet. */
export function createWaitingLine(): WaitingLine {
  const line: Waiting[] = [];

  function leave(one: Waiting): void {
    line.splice(line.indexOf(one), 1);
  }

  return {
    get length() {
      return line.length;
    },
    waitingFor: (key) => line.filter((one) => one.key === key).length,
    wait(claim, longest) {
      return new Promise((resolve, reject) => {
        const end = (finish: () => void): void => {
          clearTimeout(timer);
          leave(one);
          finish();
        };
        const giveUp = (reason: string): void => {
          end(() => {
            reject(new Outage(reason));
          });
        };
        const tooLong = (): void => {
          giveUp('a secret waited too long to be hashed or verified');
        };
        const timer = longest === undefined ? undefined : setTimeout(tooLong, longest);
        const one: Waiting = {
          ...claim,
          giveUp,
          start: () => {
            end(resolve);
          },
        };
        line.push(one);
      });
    },
    startNext() {
      const next = firstBy(line, (one, best) => one.tries < best.tries);
      next?.start();
      return next !== undefined;
    },
    displace(tries, key) {
      const among = key === undefined ? line : line.filter((one) => one.key === key);
      const last = firstBy(among, (one, worst) => one.tries >= worst.tries);
      if (last === undefined || last.tries <= tries) return false;
      last.giveUp('who tried less often took the place of a secret in the line to be verified');
      return true;
    },
  };
}

function firstBy(line: readonly Waiting[], isBefore: (one: Waiting, other: Waiting) => boolean): Waiting | undefined {
  let found = line[0];
  for (const one of line.slice(1)) if (found !== undefined && isBefore(one, found)) found = one;
  return found;
}
