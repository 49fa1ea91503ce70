import type { NewSession } from '../../db/session/issue.ts';
import { createTokenFamily } from '../refresh/create-token-family.ts';
import type { RefreshSettings } from '../refresh/settings.ts';
import type { GrantContext } from './grants/grant.ts';
import { issueWithinLimit, limitsSessions, tooManySessions } from './session-limit.ts';

/**
 * Stores the session of a client's own token (`now` in milliseconds): in a batch, or in a transaction if its box limits
 * sessions. Returns the refresh token if the client gets one. Throws OAuthError `slow_down`, and Outage.
 */
export async function storeSession(
  session: NewSession,
  settings: RefreshSettings,
  { state, statements, transaction }: Pick<GrantContext, 'state' | 'statements' | 'transaction'>,
  now: number,
): Promise<string | undefined> {
  if (settings.refresh_token === true) {
    const origin = { grant: 'c', authenticatedAt: null, settings, box: state.settings, now } as const;
    const refreshToken = await createTokenFamily(session, origin, { statements, transaction });
    if (refreshToken === undefined) throw tooManySessions();
    return refreshToken;
  }
  if (!limitsSessions(state.settings)) await statements.issue(session);
  else if (!(await issueWithinLimit(session, state.settings, transaction, now))) throw tooManySessions();
  return undefined;
}
