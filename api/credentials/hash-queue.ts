import argon2 from 'argon2';
import { setTimeout as sleep } from 'node:timers/promises';
import { Outage } from '../db/core/outage.ts';
import { Problem } from '../problem.ts';
import { createFairQueue } from '../shares/fair-queue.ts';
import type { Sharer } from '../shares/fair-queue.ts';
import type { ResourceUse } from '../shares/resource-use.ts';

/** Argon2 on a few threads that boxes and addresses share; see {@link createHashQueue}. */
export interface HashQueue extends ResourceUse {
  /** Returns the argon2id PHC string of a text. Waits as long as it takes: a declared secret is never refused. */
  hash(text: string, sharer?: Sharer): Promise<string>;
  /** The same with a pepper, for uncounted callers. Throws Problem `throttled` and Outage as a {@link FairQueue}. */
  hashPeppered(text: string, pepper: Buffer, sharer?: Sharer): Promise<string>;
  /**
   * Checks whether a text matches a PHC string; none matches one that argon2 cannot compute. Throws Problem `throttled`
   * if its own box or address has used up its share, and Outage if too many wait.
   */
  verify(phc: string, text: string, options?: VerifyOptions): Promise<boolean>;
  /** Texts that wait or run now. */
  readonly depth: number;
}

/** Options of a verification. */
export interface VerifyOptions {
  readonly pepper?: Buffer;
  readonly sharer?: Sharer;
}

/** OWASP's first recommendation for argon2id: 19 MiB, two passes, one lane. */
export const argon2Parameters = { type: argon2.argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/**
 * Milliseconds that a text may wait: longer than a queue full of our own hashes takes. Foreign hashes may cost twenty
 * times as much, and no caller waits that long for a token.
 */
const defaultPatience = 5_000;

/**
 * Creates a queue on `threads` threads (one less than there are cores) in which at most `waiting` texts wait, each at
 * most `patience` milliseconds. Boxes, and addresses within a box, take turns by the time that argon2 took for them.
 */
export function createHashQueue(threads: number, waiting: number, patience = defaultPatience): HashQueue {
  const queue = createFairQueue(
    { resource: 'argon2', noun: 'the computation of a password hash' },
    { places: threads, waiting, patience, mostOfOne: Math.ceil(threads / 2) },
  );

  return {
    resource: queue.resource,
    uses: () => queue.uses(),
    refusals: () => queue.refusals(),
    get depth() {
      return queue.depth;
    },
    async hash(text, sharer = ownWork) {
      for (;;) {
        try {
          return await queue.run(sharer, () => argon2.hash(text, argon2Parameters));
        } catch (error) {
          if (!isRefusal(error)) throw error;
          await sleep(pause);
        }
      }
    },
    hashPeppered: (text, pepper, sharer = ownWork) =>
      queue.run(sharer, () => argon2.hash(text, { ...argon2Parameters, secret: pepper })),
    verify: (phc, text, { pepper, sharer = ownWork } = {}) => queue.run(sharer, () => fits(phc, text, pepper)),
  };
}

/** The sharer of work that no caller of the public port requests. */
const ownWork: Sharer = { box: '', member: '' };

/** Milliseconds before a secret that was refused a place tries again. */
const pause = 50;

function isRefusal(error: unknown): boolean {
  return error instanceof Outage || (error instanceof Problem && error.code === 'throttled');
}

/** Verifies a text. A foreign hash may have parameters that argon2 refuses (under 8 KiB a lane): no secret matches. */
async function fits(phc: string, text: string, pepper: Buffer | undefined): Promise<boolean> {
  try {
    return await argon2.verify(phc, text, pepper === undefined ? {} : { secret: pepper });
  } catch (error) {
    if (error instanceof Error && /alloc/i.test(error.message))
      throw new Outage('no memory for argon2', { cause: error });
    return false;
  }
}
