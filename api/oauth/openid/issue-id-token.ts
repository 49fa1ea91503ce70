import type { Client } from '../../../crds/client.ts';
import type { Person } from '../../db/user/person.ts';
import type { BoxState } from '../../state/box-state.ts';
import { GROUPS_SCOPE } from '../../state/requestable-scopes.ts';
import { claimsFor, scopesOf } from '../scope-text.ts';
import { asksForIdToken, idTokenKeyFor, prepareIdToken } from './id-token.ts';
import type { SignIdToken } from './id-token.ts';
import { userClaims } from './user-claims.ts';
import type { UserClaims } from './user-claims.ts';

/** The client that an id_token is for, and its issue; `now` in milliseconds. */
export interface IdTokenIssue {
  readonly state: Pick<BoxState, 'keys' | 'settings'>;
  readonly client: Client;
  readonly issuer: string;
  readonly now: number;
}

/** The sign-in that an id_token tells of. */
export interface SignedInUser {
  readonly user: number;
  /** Null if no claim about the user was granted. */
  readonly person: Person | null;
  readonly nonce: string | null;
  /** Milliseconds since 1970; null if it is unknown. */
  readonly authenticatedAt: number | null;
}

/**
 * Decides about the id_token that comes with an access token of this text and scope (OpenID Connect Core §3.1.3.3,
 * §12.2); it is signed once the access token is stored. Undefined without the scope `openid`. Throws KeyNeeded,
 * TokenTooLarge.
 */
export function planIdToken(
  { state, client, issuer, now }: IdTokenIssue,
  signedIn: SignedInUser,
  accessToken: string,
  scope: string | null,
): SignIdToken | undefined {
  if (scope === null || !asksForIdToken(scope)) return undefined;
  const key = idTokenKeyFor(state, client, now);
  const { user, person, nonce, authenticatedAt } = signedIn;
  const claims = person === null ? {} : idTokenClaims(person, scope, client);
  const facts = { issuer, client: client.id, user, nonce, authenticatedAt, accessToken, claims };
  return prepareIdToken(facts, key, now);
}

/**
 * Returns the claims about a user in such an id_token: the groups, those of the granted scopes that the client lists in
 * `id_token_claims`, and those that were requested for it by name (OpenID Connect Core §5.5). The others are at
 * userinfo (§5.4).
 */
export function idTokenClaims(
  person: Person,
  scope: string,
  { id_token_claims = [] }: Pick<Client, 'id_token_claims'>,
): UserClaims {
  const told: readonly string[] = [GROUPS_SCOPE, ...id_token_claims];
  const granted = scopesOf(scope).filter((one) => told.includes(one));
  return userClaims(person, granted.join(' '), claimsFor('id_token', scope));
}
