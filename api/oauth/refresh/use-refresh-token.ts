import { nextRefreshToken, refreshTokenText, sealSuccessor, tokenHash } from '../../credentials/refresh-token-text.ts';
import type { RefreshToken } from '../../credentials/refresh-token-text.ts';
import { lockFamily, rotateFamily, slideFamily } from '../../db/session/refresh-family.ts';
import type { RefreshFamily } from '../../db/session/refresh-family.ts';
import { endFamily, insertSession } from '../../db/session/session.ts';
import type { Connection } from '../../db/core/transaction.ts';
import { reportReuse } from '../report-reuse.ts';
import type { GrantContext } from '../token/grants/grant.ts';
import { judgeRefresh, successorOf } from './judge-refresh.ts';
import type { PresentedRefreshToken } from './judge-refresh.ts';
import type { MadeAccessToken } from '../token/access-token.ts';
import { familyEnd, refreshLifetimes } from './refresh-lifetimes.ts';
import { refreshSettings } from './settings.ts';
import { hasRoom } from '../token/session-limit.ts';

/** Result of a use: the access token, and the next refresh token if the client's tokens rotate. */
export interface RefreshUse<Made> {
  readonly made: Made;
  readonly refreshToken: string | undefined;
}

/**
 * Uses a refresh token: one transaction under the locks of the box's row and the family's row, so that a close, a
 * revocation or another use comes wholly before or wholly after it. `make` returns the access token for the family's
 * grant; if it throws, nothing is used up, nor when the box's limit of sessions is reached (`full`). Reuse of a rotated
 * token ends the family (RFC 9700 §4.14.2).
 */
export function useRefreshToken<Made extends MadeAccessToken>(
  presented: PresentedRefreshToken,
  context: GrantContext,
  make: (family: RefreshFamily) => Made,
): Promise<RefreshUse<Made> | 'refused' | 'full'> {
  const { token, client, now } = presented;
  const { state, transaction } = context;
  return transaction(async (connection) => {
    const family = await lockFamily(connection, state.box, token.family);
    if (family === undefined) return 'refused';
    const verdict = judgeRefresh(family, presented, state);
    if (verdict === 'refused' || verdict === 'suspended') return 'refused';
    if (verdict === 'reused') {
      await endFamily(connection, state.box, family.id, { as: 'revoked', now });
      const by = { client: client.client.id, user: family.user ?? undefined };
      reportReuse({ event: 'refresh_token.reused', client: family.client, by }, context);
      return 'refused';
    }
    const made = make(family);
    if (!(await hasRoom(connection, made.session, state.settings, now))) return 'full';
    const settings = refreshSettings(client.client, family.grant);
    const { sliding } = refreshLifetimes(settings, state.settings);
    await insertSession(connection, made.session, family.id, family.session);
    await slideFamily(connection, state.box, family.id, {
      session: made.session.id,
      now,
      expiresAt: Math.min(now + sliding, familyEnd(family, settings, state.settings)),
      sessionEnd: made.session.expiresAt * 1000,
    });
    if (verdict === 'slide') return { made, refreshToken: undefined };
    const next =
      verdict === 'repeat' ? successorOf(family, token, now) : await rotate(connection, state.box, family, presented);
    return { made, refreshToken: next && refreshTokenText(next) };
  });
}

/** Replaces the family's token by its successor, and returns that. */
async function rotate(
  connection: Connection,
  box: string,
  family: RefreshFamily,
  { token, now }: PresentedRefreshToken,
): Promise<RefreshToken> {
  const next = nextRefreshToken(token);
  const successor = sealSuccessor(next, token);
  await rotateFamily(connection, box, family.id, {
    generation: next.generation,
    tokenHash: tokenHash(next),
    successor,
    now,
  });
  return next;
}
