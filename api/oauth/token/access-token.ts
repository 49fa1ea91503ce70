import { makeAccessToken, makeSessionId, uuidText } from '../../credentials/token-text.ts';
import { bucketOf } from '../../db/session/bucket.ts';
import type { GrantLetter } from '../../db/session/grant-letter.ts';
import type { NewSession } from '../../db/session/issue.ts';
import type { Person } from '../../db/user/person.ts';
import type { BoxState } from '../../state/box-state.ts';
import type { SigningKey } from '../../state/key-ring.ts';
import { groupsClaim } from '../openid/user-claims.ts';
import type { AccessTokenPlan } from './plan.ts';
import { signAccessToken } from './jwt-access-token.ts';
import type { AccessTokenClaims } from './jwt-access-token.ts';
import { sessionQuotaRefusal } from './session-limit.ts';

/** An access token as it is made: the text for the client, the session for the table. */
export interface MadeAccessToken {
  readonly text: string;
  readonly session: NewSession;
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

/** Issue of a token: by which issuer, signed with which key, and when. */
export interface TokenIssue {
  readonly issuer: string;
  /** Key that signs the token; null: it is opaque. */
  readonly key: SigningKey | null;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The user, whose groups a JWT tells with the scope for it (RFC 9068 §2.2.3.1); left out: nobody's. */
  readonly person?: Pick<Person, 'groups'> | null;
}

/**
 * Makes an access token as planned, signed with the key of {@link keyFor} at the same `now`. Its end is
 * computed once for the row, the bucket and the token. Throws OAuthError when the box has no room for a session.
 */
export function makeToken(
  state: BoxState,
  holder: TokenHolder,
  plan: AccessTokenPlan,
  { issuer, key, now, person = null }: TokenIssue,
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
    ...groupsClaim(person, plan.scope),
  };
  return { text: signAccessToken(claims, key), session: { ...row, id, hash: null } };
}
