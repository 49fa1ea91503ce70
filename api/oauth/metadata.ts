import type { JsonWebKey } from 'node:crypto';
import { allows } from '../../crds/compatibility.ts';
import { STANDARD_SCOPES } from '../../crds/uri.ts';
import type { BoxState } from '../box/box-state.ts';
import type { SigningAlgorithm } from '../box/key-ring.ts';
import { PROMPTS } from './authorization/request/prompt.ts';
import { RESPONSE_MODES, RESPONSE_TYPES } from './authorization/request/response-type.ts';
import { ASSERTION_ALGORITHMS } from './client-auth/client-auth-request.ts';
import { grants } from './token/endpoint.ts';
import { ID_TOKEN_ALGORITHMS } from './openid/id-token.ts';
import { SCOPE_OF_CLAIM } from './openid/user-claims.ts';

/** Returns a box's server metadata (RFC 8414 §2, OpenID Connect Discovery §3), with supported features only. */
export function serverMetadata(
  issuer: string,
  { settings, clients, keys }: Pick<BoxState, 'settings' | 'clients' | 'keys'>,
): Readonly<Record<string, unknown>> {
  const authentication = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'];
  const implicit = allows(settings, 'implicit');
  return {
    issuer,
    authorization_endpoint: `${issuer}/auth/authorize`,
    token_endpoint: `${issuer}/auth/token`,
    token_endpoint_auth_methods_supported: [...authentication, 'none'],
    token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    userinfo_endpoint: `${issuer}/auth/userinfo`,
    end_session_endpoint: `${issuer}/auth/logout`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ID_TOKEN_ALGORITHMS.filter((one) => hasKey(keys, one)),
    introspection_endpoint: `${issuer}/auth/introspect`,
    introspection_endpoint_auth_methods_supported: authentication,
    introspection_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    revocation_endpoint: `${issuer}/auth/revoke`,
    revocation_endpoint_auth_methods_supported: [...authentication, 'none'],
    revocation_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    grant_types_supported: [
      ...[...grants.keys()].filter((name) => name !== 'password' || takesPasswords(settings, clients)),
      ...(implicit ? ['implicit'] : []),
    ],
    response_types_supported: implicit ? RESPONSE_TYPES : ['code'],
    response_modes_supported: RESPONSE_MODES,
    prompt_values_supported: PROMPTS,
    code_challenge_methods_supported: ['S256'],
    // Without `boxgate`: programs that request all of them would act in the name of their users.
    scopes_supported: [...STANDARD_SCOPES, ...Object.keys(settings.scopes ?? {}).sort()],
    claims_supported: [
      'iss',
      'sub',
      'aud',
      'azp',
      'exp',
      'iat',
      'auth_time',
      'nonce',
      'at_hash',
      ...SCOPE_OF_CLAIM.keys(),
    ],
    claims_parameter_supported: true,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    authorization_response_iss_parameter_supported: true,
  };
}

/** Checks whether the key set of a box has a key of an algorithm. */
function hasKey({ all }: BoxState['keys'], algorithm: SigningAlgorithm): boolean {
  return all.some((key) => key.algorithm === algorithm);
}

/** Checks whether a client of the box may use the grant `password`: where none may, programs should not try it. */
function takesPasswords(settings: BoxState['settings'], clients: BoxState['clients']): boolean {
  if (!allows(settings, 'password_grant')) return false;
  for (const { client } of clients.values()) {
    if (client.active !== false && client.grant_types.includes('password')) return true;
  }
  return false;
}

/** Returns the key set of a box (RFC 7517 §5): next, current and previous keys. */
export function keySet(state: BoxState): { readonly keys: readonly JsonWebKey[] } {
  return { keys: state.keys.all.map((key) => key.publicJwk) };
}
