import { hash } from 'node:crypto';
import type { StoredPassword } from '../db/user.ts';
import type { Sharer } from '../shares/fair-queue.ts';
import { deriveKey } from './key-sealing.ts';
import type { HashQueue } from './hash-queue.ts';

/** Creates and verifies the stored form of users' passwords. */
export interface Passwords {
  /** Hashes with argon2id and the newest pepper. Throws Problem `throttled`, Outage: {@link HashQueue.hashPeppered}. */
  store(password: string, sharer?: Sharer): Promise<StoredPassword>;
  /**
   * Checks whether a password is the stored one; without one (undefined) it fails after the same time, so that a
   * missing account is indistinguishable from a wrong password. Throws as {@link HashQueue.verify} does.
   */
  verify(stored: StoredPassword | undefined, password: string, sharer?: Sharer): Promise<boolean>;
}

interface Pepper {
  /** Name in the stored form. */
  readonly name: string;
  readonly bytes: Buffer;
}

/**
 * Creates passwords on the queue of argon2 threads. The peppers are derived from the installation's keys, the newest
 * first: the database alone, without that key, is not enough to test passwords against it.
 */
export function createPasswords(queue: HashQueue, keys: readonly [Buffer, ...Buffer[]]): Passwords {
  const [newest, ...older] = keys;
  const current = pepperOf(newest);
  const peppers = new Map([current, ...older.map(pepperOf)].map((pepper) => [pepper.name, pepper.bytes]));

  async function store(password: string, sharer?: Sharer): Promise<StoredPassword> {
    return { hash: await queue.hashPeppered(normalPassword(password), current.bytes, sharer), pepper: current.name };
  }

  return {
    store,
    async verify(stored, password, sharer) {
      const pepper = peppers.get(stored?.pepper ?? current.name);
      const options = { pepper: pepper ?? current.bytes, ...(sharer && { sharer }) };
      const fits = await queue.verify(stored?.hash ?? nobody, normalPassword(password), options);
      return fits && stored !== undefined && pepper !== undefined;
    },
  };
}

/** A hash as expensive as one from {@link Passwords.store}; no text is known that matches it. */
const nobody = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;

function pepperOf(key: Buffer): Pepper {
  const bytes = deriveKey(key, 'password pepper');
  return { name: hash('sha256', bytes, 'hex').slice(0, 16), bytes };
}

/** Normalizes a password: one keyboard writes é as one character, another one as two (RFC 8265 §4.2.2). */
export function normalPassword(password: string): string {
  return password.normalize('NFC');
}
