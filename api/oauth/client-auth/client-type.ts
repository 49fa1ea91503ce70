import { isConfidential } from '../../../crds/client-type.ts';
import type { ClientState } from '../../box/box-state.ts';

/** Checks whether a client of a box can authenticate itself (RFC 6749 §2.1). */
export function canAuthenticate({ client, secrets, previous }: ClientState): boolean {
  return isConfidential(client, secrets.length > 0 || previous !== undefined);
}

/**
 * Checks whether a client must authenticate itself to redeem a code: by default every confidential one (RFC 6749
 * §4.1.3). With `secret_required: false` PKCE is enough, with `true` no other client can redeem a code.
 */
export function mustAuthenticateForCode(client: ClientState): boolean {
  return client.client.auth?.authorization_code?.secret_required ?? canAuthenticate(client);
}

/** Checks whether a code of this client needs a PKCE challenge: no secret protects it, or its settings say so. */
export function requiresPkce(client: ClientState): boolean {
  return client.client.auth?.authorization_code?.pkce === true || !mustAuthenticateForCode(client);
}
