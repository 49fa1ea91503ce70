import { checkBearer } from '../session/check-token.ts';
import type { OAuthServices } from '../services.ts';
import { asksForIdToken } from './id-token.ts';
import { userClaims } from './user-claims.ts';
import type { UserClaims } from './user-claims.ts';

/** Answer to a token: `invalid` when it is not valid, `insufficient` when it has no user or no scope `openid`. */
export type UserInfo =
  | { readonly verdict: 'invalid' }
  | { readonly verdict: 'insufficient' }
  | { readonly verdict: 'good'; readonly client: string; readonly claims: UserClaims };

/**
 * Returns the claims of the user who let a client have this access token (OpenID Connect Core §5.3.2). Needs no policy:
 * the user agreed. Undefined when there is no such box. Throws Outage.
 */
export function userInfo(box: string, token: string, services: OAuthServices): Promise<UserInfo | undefined> {
  return services.states.decide<UserInfo>(box, async (state, statements) => {
    const live = await checkBearer(token, { state, statements, services });
    if (live === undefined) return { verdict: 'invalid' };
    const { user, scope, claims, client } = live;
    if (user === null || scope === null || !asksForIdToken(scope)) return { verdict: 'insufficient' };
    return { verdict: 'good', client: client.id, claims: { sub: String(user.id), ...userClaims(user, scope, claims) } };
  });
}
