import type { OnGuess } from '../../credentials/client-secret.ts';
import { clientId, readClientCredentials } from '../../oauth/client-auth-request.ts';
import type { ClientCredentials } from '../../oauth/client-auth-request.ts';
import { OAuthError } from '../../oauth/oauth-error.ts';
import { parseParameters } from '../../oauth/parameters.ts';
import type { RawTokenRequest } from '../../oauth/token-endpoint.ts';
import { Problem } from '../../problem.ts';
import type { FailureCount, Throttle } from '../throttle.ts';

/**
 * Does the work of a request that authenticates a client: its failures are counted, by client and address, and who failed
 * too often is held back first. A refresh token is looked at first, for that costs little: a forged one
 * holds back forged ones only. Throws Problem `throttled`.
 */
export async function holdBack<T>(
  raw: RawTokenRequest,
  { secrets, refreshTokens }: Throttle,
  work: (watched: RawTokenRequest) => Promise<T>,
): Promise<T> {
  const address = raw.remoteAddr ?? '';
  // Only an address that has failed before is worth the reading of the client's name.
  if (secrets.hasFailures(raw.box, address) && !secrets.allows(raw.box, guessedClient(raw) ?? '', address)) {
    throw tooMany(secrets.retryAfter);
  }
  const guess = guessUnderWay(raw, secrets);
  try {
    return await work({ ...raw, onGuess: guess.begin });
  } catch (error) {
    const code = error instanceof OAuthError ? error.code : undefined;
    if (code === 'invalid_client') {
      const guessed = guessedClient(raw);
      if (guessed !== undefined) secrets.failed(raw.box, guessed, address);
    }
    if (code === 'invalid_grant') countRefresh(raw, refreshTokens);
    throw error;
  } finally {
    guess.end();
  }
}

/** The slow verification of a request's secret: it counts from its begin on, until it has failed or succeeded. */
function guessUnderWay(raw: RawTokenRequest, secrets: FailureCount): { begin: OnGuess; end: () => void } {
  const address = raw.remoteAddr ?? '';
  let begun: { readonly client: string; readonly tries: number } | undefined;
  return {
    begin() {
      // Secrets may be verified more than once for a request: it is one guess.
      if (begun !== undefined) return begun.tries;
      const client = guessedClient(raw) ?? '';
      const tries = secrets.begin(raw.box, client, address);
      if (tries === undefined) throw tooMany(secrets.allows(raw.box, client, address) ? shortly : secrets.retryAfter);
      begun = { client, tries };
      return tries;
    },
    end() {
      if (begun !== undefined) secrets.end(raw.box, begun.client, address);
    },
  };
}

/** Seconds until what is under way will have been verified. */
const shortly = 1;

/** The client that a refresh token was presented for. Throws Problem `throttled` instead of counting beyond the limit. */
function countRefresh(raw: RawTokenRequest, refreshTokens: FailureCount): void {
  const address = raw.remoteAddr ?? '';
  const client = credentialsOf(raw);
  const id = client === undefined ? '' : clientId(client);
  if (!refreshTokens.allows(raw.box, id, address)) throw tooMany(refreshTokens.retryAfter);
  refreshTokens.failed(raw.box, id, address);
}

/** The client that somebody tried to be. Undefined without a proof, or when it cannot be read: that is no guess. */
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

function tooMany(seconds: number): Problem {
  const wait = `Too many failed attempts from this address; try again in ${String(seconds)} s`;
  return new Problem('throttled', wait, { 'Retry-After': String(seconds) });
}
