import type { GrantType } from '../../../../crds/client.ts';
import type { AuthenticationContext } from '../../client-auth/context.ts';
import type { ClientCredentials } from '../../client-auth/client-auth-request.ts';
import type { Parameters } from '../parameters.ts';
import type { TokenResponse } from '../../../schemas/oauth.ts';

/** A request to the token, introspection or revocation endpoint, read once (RFC 6749 §3.2, §2.3.1). */
export interface TokenRequest {
  readonly box: string;
  readonly credentials: ClientCredentials;
  readonly parameters: Parameters;
  readonly remoteAddr: string | null;
  readonly requestId?: string | undefined;
}

/** Dependencies of a grant: a box's configuration at one version and the ways to Postgres bound to it. */
export type GrantContext = AuthenticationContext;

/**
 * A grant of the token endpoint. Its handler returns the token response, or throws OAuthError to refuse. The endpoint
 * owns the rest: it repeats a decision whose configuration changed, and creates a signing key that is missing.
 */
export interface Grant {
  readonly name: GrantType;
  handle(request: TokenRequest, context: GrantContext): Promise<TokenResponse>;
}
