import { uuidText } from '../../../program/text.ts';
import { makeAccessToken, makeSessionId } from '../../credentials/token-text.ts';
import { bucketOf } from '../../db/session/bucket.ts';
import type { GrantLetter } from '../../db/session/record.ts';
import type { NewSession } from '../../db/hot/issue.ts';
import type { Person } from '../../db/user.ts';
import type { BoxState } from '../../box/box-state.ts';
import type { SigningKey } from '../../box/key-ring.ts';
import { signJwt } from '../keys/sign-jwt.ts';
import { groupsClaim } from '../openid/user-claims.ts';
import { withoutClaims } from '../scope-text.ts';
import type { AccessTokenPlan } from './plan.ts';
import type { TokenResponse } from '../../schemas/oauth.ts';
import type { Box } from '../../../crds/box.ts';
import { takeSessionRoom } from '../../db/session/search.ts';
import { insertSession } from '../../db/session/session.ts';
import type { Connection } from '../../db/core/transaction.ts';
import type { Transaction } from '../../box/state-cache.ts';
import { OAuthError } from '../oauth-error.ts';
import { quotaSentence } from '../../../crds/quota.ts';

/** Checks whether a box limits the sessions of a client: then each new one is counted, in a transaction. */
export function limitsSessions(box: Box): boolean {
  return box.tokens?.max_sessions_per_client !== undefined;
}

/**
 * Takes a place for a new session within the limit of its client; returns false if none is left. `now` in milliseconds.
 */
export async function takePlace(connection: Connection, session: NewSession, box: Box, now: number): Promise<boolean> {
  const most = box.tokens?.max_sessions_per_client;
  if (most === undefined) return true;
  return takeSessionRoom(connection, { box: session.box, client: session.client, most }, now);
}

/** Stores a session of a box with a limit, if the limit allows it; `now` in milliseconds. Throws Outage. */
export function issueWithinLimit(
  session: NewSession,
  box: Box,
  transaction: Transaction,
  now: number,
): Promise<boolean> {
  return transaction(async (connection) => {
    if (!(await takePlace(connection, session, box, now))) return false;
    await insertSession(connection, session, null, null);
    return true;
  });
}

/** Seconds until a client may try again: a session may end at any time, and tokens rarely end within seconds. */
const TRY_AGAIN = 60;

/**
 * Makes the refusal of a token beyond `tokens.max_sessions_per_client`. RFC 6749 §5.2 has no code for it, and the
 * client can succeed later: it gets `slow_down` (RFC 6585 §4), as after too many failures.
 */
export function tooManySessions(): OAuthError {
  const message = 'The client has as many live sessions as its box allows: close one, or wait until one expires';
  return new OAuthError('slow_down', message, { retryAfter: TRY_AGAIN });
}

/**
 * Returns the refusal of a session beyond the quota of its box; undefined while the box has room. RFC 6749 §5.2 has no
 * code for it. `slow_down` keeps clients from discarding their credentials, as they do at `invalid_grant`; 422 is the
 * status of every stored thing beyond its quota.
 */
export function sessionQuotaRefusal({ sessionsFull, quota }: QuotaState): OAuthError | undefined {
  if (!sessionsFull) return undefined;
  const message = `One more session ${quotaSentence('sessions', quota.sessions)}`;
  return new OAuthError('slow_down', message, { status: 422, retryAfter: TRY_AGAIN });
}

/** Throws the refusal of {@link sessionQuotaRefusal} if the box has no room. */
export function demandSessionQuota(state: QuotaState): void {
  const refusal = sessionQuotaRefusal(state);
  if (refusal !== undefined) throw refusal;
}

type QuotaState = Pick<BoxState, 'sessionsFull' | 'quota'>;

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
  const session = { ...started, id: makeSessionId(bucket, now), hash: null };
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
