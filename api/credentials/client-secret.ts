import { hash, randomBytes } from 'node:crypto';
import { isGeneratedSecret } from '../../crds/generated-secret-text.ts';
import { equal } from './equal.ts';
import type { HashQueue } from './hash-queue.ts';

const sha256Prefix = '$sha256$';
const argon2idPrefix = '$argon2id$';

/** See {@link ClientSecrets.verify}. */
export type OnGuess = () => number;

/** Makes and checks the stored form of client secrets. */
export interface ClientSecrets {
  /**
   * The stored form: `$sha256$<hex>` of a generated secret, an argon2id PHC string of a chosen one. One that is a PHC
   * string already stays as it is: the rules of a Client have judged its cost.
   */
  store(secret: string): Promise<string>;
  /**
   * The one of the stored secrets that a secret is, undefined when it is none; an empty list takes the same way, and time,
   * as one generated secret. `onGuess` hears of each argon2 verification before it begins, and tells how often the one who
   * asks has tried lately; what it throws stops that. Throws Outage.
   */
  verify(stored: readonly string[], secret: string, onGuess?: OnGuess): Promise<string | undefined>;
}

/** Chosen secrets remembered as verified at once: a replica pays argon2 once for each client and change. */
const rememberedLimit = 100_000;

/**
 * Different texts that may be verified against one stored secret at once: whoever guesses at one client must not fill
 * the queue that all clients share. The right one, once remembered, needs no place; before, it takes that of a guess from
 * an address that tried more often.
 */
const guessesAtOnce = 8;

/** No secret has this hash: an unknown client's request is compared with it, so that it takes the usual way (T-03). */
const nobody: readonly string[] = [sha256Prefix + randomBytes(32).toString('hex')];

/** Client secrets on a queue of argon2 threads; remembers verified ones in memory under a key of this process. */
export function createClientSecrets(queue: HashQueue): ClientSecrets {
  const processKey = randomBytes(32);
  const remembered = new Map<string, string>();
  const underWay = new Map<string, Map<string, Promise<boolean>>>();

  function mark(secret: string): string {
    return hash('sha256', Buffer.concat([processKey, Buffer.from(secret, 'utf8')]), 'hex');
  }

  /** Bound to the stored string, whose salt is its own: a changed secret is verified anew. */
  async function verifyChosen(stored: string, secret: string, onGuess?: OnGuess): Promise<boolean> {
    const known = remembered.get(stored);
    const marked = mark(secret);
    if (known !== undefined && equal(known, marked)) return true;
    const right = await verifyOnce(stored, secret, marked, onGuess);
    if (right) remember(stored, marked);
    return right;
  }

  /** A busy client's first requests to a new replica come together: they wait for one verification. */
  async function verifyOnce(stored: string, secret: string, marked: string, onGuess?: OnGuess): Promise<boolean> {
    const ofSecret = underWay.get(stored) ?? new Map<string, Promise<boolean>>();
    const running = ofSecret.get(marked);
    if (running !== undefined) return running;
    const options = { tries: onGuess?.() ?? 0, mostOfOne: guessesAtOnce };
    const verifying = queue.verify(stored, secret, options).finally(() => {
      ofSecret.delete(marked);
      if (ofSecret.size === 0) underWay.delete(stored);
    });
    underWay.set(stored, ofSecret.set(marked, verifying));
    return verifying;
  }

  function remember(stored: string, marked: string): void {
    const oldest = remembered.size >= rememberedLimit ? remembered.keys().next().value : undefined;
    if (oldest !== undefined) remembered.delete(oldest);
    remembered.set(stored, marked);
  }

  return {
    async store(secret) {
      if (secret.startsWith(argon2idPrefix)) return secret;
      return isGeneratedSecret(secret) ? sha256(secret) : queue.hash(secret);
    },
    async verify(stored, secret, onGuess) {
      for (const one of stored.length === 0 ? nobody : stored) {
        const right = one.startsWith(sha256Prefix)
          ? equal(one, sha256(secret))
          : await verifyChosen(one, secret, onGuess);
        if (right) return one;
      }
      return undefined;
    },
  };
}

function sha256(secret: string): string {
  return sha256Prefix + hash('sha256', secret, 'hex');
}
