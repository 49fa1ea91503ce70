import type { Origin } from '../../audit/audit-trail.ts';
import { Problem } from '../../problem.ts';
import type { IsStoredSecret } from '../../resources/plan/stored-rows.ts';
import type { ApiContext } from '../server/api-context.ts';
import { endAll } from '../throttle/attempt.ts';
import type { Attempt } from '../throttle/attempt.ts';
import { hashSharer } from '../throttle/hash-sharer.ts';
import { beginSecretGuess } from '../throttle/secret-guess.ts';

/** Chosen secrets that are compared in one plan: each takes argon2. */
const mostChosen = 50;

type Caller = Origin & { readonly remoteAddr: string };

/**
 * Returns the comparison of a given secret with the stored ones, undefined where too many were wrong before. A wrong
 * one counts, and is recorded, as a failed attempt of its address at the client: nobody gets more guesses by a plan
 * than at the token endpoint.
 */
export function comparingSecrets(
  { oauth, throttle, secretLimits }: ApiContext,
  box: string,
  caller: Caller,
): IsStoredSecret {
  const address = caller.remoteAddr;
  let chosen = 0;

  /** Counts a wrong secret. No attempt was begun for a generated one, which nobody can guess. */
  async function countWrong(client: string, attempts: readonly Attempt[]): Promise<void> {
    throttle.secrets.failed(box, client, address);
    if (attempts.length === 0) throttle.addresses.failed('', '', address);
    for (const attempt of attempts) await attempt.failed();
    const event = { event: 'client.authentication_failed', result: 'failure', target: `Client/${client}` } as const;
    secretLimits.events.note({ box, ...event, origin: caller });
  }

  return async (client, stored, secret) => {
    if (stored.length === 0) return false;
    if (!throttle.secrets.allows(box, client, address)) return undefined;
    if (stored.some((one) => one.startsWith('$argon2'))) chosen += 1;
    if (chosen > mostChosen) return undefined;
    let attempts: readonly Attempt[] = [];
    let refusal: unknown;
    const begin = async () => {
      // A client may have two secrets: they are one guess.
      if (attempts.length === 0) {
        attempts = await beginSecretGuess(secretLimits, { box, client, address }).catch((error: unknown) => {
          refusal = error;
          throw error;
        });
      }
      return hashSharer(throttle, box, address);
    };
    try {
      const limits = { isHeldBack: false, begin, recognized: () => undefined };
      const found = await oauth.secrets.verify(stored, secret, limits);
      if (found === undefined) await countWrong(client, attempts);
      return found !== undefined;
    } catch (error) {
      if (error === refusal && error instanceof Problem && error.code === 'throttled') return undefined;
      throw error;
    } finally {
      endAll(attempts);
    }
  };
}
