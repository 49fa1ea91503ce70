import { clientId, readClientCredentials } from '../../oauth/client-auth-request.ts';
import { OAuthError } from '../../oauth/oauth-error.ts';
import { parseParameters } from '../../oauth/parameters.ts';
import type { RawTokenRequest } from '../../oauth/token-endpoint.ts';
import { Problem } from '../../problem.ts';
import type { Throttle } from '../throttle.ts';

/**
 * Does the work of a request that authenticates a client: its failures are counted, by client and address, and who failed
 * too often is held back first (HARDENING X-16). Throws Problem `throttled`.
 */
export async function holdBack<T>(raw: RawTokenRequest, throttle: Throttle, work: () => Promise<T>): Promise<T> {
  const address = raw.remoteAddr ?? '';
  // Only an address that has failed before is worth the reading of the client's name.
  if (throttle.hasFailures(raw.box, address) && !throttle.allows(raw.box, guessedClient(raw) ?? '', address)) {
    throw tooMany(throttle.retryAfter);
  }
  try {
    return await work();
  } catch (error) {
    const guessed = error instanceof OAuthError && error.code === 'invalid_client' ? guessedClient(raw) : undefined;
    if (guessed !== undefined) throttle.failed(raw.box, guessed, address);
    throw error;
  }
}

/** The client whose secret was tried. Undefined where none was sent, or what was sent cannot be read: that is no guess. */
function guessedClient(raw: RawTokenRequest): string | undefined {
  try {
    const credentials = readClientCredentials(raw.authorization, parseParameters(raw.contentType, raw.body));
    return credentials.secrets.length === 0 ? undefined : clientId(credentials);
  } catch {
    return undefined;
  }
}

function tooMany(seconds: number): Problem {
  const wait = `Too many failed attempts from this address; try again in ${String(seconds)} s`;
  return new Problem('throttled', wait, { 'Retry-After': String(seconds) });
}
