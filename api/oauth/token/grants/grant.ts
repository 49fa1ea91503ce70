import type { GrantType } from '../../../../crds/client.ts';
import type { Versioned } from '../../../db/batched-statements.ts';
import type { AuthenticationContext } from '../../client-auth/context.ts';
import type { ClientCredentials } from '../../client-auth/client-auth-request.ts';
import type { KeyNeeded } from '../access-token.ts';
import type { OAuthError } from '../../oauth-error.ts';
import type { Parameters } from '../parameters.ts';
import type { TokenResponse } from '../response.ts';

/** A request to the token endpoint, parsed. */
export interface TokenRequest {
  readonly credentials: ClientCredentials;
  readonly parameters: Parameters;
  readonly remoteAddr: string | null;
  readonly verifyPassword?: VerifyPassword | undefined;
}

/**
 * Returns the id of the user with this email and password; undefined if there is none who may sign in. Users are looked
 * up elsewhere (api/users), so the reader of the request provides this. Throws Outage, or Problem `throttled`.
 */
export type VerifyPassword = (email: string, password: string) => Promise<number | undefined>;

/** Dependencies of a grant: a box's configuration at one version and the ways to Postgres bound to it. */
export type GrantContext = AuthenticationContext;

/**
 * A grant of the token endpoint. Its handler returns the token response, or asks for a signing key first, with the
 * config version that its statement saw. To refuse it throws OAuthError, or returns one if a statement saw the version.
 */
export interface Grant {
  readonly name: GrantType;
  handle(request: TokenRequest, context: GrantContext): Promise<Versioned<TokenResponse | KeyNeeded | OAuthError>>;
}
