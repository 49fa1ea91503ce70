import type { TokenResponse } from '../../schemas/oauth.ts';
import type { AccessTokenPlan } from './plan.ts';

/** Tokens that come with an access token. */
export interface TokensBeside {
  readonly refreshToken?: string | undefined;
  readonly idToken?: string | undefined;
}

/**
 * Builds the answer: exactly `token_type` and `access_token` if nothing more is configured. `scope` is that of {@link
 * scopeMember}.
 */
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
