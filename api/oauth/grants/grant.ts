import type { GrantType } from '../../../crds/client.ts';
import type { Versioned } from '../../db/hot-statements.ts';
import type { AuthenticationContext } from '../authentication-context.ts';
import type { ClientCredentials } from '../client-auth-request.ts';
import type { KeyNeeded } from '../make-access-token.ts';
import type { OAuthError } from '../oauth-error.ts';
import type { Parameters } from '../parameters.ts';
import type { TokenResponse } from '../token-response.ts';

/** A request to the token endpoint, parsed. */
export interface TokenRequest {
  readonly credentials: ClientCredentials;
  readonly parameters: Parameters;
  readonly remoteAddr: string | null;
  readonly verifyPassword?: VerifyPassword | undefined;
}

/**
 * Whose email and password they are: the id of the user, undefined for nobody who may sign in. People are looked up
 * elsewhere (api/users), so whoever reads the request gives this. Throws Outage, or Problem `throttled`.
 */
export type VerifyPassword = (email: string, password: string) => Promise<number | undefined>;

/** What a grant works on: a box's configuration at one version and the ways to Postgres bound to it. */
export type GrantContext = AuthenticationContext;

/**
 * One grant of the token endpoint. Its handler gives the token response, or asks for a signing key first, with the
 * config version its statement saw; it throws OAuthError to refuse, or gives it where a statement has told the version.
 */
export interface Grant {
  readonly name: GrantType;
  handle(request: TokenRequest, context: GrantContext): Promise<Versioned<TokenResponse | KeyNeeded | OAuthError>>;
}
