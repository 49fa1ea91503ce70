import { uuidText } from '../../../process/uuid-text.ts';
import { makeAccessToken, makeSessionId } from '../../credentials/token-text.ts';
import { bucketOf } from '../../db/session/bucket.ts';
import type { GrantLetter } from '../../db/session/grant-letter.ts';
import type { NewSession } from '../../db/session/issue.ts';
import type { Person } from '../../db/user/person.ts';
import type { BoxState } from '../../state/box-state.ts';
import type { SigningKey } from '../../state/key-ring.ts';
import { groupsClaim } from '../openid/user-claims.ts';
import { withoutClaims } from '../scope-text.ts';
import type { AccessTokenPlan } from './plan.ts';
import { signAccessToken } from './jwt-access-token.ts';
import type { AccessTokenClaims } from './jwt-access-token.ts';

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

/** A token of which it is not known yet what is granted with it, and the start of its session. */
export type StartedToken = {
  readonly session: Pick<NewSession, 'box' | 'version' | 'id' | 'hash' | 'bucket' | 'expiresAt'>;
  /** Seconds since 1970. */
  readonly issuedAt: number;
} & ({ readonly key: null; readonly text: string } | { readonly key: SigningKey });

/** Makes an access token as planned, signed with the key of {@link keyFor} at the same `now`. */
export function makeToken(
  state: Pick<BoxState, 'box' | 'version'>,
  holder: TokenHolder,
  plan: AccessTokenPlan,
  issue: TokenIssue,
): MadeAccessToken {
  return completeToken(startToken(state, plan.lifetime, issue), holder, plan, issue);
}

/**
 * Starts a token that is valid for `lifetime` seconds. Its end is computed once for the row, the bucket and the token.
 */
export function startToken(
  { box, version }: Pick<BoxState, 'box' | 'version'>,
  lifetime: number,
  { key, now }: Pick<TokenIssue, 'key' | 'now'>,
): StartedToken {
  const issuedAt = Math.floor(now / 1000);
  const expiresAt = issuedAt + lifetime;
  const bucket = bucketOf(issuedAt, expiresAt);
  if (key !== null) {
    return { session: { box, version, bucket, expiresAt, id: makeSessionId(now), hash: null }, issuedAt, key };
  }
  const { text, id, hash } = makeAccessToken(bucket, now);
  return { session: { box, version, bucket, expiresAt, id, hash }, issuedAt, key, text };
}

/** Completes a started token as planned. */
export function completeToken(
  started: StartedToken,
  holder: TokenHolder,
  plan: AccessTokenPlan,
  { issuer, person = null }: Pick<TokenIssue, 'issuer' | 'person'>,
): MadeAccessToken {
  const { scope, audience } = plan;
  const session = { ...holder, ...started.session, scope, audience, userAgent: holder.userAgent ?? null };
  if (started.key === null) return { text: started.text, session };
  const shown = withoutClaims(scope);
  const claims: AccessTokenClaims = {
    iss: issuer,
    sub: holder.user === null ? holder.client : String(holder.user),
    client_id: holder.client,
    aud: audience?.[0] ?? issuer,
    iat: started.issuedAt,
    exp: session.expiresAt,
    jti: uuidText(session.id),
    ...(shown === null ? {} : { scope: shown }),
    ...groupsClaim(person, shown),
  };
  return { text: signAccessToken(claims, started.key), session };
}
