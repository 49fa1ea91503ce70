import type { GuessLimits } from '../../credentials/client-secret.ts';
import type { FailureSlot } from '../../credentials/key-sealing.ts';
import { networkOf } from '../../ip-address.ts';
import { clientId } from '../../oauth/client-auth/client-auth-request.ts';
import { OAuthError } from '../../oauth/oauth-error.ts';
import type { TokenRequest } from '../../oauth/token/grants/grant.ts';
import { Problem } from '../../problem.ts';
import type { Sharer } from '../../shares/fair-queue.ts';
import { BoundedMap } from '../../../program/bounded-map.ts';
import { hashSharer } from './hash-sharer.ts';
import type { SharedFailures } from './failures-of-all-replicas.ts';
import { beginAttempt, endAll } from './throttle.ts';
import type { Attempt, Throttle } from './throttle.ts';

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
}

/** The client that a secret is said to be of, and the address that sent it. */
interface Guessed {
  readonly box: string;
  /** Undefined without a proof: that is no guess. */
  readonly client: string | undefined;
  readonly address: string;
}

/**
 * Admits a request that authenticates a client; {@link record} must follow. A valid generated secret is never refused,
 * nor is a remembered one, unless its address has failed too often and never authenticated the client.
 */
export function admit(limits: SecretLimits, { box, credentials, remoteAddr }: TokenRequest): SecretGuess {
  const { secrets, assertion } = credentials;
  const client = secrets.length === 0 && assertion === undefined ? undefined : clientId(credentials);
  return new SecretGuess(limits, { box, client, address: remoteAddr ?? '' });
}

/**
 * Records the outcome of a request, `error` undefined for a success, and ends its guess. Counts a wrong secret and a
 * forged refresh token, which has a count of its own: it holds back only forged ones. Throws Problem `throttled`
 * instead if there were too many before, and Outage.
 */
export async function record(
  limits: SecretLimits,
  request: TokenRequest,
  guess: SecretGuess,
  error: unknown,
): Promise<void> {
  try {
    const code = error instanceof OAuthError ? error.code : undefined;
    if (error === undefined) guess.proven();
    else if (code === 'invalid_client') await guess.failed();
    else if (code === 'invalid_grant') countRefresh(limits, request);
  } finally {
    guess.end();
  }
}

/** Counts a failed refresh token for its client; codes cannot be guessed, and passwords have limits of their own. */
function countRefresh(
  { throttle: { refreshTokens } }: SecretLimits,
  { box, parameters, credentials, remoteAddr }: TokenRequest,
): void {
  if (parameters.get('grant_type') !== 'refresh_token') return;
  const who = [box, clientId(credentials), remoteAddr ?? ''] as const;
  if (!refreshTokens.allows(...who)) throw tooManyGuesses(refreshTokens.retryAfter);
  refreshTokens.failed(...who);
}

/**
 * A guess at the secret of a client, wherever it is verified: if argon2 does it, it counts from its beginning until its
 * end. A class, because every request of a client has one.
 */
export class SecretGuess implements GuessLimits {
  readonly #limits: SecretLimits;
  readonly #guessed: Guessed;
  /** True if its address has failed too often before: a wrong secret is not counted again. */
  readonly #hasFailedTooOften: boolean;
  #begun: Promise<readonly Attempt[]> | undefined;
  #attempts: readonly Attempt[] | undefined;
  #isChosen = false;

  constructor(limits: SecretLimits, guessed: Guessed) {
    const { box, client = '', address } = guessed;
    const { secrets } = limits.throttle;
    this.#limits = limits;
    this.#guessed = guessed;
    this.#hasFailedTooOften = secrets.hasFailures(box, address) && !secrets.allows(box, client, address);
  }

  get isHeldBack(): boolean {
    const { box, client = '', address } = this.#guessed;
    return this.#hasFailedTooOften && !this.#limits.known.has(box, client, address);
  }

  /**
   * Admits a chosen secret before argon2 verifies it, and returns its sharer of argon2: it counts as failed until its
   * end. Secrets after the first are the same guess. Throws Problem `throttled`, and Outage.
   */
  async begin(): Promise<Sharer> {
    // Concurrent calls share the attempts, because `end` is called only once.
    this.#attempts ??= await (this.#begun ??= begunAttempts(this.#limits, this.#guessed));
    this.#isChosen = true;
    return hashSharer(this.#limits.throttle, this.#guessed.box, this.#guessed.address);
  }

  recognized(): void {
    this.#isChosen = true;
  }

  /** Remembers the address of a chosen secret that was right. */
  proven(): void {
    const { box, client, address } = this.#guessed;
    if (this.#isChosen && client !== undefined) this.#limits.known.add(box, client, address);
  }

  /**
   * Counts a wrong secret: a chosen one that was begun, or a generated one, which argon2 never sees. Throws Problem
   * `throttled` instead if there were too many before, and Outage.
   */
  async failed(): Promise<void> {
    const { secrets, addresses } = this.#limits.throttle;
    const { box, client, address } = this.#guessed;
    if (this.#hasFailedTooOften) throw tooManyGuesses(secrets.retryAfter);
    if (client === undefined) return;
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
  { box, client = '', address }: Guessed,
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
    if (!(error instanceof Problem)) throw error;
    throw new Problem(error.code, error.faults, error.headers, tooMany);
  }
}

/** Seconds until the verifications in progress have ended. */
const shortly = 1;

const tooMany = { reason: 'too_many_secrets' } as const;

/** Creates the Problem `throttled` of too many guesses, with the wait in seconds. */
function tooManyGuesses(seconds: number): Problem {
  const wait = `Too many failed attempts from this address; try again in ${String(seconds)} s`;
  return new Problem('throttled', wait, { 'Retry-After': String(seconds) }, tooMany);
}

/** The addresses that authenticated a client in the last day, in the memory of this replica. */
export interface KnownAddresses {
  has(box: string, client: string, address: string): boolean;
  add(box: string, client: string, address: string): void;
}

/** Milliseconds. */
const day = 24 * 3_600_000;

/** Addresses of all clients; beyond that the one that authenticated least recently is removed. */
const mostAddresses = 100_000;

/** Creates an empty set of known addresses; `now` is in milliseconds. */
export function createKnownAddresses(now: () => number): KnownAddresses {
  const seen = new BoundedMap<number>(mostAddresses);
  const keyOf = (box: string, client: string, address: string): string => `${box} ${client} ${networkOf(address)}`;
  return {
    has: (box, client, address) => now() - (seen.get(keyOf(box, client, address)) ?? -Infinity) < day,
    add(box, client, address) {
      seen.setNewest(keyOf(box, client, address), now());
    },
  };
}
