import type { Box } from '../../../crds/box.ts';
import { nextRefreshToken, refreshTokenText, sealSuccessor, tokenHash } from '../../credentials/refresh-token-text.ts';
import type { RefreshToken } from '../../credentials/refresh-token-text.ts';
import { lockFamily, rotateFamily, slideFamily } from '../../db/session/refresh-family.ts';
import type { RefreshFamily } from '../../db/session/refresh-family.ts';
import { endFamily, insertSession } from '../../db/session/session.ts';
import { reportReuse } from '../report-reuse.ts';
import type { GrantContext } from '../token/grants/grant.ts';
import { validateRefresh, successorOf } from './validate-refresh.ts';
import type { PresentedRefreshToken } from './validate-refresh.ts';
import type { MadeAccessToken } from '../token/access-token.ts';
import { familyEnd, refreshLifetimes, refreshSettings } from './settings.ts';
import { limitsSessions, takePlace } from '../token/access-token.ts';

/** Result of a use: the access token, and the next refresh token if the client's tokens rotate. */
export interface RefreshUse<Made> {
  readonly made: Made;
  readonly refreshToken: string | undefined;
}

/** A use that gives nothing: by the verdict on the token, or because the box has its most sessions. */
type RefusedUse = 'refused' | 'suspended' | 'reused' | 'full';

/**
 * Uses a refresh token of a family that was found by it. Two statements that many requests share suffice: the one that
 * found the family, and one that uses it if nothing that was validated has changed (boxgate.use_refresh_tokens). A
 * transaction is needed to count the sessions of a client, to return a successor once more, to end a family, and if
 * another use was in progress. `make` returns the access token for the family's grant; if it throws, nothing is used
 * up, nor when the box's limit of sessions is reached (`full`). Reuse of a rotated token ends the family (RFC 9700
 * §4.14.2).
 */
export async function useRefreshToken<Made extends MadeAccessToken>(
  presented: PresentedRefreshToken,
  found: RefreshFamily,
  context: GrantContext,
  make: (family: RefreshFamily) => Made,
): Promise<RefreshUse<Made> | RefusedUse> {
  const { state, statements } = context;
  const verdict = validateRefresh(found, presented, state);
  if (verdict === 'refused' || verdict === 'suspended') return verdict;
  if ((verdict === 'slide' || verdict === 'rotate') && !limitsSessions(state.settings)) {
    const made = make(found);
    const next = verdict === 'rotate' ? successorFor(presented.token) : undefined;
    const change = { session: made.session, family: found.id, tokenHash: found.tokenHash, now: presented.now };
    const expiresAt = slidingEnd(found, presented, state.settings);
    const isUsed = await statements.refresh({ ...change, expiresAt, next: next?.stored ?? null });
    if (isUsed) return { made, refreshToken: next?.text };
  }
  return useHeld(presented, context, make);
}

/**
 * Uses a refresh token in one transaction under the locks of the box's row and the family's row, so that a close, a
 * revocation or another use comes wholly before or wholly after it.
 */
function useHeld<Made extends MadeAccessToken>(
  presented: PresentedRefreshToken,
  context: GrantContext,
  make: (family: RefreshFamily) => Made,
): Promise<RefreshUse<Made> | RefusedUse> {
  const { token, client, now } = presented;
  const { state, transaction } = context;
  return transaction(async (connection) => {
    const family = await lockFamily(connection, state.box, token.family);
    if (family === undefined) return 'refused';
    const verdict = validateRefresh(family, presented, state);
    if (verdict === 'refused' || verdict === 'suspended') return verdict;
    if (verdict === 'reused') {
      await endFamily(connection, state.box, family.id, { as: 'revoked', now });
      const by = { client: client.client.id, user: family.user ?? undefined };
      reportReuse({ event: 'refresh_token.reused', client: family.client, by }, context);
      return verdict;
    }
    const made = make(family);
    if (!(await takePlace(connection, made.session, state.settings, now))) return 'full';
    await insertSession(connection, made.session, family.id, family.session);
    await slideFamily(connection, state.box, family.id, {
      session: made.session.id,
      now,
      expiresAt: slidingEnd(family, presented, state.settings),
      sessionEnd: made.session.expiresAt * 1000,
    });
    if (verdict === 'slide') return { made, refreshToken: undefined };
    if (verdict === 'repeat') {
      const given = successorOf(family, token, now);
      return { made, refreshToken: given && refreshTokenText(given) };
    }
    const next = successorFor(token);
    await rotateFamily(connection, state.box, family.id, { ...next.stored, generation: family.generation + 1, now });
    return { made, refreshToken: next.text };
  });
}

/** Returns the end of a family after a use, in milliseconds since 1970. */
function slidingEnd(family: RefreshFamily, { client, now }: PresentedRefreshToken, box: Box): number {
  const settings = refreshSettings(client.client, family.grant);
  return Math.min(now + refreshLifetimes(settings, box).sliding, familyEnd(family, settings, box));
}

/** A refresh token that replaces another one: its text for the client, and what its family stores of it. */
interface Successor {
  readonly text: string;
  readonly stored: { readonly tokenHash: string; readonly successor: Buffer };
}

/** Makes the next token of a family. */
function successorFor(token: RefreshToken): Successor {
  const next = nextRefreshToken(token);
  const stored = { tokenHash: tokenHash(next), successor: sealSuccessor(next, token) };
  return { text: refreshTokenText(next), stored };
}
