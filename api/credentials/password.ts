import { hash, hkdfSync } from 'node:crypto';
import type { StoredPassword } from '../db/user.ts';
import type { HashQueue } from './hash-queue.ts';

/** Makes and checks the stored form of people's passwords. */
export interface Passwords {
  /** argon2id with the newest pepper. Throws Outage when too many wait. */
  store(password: string): Promise<StoredPassword>;
  /**
   * Whether a password is the stored one; with nobody's (undefined) it is not, after the same time, so that an account
   * that is not there is not told from a wrong password. Throws Outage when too many wait.
   */
  verify(stored: StoredPassword | undefined, password: string): Promise<boolean>;
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

  async function store(password: string): Promise<StoredPassword> {
    return { hash: await queue.hashPeppered(normal(password), current.bytes), pepper: current.name };
  }

  return {
    store,
    async verify(stored, password) {
      const pepper = peppers.get(stored?.pepper ?? current.name);
      const fits = await queue.verify(stored?.hash ?? nobody, normal(password), { pepper: pepper ?? current.bytes });
      return fits && stored !== undefined && pepper !== undefined;
    },
  };
}

/** As expensive as any that {@link Passwords.store} makes, and no text is known that fits it. */
const nobody = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** HKDF (RFC 5869), so that nothing of the key itself can be learned from what argon2 does with it. */
function pepperOf(key: Buffer): Pepper {
  const bytes = Buffer.from(hkdfSync('sha256', key, '', 'boxgate password pepper', 32));
  return { name: hash('sha256', bytes, 'hex').slice(0, 16), bytes };
}

/** One keyboard writes é as one character, another one as two (RFC 8265 §4.2.2). */
function normal(password: string): string {
  return password.normalize('NFC');
}
