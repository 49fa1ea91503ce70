import { lockAnswer } from '../../../db/authorization/authorization-answer.ts';
import type { FoundCode } from '../../../db/authorization/code-statements.ts';
import { Outage } from '../../../db/core/outage.ts';
import type { Connection } from '../../../db/core/transaction.ts';
import type { CurrentStatements } from '../../../state/current-statements.ts';
import { judgeCode } from '../../authorization/judge-code.ts';
import type { PresentedCode } from '../../authorization/judge-code.ts';
import { OAuthError } from '../../oauth-error.ts';
import { storeTokenFamily } from '../../refresh/create-token-family.ts';
import { refreshSettings } from '../../refresh/settings.ts';
import { reportReuse } from '../../report-reuse.ts';
import { endTokens } from '../../session/end-tokens.ts';
import type { MadeAccessToken } from '../access-token.ts';
import { hasRoom, limitsSessions, tooManySessions } from '../session-limit.ts';
import type { GrantContext } from './grant.ts';

/** A presented code, and the function that makes its tokens if it is valid. */
export interface Redemption<T> {
  readonly presented: PresentedCode;
  readonly context: GrantContext;
  readonly make: (code: FoundCode) => T;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Tokens of a redeemed code; the refresh token if its client gets one. */
export type Redeemed<T> = T & { readonly refreshToken?: string | undefined };

/**
 * Redeems a code once (RFC 6749 §4.1.2). Two statements that many requests share suffice, one that reads it and one
 * that uses it. A transaction is needed to store a refresh token, to count the sessions of a client, to end what came
 * from an earlier use, and if something was changed between the two statements. Throws OAuthError, and Outage.
 *
 * Data that was read may be out of date when it is used. So the second statement stores nothing unless it holds the box
 * (boxgate.hold_boxes) at the version that was read with the code: nothing in between has ended what a user, a client
 * or a box began. A sign-out, the end of a grant and another use hold the code's row, and leave it used: the row is
 * locked and read again.
 */
export async function redeemCode<T extends { readonly made: MadeAccessToken }>(
  redemption: Redemption<T>,
): Promise<Redeemed<T>> {
  const { presented, context, make, now } = redemption;
  const { state, statements, transaction } = context;
  const withPerson = presented.client.client.id_token_claims !== undefined;
  const code = await statements.code({ box: state.box, id: presented.code.id, withPerson });
  const verdict = code === undefined ? 'refused' : judgeCode(code, presented, state, now);
  if (code === undefined || verdict === 'refused') throw notValid();
  if (verdict === 'good' && !limitsSessions(state.settings) && !getsRefreshToken(presented)) {
    const made = make(code);
    if (await use(redemption, { made, code, family: null }, statements)) return made;
  }
  const redeemed = await transaction((connection, held) => redeemHeld(redemption, connection, held));
  if (redeemed === 'refused') throw notValid();
  if (redeemed === 'full') throw tooManySessions();
  return redeemed;
}

/** Makes the same error for every invalid code, so that a guess reveals nothing. */
export function notValid(): OAuthError {
  return new OAuthError('invalid_grant', 'The code is not valid');
}

function getsRefreshToken({ client }: PresentedCode): boolean {
  return refreshSettings(client.client, 'a').refresh_token === true;
}

/**
 * Redeems a code with its row locked. A second use finds it used, and ends the tokens of the first. The code stays
 * unused if `make` throws, or needs a key first.
 */
async function redeemHeld<T extends { readonly made: MadeAccessToken }>(
  redemption: Redemption<T>,
  connection: Connection,
  statements: CurrentStatements,
): Promise<Redeemed<T> | 'refused' | 'full'> {
  const { presented, context, make, now } = redemption;
  const { box, settings } = context.state;
  const code = await lockAnswer(connection, box, presented.code.id);
  if (code === undefined) return 'refused';
  const verdict = judgeCode(code, presented, context.state, now);
  if (verdict === 'used') {
    if (code.tokens !== null) await endTokens(connection, box, code.tokens, { as: 'revoked', now });
    const by = { client: presented.client.client.id, user: code.user };
    reportReuse({ event: 'code.reused', client: code.client, by }, context);
  }
  if (verdict !== 'good') return 'refused';
  const made = make(code);
  const { session } = made.made;
  if (!(await hasRoom(connection, session, settings, now))) return 'full';
  const { authenticatedAt } = code;
  const refresh = refreshSettings(presented.client.client, 'a');
  const origin = { grant: 'a', authenticatedAt, settings: refresh, box: settings, now } as const;
  const family = getsRefreshToken(presented) ? await storeTokenFamily(connection, session, origin) : undefined;
  const isUsed = await use(redemption, { made, code, family: family?.id ?? null }, statements);
  if (!isUsed) throw new Outage('a locked code cannot be used');
  return { ...made, refreshToken: family?.token };
}

/** Tokens about to be stored for a code. */
interface Use<T> {
  readonly made: T;
  readonly code: FoundCode;
  readonly family: string | null;
}

/** Marks a code as used and stores its session; false if something has changed since it was read. */
function use<T extends { readonly made: MadeAccessToken }>(
  { presented, now }: Redemption<T>,
  { made, code, family }: Use<T>,
  statements: CurrentStatements,
): Promise<boolean> {
  return statements.redeem({ code: presented.code, session: { ...made.made.session, user: code.user }, family, now });
}
