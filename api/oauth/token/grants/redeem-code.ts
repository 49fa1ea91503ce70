import { lockAnswer } from '../../../db/authorization/authorization-answer.ts';
import type { FoundCode } from '../../../db/authorization/code-statements.ts';
import { Outage } from '../../../db/core/outage.ts';
import type { Connection } from '../../../db/core/transaction.ts';
import type { BoxState } from '../../../state/box-state.ts';
import type { CurrentStatements } from '../../../state/current-statements.ts';
import { validateCode } from '../../authorization/validate-code.ts';
import type { CodeVerdict, PresentedCode } from '../../authorization/validate-code.ts';
import { OAuthError } from '../../oauth-error.ts';
import { storeTokenFamily } from '../../refresh/create-token-family.ts';
import { refreshSettings } from '../../refresh/settings.ts';
import { reportReuse } from '../../report-reuse.ts';
import { endTokens } from '../../session/end-tokens.ts';
import type { MadeAccessToken, StartedToken } from '../access-token.ts';
import { limitsSessions, takePlace, tooManySessions } from '../session-limit.ts';
import { demandSessionQuota, sessionQuotaRefusal } from '../session-quota.ts';
import { expectedCode } from './expected-code.ts';
import type { GrantContext } from './grant.ts';

/** A presented code, the start of its token, and the function that makes its tokens if it is valid. */
export interface Redemption<T> {
  readonly presented: PresentedCode;
  readonly context: GrantContext;
  readonly started: StartedToken;
  /** Address of the caller. */
  readonly remoteAddr: string | null;
  readonly make: (code: FoundCode) => T;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Tokens of a redeemed code; the refresh token if its client gets one. */
export type Redeemed<T> = T & { readonly refreshToken?: string | undefined };

/**
 * Redeems a code once (RFC 6749 §4.1.2). One statement that many requests share suffices if nothing in the box has
 * changed since the code was issued (`findOrUse`). Otherwise a second one uses the code after it was validated. A
 * transaction is needed to store a refresh token, to count the sessions of a client, to end what came from an earlier
 * use, and if something was changed between the two statements. Throws OAuthError, and Outage.
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
  const { sessionsFrom, revokedBefore } = state;
  const { value: code, isUsed } = await findOrUse(redemption);
  const verdict = code === undefined ? 'refused' : validateCode(code, presented, { sessionsFrom, revokedBefore }, now);
  if (code !== undefined && isUsed) return asStored(code, verdict, make(code));
  if (code === undefined || verdict === 'refused') throw notValid();
  if (verdict === 'good' && !needsTransaction(presented, state)) {
    demandSessionQuota(state);
    const made = make(code);
    if (await use(redemption, { made, code, family: null }, statements)) return made;
  }
  const redeemed = await transaction((connection, held) => redeemHeld(redemption, connection, held));
  if (redeemed === 'refused') throw notValid();
  if (redeemed === 'full') throw tooManySessions();
  return redeemed;
}

/** A code as it was found; `isUsed`: this request has used it already. */
interface Found {
  readonly value: FoundCode | undefined;
  readonly isUsed: boolean;
}

/** Finds a code; uses it in the same statement if it needs no transaction and its row is as expected. */
async function findOrUse<T>({ presented, context, started, remoteAddr, now }: Redemption<T>): Promise<Found> {
  const { state, statements } = context;
  const { code, client } = presented;
  const withPerson = code.tellsClaims || client.client.id_token_claims !== undefined;
  const expected = needsTransaction(presented, state) ? undefined : expectedCode(presented, state, now);
  if (expected === undefined || sessionQuotaRefusal(state) !== undefined) {
    return { value: await statements.code({ box: state.box, id: code.id, withPerson }), isUsed: false };
  }
  const session = { ...started.session, remoteAddr };
  return statements.useCode({ ...expected, code, withPerson, session, now });
}

/** Checks whether a code of this client is always redeemed in a transaction. */
function needsTransaction(presented: PresentedCode, { settings }: BoxState): boolean {
  return limitsSessions(settings) || getsRefreshToken(presented);
}

/**
 * Returns the tokens of a code that was used before it was validated. Throws an Error if it was not valid, or if the
 * session is not as the statement stored it: the two must never differ.
 */
function asStored<T extends { readonly made: MadeAccessToken }>(code: FoundCode, verdict: CodeVerdict, made: T): T {
  const { scope, audience } = made.made.session;
  if (verdict !== 'good' || scope !== code.scope || audience?.join('\n') !== code.audience?.join('\n')) {
    throw new Error(`the code ${code.id} was used, and is ${verdict}`);
  }
  return made;
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
  const verdict = validateCode(code, presented, context.state, now);
  // A code that ended with its sign-in is used too, and has no tokens.
  if (verdict === 'used' && code.tokens !== null) {
    await endTokens(connection, box, [code.tokens], { as: 'revoked', now });
    const by = { client: presented.client.client.id, user: code.user };
    reportReuse({ event: 'code.reused', client: code.client, by }, context);
  }
  if (verdict !== 'good') return 'refused';
  demandSessionQuota(context.state);
  const made = make(code);
  const { session } = made.made;
  if (!(await takePlace(connection, session, settings, now))) return 'full';
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
