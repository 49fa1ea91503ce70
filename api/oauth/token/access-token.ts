import { makeAccessToken, makeSessionId, uuidText } from '../../credentials/token-text.ts';
import { bucketOf } from '../../db/session/bucket.ts';
import type { GrantLetter, NewSession } from '../../db/batched-statements.ts';
import type { BoxState } from '../../state/box-state.ts';
import type { SigningAlgorithm, SigningKey } from '../../state/key-ring.ts';
import type { AccessTokenPlan } from './plan.ts';
import { signAccessToken } from './jwt-access-token.ts';
import type { AccessTokenClaims } from './jwt-access-token.ts';
import { sessionQuotaRefusal } from './session-limit.ts';

/** An access token as it is made: the text for the client, the session for the table. */
export interface MadeAccessToken {
  readonly text: string;
  readonly session: NewSession;
}

/** A JWT cannot be signed yet: the box needs a key of this algorithm that may sign until then (seconds since 1970). */
export interface KeyNeeded {
  readonly algorithm: SigningAlgorithm;
  readonly until: number;
}

/** Holder of a token, its grant, and the origin of the request. */
export interface TokenHolder {
  readonly client: string;
  /** Null: the client itself. */
  readonly user: number | null;
  readonly type: GrantLetter;
  readonly remoteAddr: string | null;
  /** User agent of the user's browser. */
  readonly userAgent?: string | null;
}

/** Returns the key that is to sign a planned token; null for an opaque one, which needs none. `now` in milliseconds. */
export function keyFor(
  state: BoxState,
  plan: Pick<AccessTokenPlan, 'format' | 'lifetime'>,
  now: number,
): SigningKey | KeyNeeded | null {
  if (plan.format === 'opaque') return null;
  return keyOf(state, state.settings.signing?.algorithm ?? 'ES256', plan.lifetime, now);
}

/** Returns the key of an algorithm that is to sign a token of `lifetime` seconds. `now` in milliseconds. */
export function keyOf(
  { keys }: Pick<BoxState, 'keys'>,
  algorithm: SigningAlgorithm,
  lifetime: number,
  now: number,
): SigningKey | KeyNeeded {
  const key = keys.signing(algorithm, now);
  const until = Math.floor(now / 1000) + lifetime;
  return key === undefined || key.signedUntil < until * 1000 ? { algorithm, until } : key;
}

/** Checks whether {@link keyFor} or {@link keyOf} found no key. */
export function isKeyNeeded(found: object | null): found is KeyNeeded {
  return found !== null && 'until' in found && 'algorithm' in found;
}

/**
 * Makes an access token as planned, signed with the key of {@link keyFor} at the same `now` (milliseconds). Its end is
 * computed once for the row, the bucket and the token. Throws OAuthError when the box has no room for a session.
 */
export function makeToken(
  state: BoxState,
  holder: TokenHolder,
  plan: AccessTokenPlan,
  key: SigningKey | null,
  issuer: string,
  now: number,
): MadeAccessToken {
  const refusal = sessionQuotaRefusal(state);
  if (refusal !== undefined) throw refusal;
  const issuedAt = Math.floor(now / 1000);
  const expiresAt = issuedAt + plan.lifetime;
  const bucket = bucketOf(issuedAt, expiresAt);
  const row = {
    ...holder,
    box: state.box,
    version: state.version,
    bucket,
    expiresAt,
    scope: plan.scope,
    audience: plan.audience,
    userAgent: holder.userAgent ?? null,
  };
  if (key === null) {
    const { text, id, hash } = makeAccessToken(bucket, now);
    return { text, session: { ...row, id, hash } };
  }
  const id = makeSessionId(now);
  const claims: AccessTokenClaims = {
    iss: issuer,
    sub: holder.user === null ? holder.client : String(holder.user),
    client_id: holder.client,
    aud: plan.audience?.[0] ?? issuer,
    iat: issuedAt,
    exp: expiresAt,
    jti: uuidText(id),
    ...(plan.scope === null ? {} : { scope: plan.scope }),
  };
  return { text: signAccessToken(claims, key), session: { ...row, id, hash: null } };
}
