import { hash } from 'node:crypto';
import type { Client } from '../../../crds/client.ts';
import type { BoxState } from '../../state/box-state.ts';
import type { SigningAlgorithm, SigningKey } from '../../state/key-ring.ts';
import { keyOf } from '../keys/key-needed.ts';
import { prepareJwt } from '../keys/sign-jwt.ts';
import { hasScope } from '../scope-text.ts';

/** Seconds for which an id_token is valid: it tells a client who signed in, and gives no access. */
export const ID_TOKEN_LIFETIME = 3600;

/** Algorithms that can sign id_tokens. */
export const ID_TOKEN_ALGORITHMS: readonly SigningAlgorithm[] = ['RS256', 'ES256', 'EdDSA'];

/** Checks whether a scope requests an id_token (OpenID Connect Core §3.1.2.1). */
export function asksForIdToken(scope: string | null): boolean {
  return hasScope(scope, 'openid');
}

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
 * TokenTooLarge.
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
