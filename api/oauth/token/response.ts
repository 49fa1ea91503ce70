import type { AccessTokenPlan } from './plan.ts';

/** The token response (RFC 6749 §5.1): exactly `token_type` and `access_token` when nothing more is configured. */
export interface TokenResponse {
  readonly token_type: 'Bearer';
  readonly access_token: string;
  readonly expires_in?: number;
  readonly refresh_token?: string;
  readonly scope?: string;
  /** OpenID Connect Core §3.1.3.3. */
  readonly id_token?: string;
}

/** Tokens that come with an access token. */
export interface TokensBeside {
  readonly refreshToken?: string | undefined;
  readonly idToken?: string | undefined;
}

/** Builds the answer; `scope` is that of {@link scopeMember}. */
export function tokenResponse(
  accessToken: string,
  plan: AccessTokenPlan,
  scope: string | undefined,
  { refreshToken, idToken }: TokensBeside = {},
): TokenResponse {
  return {
    token_type: 'Bearer',
    access_token: accessToken,
    ...(plan.expiresIn === undefined ? {} : { expires_in: plan.expiresIn }),
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
    ...(scope === undefined ? {} : { scope }),
    ...(idToken === undefined ? {} : { id_token: idToken }),
  };
}
