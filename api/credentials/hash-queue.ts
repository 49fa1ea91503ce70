import argon2 from 'argon2';
import { Outage } from '../db/outage.ts';

/** Argon2 behind a bound: it runs on a few threads at a time, and who comes when too many wait is told so at once. */
export interface HashQueue {
  /** argon2id PHC string of a text. Waits as long as it takes: its callers are few and trusted. */
  hash(text: string): Promise<string>;
  /**
   * Whether a text fits a PHC string; nothing fits one that argon2 cannot compute. Throws Outage when too many wait, and
   * when this one has waited too long.
   */
  verify(phc: string, text: string): Promise<boolean>;
  /** Texts that wait or run now. */
  readonly depth: number;
}

/** OWASP's first recommendation for argon2id: 19 MiB, two passes, one lane. */
export const argon2Parameters = { type: argon2.argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

type Start = () => void;

/**
 * Milliseconds that a verification may wait: longer than a queue full of our own hashes takes. Those from elsewhere may
 * cost twenty times as much, and nobody waits that long for a token.
 */
const defaultPatience = 5_000;

/**
 * Makes a queue on `threads` threads (one less than there are cores) in which at most `waiting` verifications wait, each
 * at most `patience` milliseconds.
 */
export function createHashQueue(threads: number, waiting: number, patience = defaultPatience): HashQueue {
  const verifications: Start[] = [];
  const hashes: Start[] = [];
  let running = 0;
  let hashIsNext = false;

  async function turn<T>(line: Start[], work: () => Promise<T>, longest?: number): Promise<T> {
    if (running < threads) running += 1;
    else await place(line, longest);
    try {
      return await work();
    } finally {
      const start = next();
      if (start === undefined) running -= 1;
      else start();
    }
  }

  /** By turns: ten thousand secrets being stored hold up no token request, and a flood of wrong ones no apply. */
  function next(): Start | undefined {
    const [first, second] = hashIsNext ? [hashes, verifications] : [verifications, hashes];
    hashIsNext = !hashIsNext;
    return first.shift() ?? second.shift();
  }

  return {
    get depth() {
      return running + verifications.length + hashes.length;
    },
    hash: (text) => turn(hashes, () => argon2.hash(text, argon2Parameters)),
    async verify(phc, text) {
      const full = running >= threads && verifications.length >= waiting;
      if (full) throw new Outage('too many secrets wait to be verified');
      return turn(verifications, () => fits(phc, text), patience);
    },
  };
}

/** Waits in a line until its turn comes; after `longest` milliseconds it leaves the line and throws Outage. */
function place(line: Start[], longest?: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      line.splice(line.indexOf(start), 1);
      reject(new Outage('a secret waited too long to be verified'));
    };
    const timer = longest === undefined ? undefined : setTimeout(leave, longest);
    const start = (): void => {
      clearTimeout(timer);
      resolve();
    };
    line.push(start);
  });
}

/** A hash made elsewhere may have parameters that argon2 refuses (fewer than 8 KiB a lane): no secret is its. */
async function fits(phc: string, text: string): Promise<boolean> {
  try {
    return await argon2.verify(phc, text);
  } catch (error) {
    if (error instanceof Error && /alloc/i.test(error.message))
      throw new Outage('no memory for argon2', { cause: error });
    return false;
  }
}
