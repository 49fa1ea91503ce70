import type { Box } from '../../../crds/box.ts';
import { browserHash, newBrowserToken } from '../../credentials/browser-token.ts';
import { deleteSignIn, insertSignIn } from '../../db/authorization/sign-in.ts';
import type { Connection } from '../../db/core/transaction.ts';
import type { StoredUser } from '../../db/user/user.ts';

/** A browser after its user signed in. */
export interface SignedIn {
  /** The new text for its cookie. */
  readonly browser: string;
  /** Seconds for which it is valid. */
  readonly lifetime: number;
  readonly user: SigningInUser;
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
}

const twelveHours = 12 * 3600;

/**
 * Stores a sign-in: the browser gets a new text for its cookie, and the sign-in of the old one ends. In a `write`
 * transaction.
 */
export async function beginSignIn(
  connection: Connection,
  box: string,
  { sign_in }: Pick<Box, 'sign_in'>,
  { user, version, browser: old, now }: SigningInBrowser,
): Promise<SignedIn> {
  const lifetime = sign_in?.session_lifetime ?? twelveHours;
  const browser = newBrowserToken();
  await deleteSignIn(connection, box, browserHash(old));
  const times = { createdAt: now, expiresAt: now + lifetime * 1000 };
  await insertSignIn(connection, box, { browser: browserHash(browser), user: user.id, version, ...times });
  return { browser, lifetime, user };
}
