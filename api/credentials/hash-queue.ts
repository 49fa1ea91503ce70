import argon2 from 'argon2';
import { Outage } from '../db/outage.ts';
import { createWaitingLine } from './waiting-line.ts';
import type { Claim } from './waiting-line.ts';

/** Argon2 behind a bound: it runs on a few threads at a time, and who comes when too many wait is told so at once. */
export interface HashQueue {
  /** argon2id PHC string of a text. Waits as long as it takes: its callers are few and trusted. */
  hash(text: string): Promise<string>;
  /** The same with a pepper, for callers whom nobody counts. Throws Outage as {@link HashQueue.verify} does. */
  hashPeppered(text: string, pepper: Buffer): Promise<string>;
  /**
   * Whether a text fits a PHC string; nothing fits one that argon2 cannot compute. Throws Outage when too many wait, when
   * this one has waited too long, and when somebody who tried less often took its place.
   */
  verify(phc: string, text: string, options?: VerifyOptions): Promise<boolean>;
  /** Texts that wait or run now. */
  readonly depth: number;
}

/** How a text is verified. */
export interface VerifyOptions {
  readonly pepper?: Buffer;
  /**
   * How often the one who asks has tried lately, 0 when it is left out. Who tried less often comes first, and takes the
   * place of who tried more often when none is left: a stranger's guesses keep nobody out who comes from elsewhere.
   */
  readonly tries?: number;
  /** How many texts may be verified against this PHC string at once; any number when it is left out. */
  readonly mostOfOne?: number;
}

/** OWASP's first recommendation for argon2id: 19 MiB, two passes, one lane. */
export const argon2Parameters = { type: argon2.argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

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
  const verifications = createWaitingLine();
  const hashes = createWaitingLine();
  /** Of each PHC string, how many are being verified. */
  const underWay = new Map<string, number>();
  let running = 0;
  let hashIsNext = false;

  async function turn<T>(wait: () => Promise<void>, work: () => Promise<T>): Promise<T> {
    if (running < threads) running += 1;
    else await wait();
    try {
      return await work();
    } finally {
      if (!startNext()) running -= 1;
    }
  }

  /** By turns: ten thousand secrets being stored hold up no token request, and a flood of wrong ones no apply. */
  function startNext(): boolean {
    const [first, second] = hashIsNext ? [hashes, verifications] : [verifications, hashes];
    hashIsNext = !hashIsNext;
    return first.startNext() || second.startNext();
  }

  function demandPlace(phc: string, tries: number, mostOfOne: number): void {
    const ofOne = verifications.waitingFor(phc) + (underWay.get(phc) ?? 0);
    if (ofOne >= mostOfOne && !verifications.displace(tries, phc)) {
      throw new Outage('too many secrets of one client wait to be verified');
    }
    const full = running >= threads && verifications.length >= waiting;
    if (full && !verifications.displace(tries)) throw new Outage('too many secrets wait to be verified');
  }

  async function verifyNow(phc: string, text: string, pepper: Buffer | undefined): Promise<boolean> {
    underWay.set(phc, (underWay.get(phc) ?? 0) + 1);
    try {
      return await fits(phc, text, pepper);
    } finally {
      const others = (underWay.get(phc) ?? 1) - 1;
      if (others === 0) underWay.delete(phc);
      else underWay.set(phc, others);
    }
  }

  return {
    get depth() {
      return running + verifications.length + hashes.length;
    },
    hash: (text) =>
      turn(
        () => hashes.wait(anybody),
        () => argon2.hash(text, argon2Parameters),
      ),
    async hashPeppered(text, pepper) {
      if (running >= threads && hashes.length >= waiting) throw new Outage('too many passwords wait to be hashed');
      return turn(
        () => hashes.wait(anybody, patience),
        () => argon2.hash(text, { ...argon2Parameters, secret: pepper }),
      );
    },
    async verify(phc, text, { pepper, tries = 0, mostOfOne = Infinity } = {}) {
      demandPlace(phc, tries, mostOfOne);
      return turn(
        () => verifications.wait({ key: phc, tries }, patience),
        () => verifyNow(phc, text, pepper),
      );
    },
  };
}

const anybody: Claim = { key: '', tries: 0 };

/** A hash made elsewhere may have parameters that argon2 refuses (fewer than 8 KiB a lane): no secret is its. */
async function fits(phc: string, text: string, pepper: Buffer | undefined): Promise<boolean> {
  try {
    return await argon2.verify(phc, text, pepper === undefined ? {} : { secret: pepper });
  } catch (error) {
    if (error instanceof Error && /alloc/i.test(error.message))
      throw new Outage('no memory for argon2', { cause: error });
    return false;
  }
}
