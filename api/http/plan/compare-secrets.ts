import type { Origin } from '../../audit/audit-trail.ts';
import { Problem } from '../../problem.ts';
import type { IsStoredSecret } from '../../resources/plan/stored-rows.ts';
import type { ApiContext } from '../server/api-context.ts';
import { SecretGuess } from '../throttle/secret-guess.ts';

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
  return async (client, stored, secret) => {
    if (stored.length === 0) return false;
    if (!throttle.secrets.allows(box, client, address)) return undefined;
    if (stored.some((one) => one.startsWith('$argon2'))) chosen += 1;
    if (chosen > mostChosen) return undefined;
    const guess = new SecretGuess(secretLimits, { box, client, address });
    try {
      if ((await oauth.secrets.verify(stored, secret, guess)) !== undefined) return true;
      await guess.failed();
      const event = { event: 'client.authentication_failed', result: 'failure', target: `Client/${client}` } as const;
      secretLimits.events.note({ box, ...event, origin: caller });
      return false;
    } catch (error) {
      if (guess.isRefused && error instanceof Problem && error.code === 'throttled') return undefined;
      throw error;
    } finally {
      guess.end();
    }
  };
}
