import { hash } from 'node:crypto';
import type { StoredPassword } from '../db/user.ts';
import type { Sharer } from '../shares/places.ts';
import { deriveKey } from './derived-key.ts';
import type { HashQueue } from './hash-queue.ts';

/** Makes and checks the stored form of people's passwords. */
export interface Passwords {
  /** argon2id with the newest pepper. Throws Problem `throttled` and Outage as {@link HashQueue.hashPeppered}. */
  store(password: string, sharer?: Sharer): Promise<StoredPassword>;
  /**
   * Whether a password is the stored one; with nobody's (undefined) it is not, after the same time, so that an account
   * that is not there is not told from a wrong password. Throws as {@link HashQueue.verify} does.
   */
  verify(stored: StoredPassword | undefined, password: string, sharer?: Sharer): Promise<boolean>;
}

interface Pepper {
  /** What the stored form calls it. */
  readonly name: string;
  readonly bytes: Buffer;
}

/**
 * Passwords on the queue of argon2 threads. The peppers are derived from the installation's keys, the newest first: a
 * database alone, without that key, is not enough to try passwords against it.
 */
export function createPasswords(queue: HashQueue, keys: readonly [Buffer, ...Buffer[]]): Passwords {
  const [newest, ...older] = keys;
  const current = pepperOf(newest);
  const peppers = new Map([current, ...older.map(pepperOf)].map((pepper) => [pepper.name, pepper.bytes]));

  async function store(password: string, sharer?: Sharer): Promise<StoredPassword> {
    return { hash: await queue.hashPeppered(normal(password), current.bytes, sharer), pepper: current.name };
  }

  return {
    store,
    async verify(stored, password, sharer) {
      const pepper = peppers.get(stored?.pepper ?? current.name);
      const options = { pepper: pepper ?? current.bytes, ...(sharer && { sharer }) };
      const fits = await queue.verify(stored?.hash ?? nobody, normal(password), options);
      return fits && stored !== undefined && pepper !== undefined;
    },
  };
}

/** As expensive as any that {@link Passwords.store} makes, and no text is known that fits it. */
const nobody = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;

function pepperOf(key: Buffer): Pepper {
  const bytes = deriveKey(key, 'password pepper');
  return { name: hash('sha256', bytes, 'hex').slice(0, 16), bytes };
}

/** One keyboard writes é as one character, another one as two (RFC 8265 §4.2.2). */
function normal(password: string): string {
  return password.normalize('NFC');
}
