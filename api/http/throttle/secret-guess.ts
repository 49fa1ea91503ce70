import type { CountedEvents } from '../../audit/counted-events.ts';
import type { FailureSlot } from '../../credentials/failure-slot.ts';
import { Problem } from '../../problem.ts';
import type { Sharer } from '../../shares/places.ts';
import { beginAttempt, endAll } from './attempt.ts';
import type { Attempt } from './attempt.ts';
import { hashSharer } from './hash-sharer.ts';
import { networkOf } from './network-of.ts';
import type { SharedFailures } from './failures-of-all-replicas.ts';
import type { KnownAddresses } from './known-addresses.ts';
import type { Throttle } from './throttle.ts';

/** Limits of guesses at the secrets of clients. */
export interface SecretLimits {
  readonly throttle: Throttle;
  /** Counted by the hour, in all replicas together. */
  readonly shared: SharedFailures;
  /** Addresses that authenticated a client in the last day. */
  readonly known: KnownAddresses;
  readonly slot: FailureSlot;
  /** Failures an hour at the chosen secret of one client, from all addresses; and from one that is known. */
  readonly perSecret: number;
  readonly events: Pick<CountedEvents, 'note'>;
}

/** The client that a secret is said to be of, and the address that sent it. */
interface Guessed {
  readonly box: string;
  readonly client: string;
  readonly address: string;
}

/** A guess at the secret of a client, wherever it is verified: the same limits, and the same counts of failures. */
export class SecretGuess {
  readonly #limits: SecretLimits;
  readonly #guessed: Guessed;
  #begun: Promise<readonly Attempt[]> | undefined;
  #attempts: readonly Attempt[] | undefined;
  #isRefused = false;

  constructor(limits: SecretLimits, guessed: Guessed) {
    this.#limits = limits;
    this.#guessed = guessed;
  }

  /** True if {@link begin} threw. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /**
   * Admits a chosen secret before argon2 verifies it, and returns its sharer of argon2: it counts as failed until its
   * end. Secrets after the first are the same guess. Throws Problem `throttled`, and Outage.
   */
  async begin(): Promise<Sharer> {
    if (this.#attempts === undefined) {
      this.#isRefused = true;
      // Concurrent calls share the attempts, because `end` is called only once.
      this.#attempts = await (this.#begun ??= begunAttempts(this.#limits, this.#guessed));
      this.#isRefused = false;
    }
    return hashSharer(this.#limits.throttle, this.#guessed.box, this.#guessed.address);
  }

  /** Counts a wrong secret: a chosen one that was begun, or a generated one, which argon2 never sees. Throws Outage. */
  async failed(): Promise<void> {
    const { secrets, addresses } = this.#limits.throttle;
    const { box, client, address } = this.#guessed;
    secrets.failed(box, client, address);
    if (this.#attempts === undefined) addresses.failed('', '', address);
    for (const attempt of this.#attempts ?? []) await attempt.failed();
  }

  /** Ends what was begun; call it exactly once. */
  end(): void {
    endAll(this.#attempts ?? []);
  }
}

async function begunAttempts(
  { throttle, shared, known, slot, perSecret }: SecretLimits,
  { box, client, address }: Guessed,
): Promise<readonly Attempt[]> {
  const { secrets, addresses } = throttle;
  if (secrets.begin(box, client, address) === undefined) {
    throw tooManyGuesses(secrets.allows(box, client, address) ? shortly : secrets.retryAfter);
  }
  const attempts: Attempt[] = [{ failed: () => undefined, end: () => secrets.end(box, client, address) }];
  try {
    attempts.push(beginAttempt(addresses, ['', '', address]));
    const subject = known.has(box, client, address)
      ? `known:${slot(box, client, networkOf(address))}`
      : `client:${client}`;
    attempts.push(await shared.begin(box, [{ subject, most: perSecret }]));
    return attempts;
  } catch (error) {
    endAll(attempts);
    throw error;
  }
}

/** Seconds until the verifications in progress have ended. */
const shortly = 1;

/** Creates the Problem `throttled` of too many guesses, with the wait in seconds. */
export function tooManyGuesses(seconds: number): Problem {
  const wait = `Too many failed attempts from this address; try again in ${String(seconds)} s`;
  return new Problem('throttled', wait, { 'Retry-After': String(seconds) });
}
