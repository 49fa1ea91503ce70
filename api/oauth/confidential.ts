import { isConfidential } from '../../crds/confidential.ts';
import type { ClientState } from '../state/box-state.ts';

/** Whether a client of a box can authenticate itself (RFC 6749 §2.1). */
export function canAuthenticate({ client, secrets, previous }: ClientState): boolean {
  return isConfidential(client, secrets.length > 0 || previous !== undefined);
}

/**
 * Whether a client must authenticate itself to redeem a code: every confidential one (RFC 6749 §4.1.3), unless its settings
 * say that PKCE is enough; with `secret_required: true` nobody else does.
 */
export function mustAuthenticateForCode(client: ClientState): boolean {
  return client.client.auth?.authorization_code?.secret_required ?? canAuthenticate(client);
}

/** Whether a code of this client is bound to a PKCE challenge: where no secret protects it, or its settings say so. */
export function needsChallenge(client: ClientState): boolean {
  return client.client.auth?.authorization_code?.pkce === true || !mustAuthenticateForCode(client);
}
