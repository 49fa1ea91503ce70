import type { FoundCode } from '../../../db/authorization/code-statements.ts';
import { judgeCode } from '../../authorization/judge-code.ts';
import type { PresentedCode } from '../../authorization/judge-code.ts';
import type { MadeAccessToken } from '../access-token.ts';
import { refreshSettings } from '../../refresh/settings.ts';
import type { GrantContext } from './grant.ts';

/** A presented code, and the function that makes its tokens if it is valid. */
export interface RedemptionAttempt<T> {
  readonly presented: PresentedCode;
  readonly context: GrantContext;
  readonly make: (code: FoundCode) => T;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Redeems a code by two statements that many requests share, one that reads it and one that uses it; only without a
 * refresh token and a limit of sessions. Undefined: a transaction that holds the box is needed, which finds the reason
 * (a second use, or a concurrent change).
 *
 * Data that was read may be out of date when it is used. So the second statement stores nothing unless it holds the
 * box, as that transaction would (boxgate.hold_boxes), at the version that was read with the code: nothing in between
 * has ended what a user, a client or a box began. A sign-out, the end of a grant and another use hold the code's row,
 * and leave it used: the row is locked and read again.
 */
export async function redeemCodeBatched<T extends { readonly made: MadeAccessToken }>(
  attempt: RedemptionAttempt<T>,
): Promise<T | 'refused' | undefined> {
  const { presented, context, make, now } = attempt;
  const { state, statements } = context;
  const { client, code } = presented;
  if (state.settings.tokens?.max_sessions_per_client !== undefined) return undefined;
  const found = await statements.code({ box: state.box, id: code.id });
  const verdict = found === undefined ? 'refused' : judgeCode(found, presented, state, now);
  if (found === undefined || verdict === 'refused') return 'refused';
  if (verdict === 'used' || refreshSettings(client.client, 'a').refresh_token === true) return undefined;
  const made = make(found);
  const session = { ...made.made.session, user: found.user };
  return (await statements.redeem({ code, session, now })) ? made : undefined;
}
