import type { GrantType } from '../../../crds/client.ts';
import type { ClientSpec } from '../../../crds/specs.ts';

/**
 * Checks whether the client must authenticate itself and nothing else does it: for a grant (RFC 6749 §2.1, §4.4), or
 * without any grant for introspection (RFC 7662 §2.1).
 */
export function needsSecret({ grant_types, auth, jwks, jwks_uri, service_accounts }: ClientSpec): boolean {
  if (jwks !== undefined || jwks_uri !== undefined || service_accounts !== undefined) return false;
  return (
    grant_types.length === 0 ||
    grant_types.some((grant) => mustAuthenticate[grant]) ||
    (grant_types.includes('authorization_code') && auth?.authorization_code?.secret_required === true)
  );
}

/** Every grant, with true where a client that lists it must authenticate. */
const mustAuthenticate = {
  client_credentials: true,
  implicit: false,
  authorization_code: false,
  refresh_token: false,
  password: false,
  'urn:ietf:params:oauth:grant-type:token-exchange': true,
} as const satisfies Record<GrantType, boolean>;
