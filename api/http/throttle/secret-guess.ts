import type { CountedEvents } from '../../audit/counted-events.ts';
import type { FailureSlot } from '../../credentials/failure-slot.ts';
import { Problem } from '../../problem.ts';
import { beginAttempt, endAll } from './attempt.ts';
import type { Attempt } from './attempt.ts';
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

/** A chosen secret that is about to be verified: the client it is said to be of, and the address that sent it. */
export interface SecretGuess {
  readonly box: string;
  readonly client: string;
  readonly address: string;
}

/**
 * Begins a guess at a chosen secret, within all limits on them: it counts as failed until its attempts end. Throws
 * Problem `throttled`, and Outage.
 */
export async function beginSecretGuess(
  { throttle, shared, known, slot, perSecret }: SecretLimits,
  { box, client, address }: SecretGuess,
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
