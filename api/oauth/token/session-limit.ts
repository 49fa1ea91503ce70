import type { Box } from '../../../crds/box.ts';
import type { NewSession } from '../../db/session/issue.ts';
import { takeSessionRoom } from '../../db/session/session-room.ts';
import { insertSession } from '../../db/session/session.ts';
import type { Connection } from '../../db/core/transaction.ts';
import type { Transaction } from '../../box/state-cache.ts';
import { OAuthError } from '../oauth-error.ts';
import { quotaSentence } from '../../../crds/quota.ts';
import type { BoxState } from '../../box/box-state.ts';

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
