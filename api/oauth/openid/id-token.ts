import { hash } from 'node:crypto';
import type { Client } from '../../../crds/client.ts';
import type { BoxState } from '../../box/box-state.ts';
import type { SigningAlgorithm, SigningKey } from '../../box/key-ring.ts';
import { keyOf } from '../keys/key-needed.ts';
import { prepareJwt } from '../keys/sign-jwt.ts';
import { asksForIdToken, claimsFor, scopesOf } from '../scope-text.ts';
import type { Person } from '../../db/user.ts';
import { GROUPS_SCOPE } from '../../box/scopes.ts';
import { userClaims } from './user-claims.ts';
import type { UserClaims } from './user-claims.ts';

/** Seconds for which an id_token is valid: it tells a client who signed in, and gives no access. */
export const ID_TOKEN_LIFETIME = 3600;

/** Algorithms that can sign id_tokens. */
export const ID_TOKEN_ALGORITHMS: readonly SigningAlgorithm[] = ['RS256', 'ES256', 'EdDSA'];

/** Returns the algorithm that signs the id_tokens of a client: RS256 by default (OpenID Connect Discovery §3). */
export function idTokenAlgorithm({ id_token_signed_response_alg }: Client): SigningAlgorithm {
  return id_token_signed_response_alg ?? 'RS256';
}

/** Returns the key that is to sign a client's id_token now; `now` in milliseconds. Throws KeyNeeded. */
export function idTokenKeyFor(state: Pick<BoxState, 'keys' | 'settings'>, client: Client, now: number): SigningKey {
  return keyOf(state, idTokenAlgorithm(client), ID_TOKEN_LIFETIME, now);
}

/** Content of an id_token; times in milliseconds since 1970. */
export interface IdTokenFacts {
  readonly issuer: string;
  readonly client: string;
  readonly user: number;
  readonly nonce: string | null;
  /** Time of the user's sign-in; null if it is unknown. */
  readonly authenticatedAt: number | null;
  /** Access token that is issued together with it. */
  readonly accessToken: string | undefined;
  /** Claims about the user that are included. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** Signs an id_token whose content and key are decided. */
export type SignIdToken = () => Promise<string>;

/**
 * Prepares an id_token (OpenID Connect Core §2), signed with the key of {@link idTokenKeyFor} at the same `now`. Throws
 * OAuthError `invalid_scope` for a token that is too large.
 */
export function prepareIdToken(facts: IdTokenFacts, key: SigningKey, now: number): SignIdToken {
  const { issuer, client, user, nonce, authenticatedAt, accessToken, claims } = facts;
  const iat = Math.floor(now / 1000);
  const all = {
    ...claims,
    iss: issuer,
    sub: String(user),
    aud: client,
    azp: client,
    exp: iat + ID_TOKEN_LIFETIME,
    iat,
    ...(authenticatedAt === null ? {} : { auth_time: Math.floor(authenticatedAt / 1000) }),
    ...(nonce === null ? {} : { nonce }),
    ...(accessToken === undefined ? {} : { at_hash: halfHash(accessToken, key.algorithm) }),
  };
  return prepareJwt('JWT', all, key);
}

/** The hash of each signature; Ed25519 hashes with SHA-512 inside (RFC 8032 §5.1). */
const hashes = { RS256: 'sha256', ES256: 'sha256', EdDSA: 'sha512' } as const satisfies Record<
  SigningAlgorithm,
  string
>;

/** Returns `at_hash`: the left half of the hash (OpenID Connect Core §3.1.3.6). */
function halfHash(text: string, algorithm: SigningAlgorithm): string {
  const whole = hash(hashes[algorithm], text, 'buffer');
  return whole.subarray(0, whole.length / 2).toString('base64url');
}

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
 * OAuthError `invalid_scope` for a token that is too large.
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
  const included: readonly string[] = [GROUPS_SCOPE, ...id_token_claims];
  const granted = scopesOf(scope).filter((one) => included.includes(one));
  return userClaims(person, granted.join(' '), claimsFor('id_token', scope));
}
