import type { Box } from '../../crds/box.ts';
import { browserHash, newBrowserToken } from '../credentials/browser-token.ts';
import { deleteSignIn, insertSignIn } from '../db/sign-in.ts';
import type { Connection } from '../db/transaction.ts';
import type { StoredUser } from '../db/user.ts';

/** A browser after its user signed in. */
export interface SignedIn {
  /** The new text for its cookie. */
  readonly browser: string;
  /** Seconds it counts. */
  readonly lifetime: number;
  readonly user: SigningInUser;
}

/** The user that a sign-in is for. */
export type SigningInUser = Pick<StoredUser, 'id' | 'password'>;

/** Who signs in, with which cookie's text until now. */
export interface SigningInBrowser {
  readonly user: SigningInUser;
  /** The config version that the user was read under: what ends all that the user has begun ends this too. */
  readonly version: number;
  readonly browser: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

const twelveHours = 12 * 3600;

/**
 * Stores a sign-in: the browser gets a new text for its cookie, and what the old one stood for is over. In a `write`
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
