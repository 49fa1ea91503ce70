import type { Box } from '../../../crds/box.ts';
import { browserHash, newBrowserToken } from '../../credentials/browser-token.ts';
import { closeCodesOf, moveCodes } from '../../db/authorization/authorization-code.ts';
import { insertConsentRequest, takeConsentRequests } from '../../db/authorization/consent-request.ts';
import { deleteSignIns, insertSignIn } from '../../db/authorization/sign-in.ts';
import { demandStandby } from '../../db/box/box.ts';
import type { Connection } from '../../db/core/transaction.ts';
import { lockUserRow } from '../../db/user.ts';
import type { StoredUser } from '../../db/user.ts';
import { endTokens } from '../../oauth/session/end-session.ts';

/** A browser after its user signed in. */
export interface SignedIn {
  /** The new text for its cookie. */
  readonly browser: string;
  /** Seconds for which it is valid. */
  readonly lifetime: number;
  readonly user: SigningInUser;
  /** IDs of other users who were signed in with this browser, or had begun something with it: that has ended. */
  readonly signedOut: readonly number[];
}

/** The user that a sign-in is for. */
export type SigningInUser = Pick<StoredUser, 'id' | 'password'>;

/** User who signs in, and the present text of the browser's cookie. */
export interface SigningInBrowser {
  readonly user: SigningInUser;
  /** Config version that the user was read under: ending all that the user has begun ends this too. */
  readonly version: number;
  readonly browser: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** True if what ends must be on a standby as well. */
  readonly revocationsNeedStandby: boolean;
}

/** Seconds that a person stays signed in, in a box that sets no lifetime. */
export const defaultSignInLifetime = 12 * 3600;

/**
 * Stores a sign-in: the browser gets a new text for its cookie, and the sign-in of the old one ends. What the user
 * began with the old one belongs to the new one; what somebody else began with it ends. Undefined if the user was
 * deleted meanwhile. In a `write` transaction.
 */
export async function beginSignIn(
  connection: Connection,
  box: string,
  { sign_in }: Pick<Box, 'sign_in'>,
  { user, version, browser: old, now, revocationsNeedStandby }: SigningInBrowser,
): Promise<SignedIn | undefined> {
  const lifetime = sign_in?.session_lifetime ?? defaultSignInLifetime;
  const browser = newBrowserToken();
  const expiresAt = now + lifetime * 1000;
  const [from, to] = [browserHash(old), browserHash(browser)];
  // A deletion of the user comes before all of this or after it, and so does the same form that was sent twice.
  if (!(await lockUserRow(connection, box, user.id))) return undefined;
  const waiting = await takeConsentRequests(connection, box, from);
  // First, so that codes issued to it meanwhile are found below.
  const { user: before = user.id, browsers } = await deleteSignIns(connection, box, from);
  await moveCodes(connection, box, { user: user.id, from: browsers, to, until: expiresAt });
  const ended = await endBegun(connection, box, browsers, now);
  // The setting takes effect at the commit.
  if (ended.length > 0 && revocationsNeedStandby) await demandStandby(connection);
  const signedOut = [...new Set([before, ...ended])].filter((one) => one !== user.id);
  const times = { createdAt: now, expiresAt };
  const replaced = { replaces: from, replacesUnseen: browsers[1] };
  await insertSignIn(connection, box, { browser: to, user: user.id, version, ...times, ...replaced });
  for (const request of waiting) await insertConsentRequest(connection, box, { ...request, browser: to });
  return { browser, lifetime, user, signedOut };
}

/**
 * Closes every code, session and refresh family that was begun with the sign-ins of a browser, given by the hashes of
 * its cookie; returns the users for whom there was any. In a `write` transaction, after the sign-ins were deleted: then
 * nothing more is issued to them. `now` in milliseconds since 1970.
 */
export async function endBegun(
  connection: Connection,
  box: string,
  browsers: readonly string[],
  now: number,
): Promise<readonly number[]> {
  const answers = await closeCodesOf(connection, box, browsers, now);
  const issued = answers.flatMap(({ tokens }) => tokens ?? []);
  await endTokens(connection, box, issued, { as: 'closed', now });
  return [...new Set(answers.map(({ user }) => user))];
}
