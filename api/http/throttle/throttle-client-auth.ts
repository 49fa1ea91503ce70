import type { GuessLimits } from '../../credentials/client-secret.ts';
import { clientId, readClientCredentials } from '../../oauth/client-auth/client-auth-request.ts';
import type { ClientCredentials } from '../../oauth/client-auth/client-auth-request.ts';
import { OAuthError } from '../../oauth/oauth-error.ts';
import { parseParameters } from '../../oauth/token/parameters.ts';
import type { RawTokenRequest } from '../../oauth/token/endpoint.ts';
import { Problem } from '../../problem.ts';
import type { Sharer } from '../../shares/places.ts';
import { SecretGuess, tooManyGuesses } from './secret-guess.ts';
import type { SecretLimits } from './secret-guess.ts';
import type { FailureCount } from './throttle.ts';

/** The verification of a request's secret, within the limits on failures. */
export interface ClientGuess extends GuessLimits {
  /** Must be called with the client that the request has authenticated. */
  proven(client: string): void;
}

/**
 * Does the work of a request that authenticates a client, within the limits on failures. A valid generated secret is
 * never refused, nor is a remembered one, unless its address has failed too often and never authenticated the client.
 * Refresh tokens have a count of their own: a forged one holds back only forged ones. Throws Problem `throttled`, and
 * any error of the work.
 */
export async function throttleClientAuth<T>(
  raw: RawTokenRequest,
  limits: SecretLimits,
  work: (guess: ClientGuess) => Promise<T>,
): Promise<T> {
  const guess = new Guess(raw, limits);
  try {
    return await work(guess);
  } catch (error) {
    try {
      const code = error instanceof OAuthError ? error.code : undefined;
      if (code === 'invalid_client') await guess.failed();
      if (code === 'invalid_grant') countRefresh(raw, limits.throttle.refreshTokens);
      throw error;
    } catch (refusal) {
      if (guess.isThrottled || refusal !== error || error instanceof OAuthError) noteRefusal(raw, limits, refusal);
      throw refusal;
    }
  } finally {
    guess.end();
  }
}

/** Counts a failed or refused authentication for the audit trail, which names the client only if it exists. */
function noteRefusal({ box, remoteAddr, requestId }: RawTokenRequest, { events }: SecretLimits, error: unknown): void {
  const origin = { remoteAddr: remoteAddr ?? undefined, requestId };
  if (error instanceof OAuthError && error.code === 'invalid_client') {
    const target = error.client && `Client/${error.client}`;
    events.note({ box, event: 'client.authentication_failed', result: 'failure', target, origin });
  } else if (error instanceof Problem && error.code === 'throttled') {
    events.note({ box, event: 'client.throttled', result: 'denied', origin });
  }
}

/**
 * The verification of a request's secret: if argon2 does it, it counts from its beginning until its end. A class,
 * because every request of a client has one.
 */
class Guess implements ClientGuess {
  readonly isHeldBack: boolean;
  readonly #raw: RawTokenRequest;
  readonly #limits: SecretLimits;
  readonly #address: string;
  /** True if its address has failed too often before: a wrong secret is not counted again. */
  readonly #hasFailedTooOften: boolean;
  #secret: SecretGuess | undefined;
  #isChosen = false;

  constructor(raw: RawTokenRequest, limits: SecretLimits) {
    this.#raw = raw;
    this.#limits = limits;
    this.#address = raw.remoteAddr ?? '';
    const { secrets } = limits.throttle;
    // The client's name is read only for an address that has failed before.
    const suspect = secrets.hasFailures(raw.box, this.#address) ? (guessedClient(raw) ?? '') : undefined;
    this.#hasFailedTooOften = suspect !== undefined && !secrets.allows(raw.box, suspect, this.#address);
    this.isHeldBack =
      this.#hasFailedTooOften && suspect !== undefined && !limits.known.has(raw.box, suspect, this.#address);
  }

  async begin(): Promise<Sharer> {
    this.#secret ??= this.#guessAt(guessedClient(this.#raw) ?? '');
    const sharer = await this.#secret.begin();
    this.#isChosen = true;
    return sharer;
  }

  /** True if its verification was refused. */
  get isThrottled(): boolean {
    return this.#secret?.isRefused === true;
  }

  recognized(): void {
    this.#isChosen = true;
  }

  proven(client: string): void {
    if (this.#isChosen) this.#limits.known.add(this.#raw.box, client, this.#address);
  }

  /** Counts a wrong secret. Throws Problem `throttled` instead if there were too many before, and Outage. */
  async failed(): Promise<void> {
    if (this.#hasFailedTooOften) throw tooManyGuesses(this.#limits.throttle.secrets.retryAfter);
    if (this.#secret === undefined) {
      const client = guessedClient(this.#raw);
      if (client === undefined) return;
      this.#secret = this.#guessAt(client);
    }
    await this.#secret.failed();
  }

  end(): void {
    this.#secret?.end();
  }

  #guessAt(client: string): SecretGuess {
    return new SecretGuess(this.#limits, { box: this.#raw.box, client, address: this.#address });
  }
}

/**
 * Counts a failed refresh token for its client; codes cannot be guessed, and passwords have limits of their own. Throws
 * Problem `throttled` instead of counting beyond the limit.
 */
function countRefresh(raw: RawTokenRequest, refreshTokens: FailureCount): void {
  const parameters = parseParameters(raw.contentType, raw.body);
  if (parameters.get('grant_type') !== 'refresh_token') return;
  const address = raw.remoteAddr ?? '';
  const id = clientId(readClientCredentials(raw.authorization, parameters));
  if (!refreshTokens.allows(raw.box, id, address)) throw tooManyGuesses(refreshTokens.retryAfter);
  refreshTokens.failed(raw.box, id, address);
}

/** Returns the client that the caller claims to be; undefined without a proof, or if unreadable: that is no guess. */
function guessedClient(raw: RawTokenRequest): string | undefined {
  const credentials = credentialsOf(raw);
  if (credentials === undefined) return undefined;
  const { secrets, assertion } = credentials;
  return secrets.length === 0 && assertion === undefined ? undefined : clientId(credentials);
}

function credentialsOf(raw: RawTokenRequest): ClientCredentials | undefined {
  try {
    return readClientCredentials(raw.authorization, parseParameters(raw.contentType, raw.body));
  } catch {
    return undefined;
  }
}
