import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { BoundedMap } from '../../program/bounded-map.ts';
import { isGeneratedSecret, generatedSecretText } from '../../crds/generated-secret-text.ts';
import { Problem } from '../problem.ts';
import type { Sharer } from '../shares/fair-queue.ts';
import type { HashQueue } from './hash-queue.ts';
import { randomPart } from './token-text.ts';

const sha256Prefix = '$sha256$';
const argon2idPrefix = '$argon2id$';

/** The limits on a request that verifies a secret. */
export interface GuessLimits {
  /**
   * True if its address has failed too often and did not authenticate the client recently: the text is not compared
   * with the remembered secret either, because that would allow unlimited guesses at a chosen one.
   */
  readonly isHeldBack: boolean;
  /**
   * Admits a text before argon2 verifies it, and returns its sharer of argon2. An error that it throws ends the
   * verification.
   */
  begin(): Promise<Sharer>;
  /** Called if the text is a secret that was verified before. */
  recognized(): void;
}

/** Creates and verifies the stored form of client secrets. */
export interface ClientSecrets {
  /**
   * Returns the stored form: `$sha256$<hex>` of a generated secret, an argon2id PHC string of a chosen one. A PHC
   * string stays unchanged: the rules of a Client have validated its cost.
   */
  store(secret: string, sharer?: Sharer): Promise<string>;
  /**
   * Returns the stored secret that matches, undefined if none does; an empty list takes the same path, and time, as one
   * generated secret. The limits do not apply to a generated secret. Throws Outage, Problem `throttled`, and errors of
   * `limits`.
   */
  verify(stored: readonly string[], secret: string, limits?: GuessLimits): Promise<string | undefined>;
}

/** Maximum number of chosen secrets remembered as verified: a replica pays argon2 once for each client and change. */
const rememberedLimit = 100_000;

/** No secret has this hash: an unknown client's request is compared with it, so that it takes the usual path (T-03). */
const nobody: readonly string[] = [sha256Prefix + randomBytes(32).toString('hex')];

/** Creates client secrets on a queue of argon2 threads; remembers verified ones under a key of this process. */
export function createClientSecrets(queue: HashQueue): ClientSecrets {
  const processKey = randomBytes(32);
  const remembered = new BoundedMap<string>(rememberedLimit);
  const underWay = new Map<string, Map<string, Promise<boolean>>>();

  function mark(secret: string): string {
    return hash('sha256', Buffer.concat([processKey, Buffer.from(secret, 'utf8')]), 'hex');
  }

  /** Verifies a chosen secret, remembered for its stored string and salt: a changed secret is verified again. */
  async function verifyChosen(stored: string, secret: string, limits?: GuessLimits): Promise<boolean> {
    const known = remembered.get(stored);
    const marked = mark(secret);
    if (known !== undefined && limits?.isHeldBack !== true && equal(known, marked)) {
      limits?.recognized();
      return true;
    }
    const right = await verifyOnce(stored, secret, marked, limits);
    if (right) remembered.setNewest(stored, marked);
    return right;
  }

  /**
   * Verifies a secret once for concurrent requests, such as a busy client's first ones to a new replica. If the limits
   * on the first of them refuse it, the others try again, once, by their own.
   */
  async function verifyOnce(stored: string, secret: string, marked: string, limits?: GuessLimits): Promise<boolean> {
    try {
      const running = underWay.get(stored)?.get(marked);
      if (running !== undefined) return await running;
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'throttled') throw error;
    }
    return joinOrVerify(stored, secret, marked, limits);
  }

  async function joinOrVerify(stored: string, secret: string, marked: string, limits?: GuessLimits): Promise<boolean> {
    const ofSecret = underWay.get(stored) ?? new Map<string, Promise<boolean>>();
    const running = ofSecret.get(marked);
    if (running !== undefined) return running;
    const verifying = verifyNow(stored, secret, limits).finally(() => {
      ofSecret.delete(marked);
      if (ofSecret.size === 0) underWay.delete(stored);
    });
    underWay.set(stored, ofSecret.set(marked, verifying));
    return verifying;
  }

  async function verifyNow(stored: string, secret: string, limits?: GuessLimits): Promise<boolean> {
    const sharer = await limits?.begin();
    return queue.verify(stored, secret, sharer === undefined ? {} : { sharer });
  }

  return {
    async store(secret, sharer) {
      if (secret.startsWith(argon2idPrefix)) return secret;
      return isGeneratedSecret(secret) ? sha256(secret) : queue.hash(secret, sharer);
    },
    async verify(stored, secret, limits) {
      for (const one of stored.length === 0 ? nobody : stored) {
        const right = one.startsWith(sha256Prefix)
          ? equal(one, sha256(secret))
          : await verifyChosen(one, secret, limits);
        if (right) return one;
      }
      return undefined;
    },
  };
}

function sha256(secret: string): string {
  return sha256Prefix + hash('sha256', secret, 'hex');
}

/** Creates a client secret with 256 random bits. */
export function generateClientSecret(): string {
  return generatedSecretText(randomPart(32));
}

/** Checks whether two texts are equal, in a time that depends on their lengths only. */
export function equal(left: string, right: string): boolean {
  const a = Buffer.from(left, 'utf8');
  const b = Buffer.from(right, 'utf8');
  return a.length === b.length && timingSafeEqual(a, b);
}
