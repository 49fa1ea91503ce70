import { browserHash } from '../../credentials/browser-token.ts';
import { findSignIn, lockSignIn } from '../../db/authorization/sign-in.ts';
import type { SignIn } from '../../db/authorization/sign-in.ts';
import type { Connection } from '../../db/core/transaction.ts';
import type { BoxState } from '../../box/box-state.ts';
import { isRevoked } from './still-granted.ts';

type Revoking = Pick<BoxState, 'box' | 'sessionsFrom' | 'revokedBefore' | 'settings'>;

/** Returns the sign-in of the browser with this cookie, if it is valid now; `now` in milliseconds since 1970. */
export async function currentSignIn(
  connection: Connection,
  state: Revoking,
  browser: string | undefined,
  now: number,
): Promise<SignIn | undefined> {
  if (browser === undefined) return undefined;
  return validSignIn(await findSignIn(connection, state.box, browserHash(browser), now), state);
}

/**
 * Returns the same, locked until the end of the transaction, which holds the box too: a sign-out comes wholly before or
 * wholly after the rows that the transaction stores. `browser` is the hash of the cookie's text.
 */
export async function lockCurrentSignIn(
  connection: Connection,
  state: Revoking,
  browser: string,
  now: number,
): Promise<SignIn | undefined> {
  return validSignIn(await lockSignIn(connection, state.box, browser, now), state);
}

/** Returns a stored sign-in, if the settings of its box accept it. */
function validSignIn<T extends Pick<SignIn, 'version' | 'createdAt'>>(
  found: T | undefined,
  box: Omit<Revoking, 'box'>,
): T | undefined {
  if (found === undefined || box.settings.active === false) return undefined;
  return isRevoked(found.version, found.createdAt, box) ? undefined : found;
}
