import { uuidText } from '../../../program/text.ts';
import { makeAccessToken, makeSessionId } from '../../credentials/token-text.ts';
import { bucketOf } from '../../db/session/bucket.ts';
import type { GrantLetter } from '../../db/session/grant-letter.ts';
import type { NewSession } from '../../db/session/issue.ts';
import type { Person } from '../../db/user/person.ts';
import type { BoxState } from '../../box/box-state.ts';
import type { SigningKey } from '../../box/key-ring.ts';
import { signJwt } from '../keys/sign-jwt.ts';
import { groupsClaim } from '../openid/user-claims.ts';
import { withoutClaims } from '../scope-text.ts';
import type { AccessTokenPlan } from './plan.ts';
import type { TokenResponse } from '../../schemas/oauth.ts';

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
 * Makes an access token as planned, signed with the key of {@link keyFor} at the same `now`. Its end is computed once
 * for the row, the bucket and the token. Throws OAuthError `invalid_scope` for a token that is too large.
 */
export function makeToken(
  { box, version }: Pick<BoxState, 'box' | 'version'>,
  holder: TokenHolder,
  { lifetime, scope, audience }: AccessTokenPlan,
  { issuer, key, now, person = null }: TokenIssue,
): MadeAccessToken {
  const issuedAt = Math.floor(now / 1000);
  const expiresAt = issuedAt + lifetime;
  const bucket = bucketOf(issuedAt, expiresAt);
  const userAgent = holder.userAgent ?? null;
  const started = { ...holder, box, version, bucket, expiresAt, scope, audience, userAgent };
  if (key === null) {
    const { text, id, hash } = makeAccessToken(bucket, now);
    return { text, session: { ...started, id, hash } };
  }
  const session = { ...started, id: makeSessionId(now), hash: null };
  const shown = withoutClaims(scope);
  const claims: AccessTokenClaims = {
    iss: issuer,
    sub: holder.user === null ? holder.client : String(holder.user),
    client_id: holder.client,
    aud: audience?.[0] ?? issuer,
    iat: issuedAt,
    exp: expiresAt,
    jti: uuidText(session.id),
    ...(shown === null ? {} : { scope: shown }),
    ...groupsClaim(person, shown),
  };
  // RFC 9068 §2.1.
  return { text: signJwt('at+jwt', claims, key), session };
}

/** The claims of a JWT access token (RFC 9068 §2.2); times in seconds since 1970. */
interface AccessTokenClaims {
  readonly iss: string;
  readonly sub: string;
  readonly client_id: string;
  readonly aud: string | readonly string[];
  readonly iat: number;
  readonly exp: number;
  readonly jti: string;
  readonly scope?: string;
  /** Names of the user's groups (§2.2.3.1). */
  readonly groups?: readonly string[];
}

/** Tokens that come with an access token. */
interface TokensBeside {
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
