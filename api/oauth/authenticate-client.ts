import type { ClientSecrets } from '../credentials/client-secret.ts';
import type { BoxState, ClientState } from '../state/box-state.ts';
import type { ClientCredentials } from './client-auth-request.ts';
import { OAuthError } from './oauth-error.ts';

/**
 * The confidential client that sent these credentials (RFC 6749 §2.3). Throws OAuthError `invalid_client`; an unknown
 * client takes the same way, and time, as one with a generated secret.
 */
export async function authenticateClient(
  state: BoxState,
  credentials: ClientCredentials,
  secrets: ClientSecrets,
): Promise<ClientState> {
  const found = findClient(state, credentials);
  const right = await verifies(found?.secrets ?? [], credentials, secrets);
  if (!right || found === undefined || !isActive(found, state)) throw notAuthenticated();
  return found;
}

/** The active client that a request names, without proof of who it is; undefined when there is none. */
export function namedClient(state: BoxState, credentials: ClientCredentials): ClientState | undefined {
  const found = findClient(state, credentials);
  return found !== undefined && isActive(found, state) ? found : undefined;
}

/** One text for an unknown client, a wrong or missing secret, a client switched off: nobody learns which (RFC 6749 §5.2). */
export function notAuthenticated(): OAuthError {
  return new OAuthError('invalid_client', 'Client authentication failed');
}

function findClient(state: BoxState, credentials: ClientCredentials): ClientState | undefined {
  for (const id of credentials.ids) {
    const found = state.clients.get(id);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function verifies(stored: readonly string[], sent: ClientCredentials, secrets: ClientSecrets): Promise<boolean> {
  for (const secret of sent.secrets) if (await secrets.verify(stored, secret.reveal(), sent.onGuess)) return true;
  return false;
}

function isActive(client: ClientState, state: BoxState): boolean {
  return client.client.active !== false && state.settings.active !== false;
}
