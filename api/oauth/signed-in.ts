import { browserHash } from '../credentials/browser-token.ts';
import { findSignIn, lockSignIn } from '../db/sign-in.ts';
import type { SignIn } from '../db/sign-in.ts';
import type { Connection } from '../db/transaction.ts';
import type { BoxState } from '../state/box-state.ts';

type Judging = Pick<BoxState, 'box' | 'sessionsFrom' | 'revokedBefore' | 'settings'>;

/** The sign-in of the browser with this cookie, if it counts now; `now` in milliseconds since 1970. */
export async function currentSignIn(
  connection: Connection,
  state: Judging,
  browser: string | undefined,
  now: number,
): Promise<SignIn | undefined> {
  if (browser === undefined) return undefined;
  return judged(await findSignIn(connection, state.box, browserHash(browser), now), state);
}

/** The same, held until the transaction ends: a sign-out comes wholly before or wholly after what is stored in it. */
export async function lockCurrentSignIn(
  connection: Connection,
  state: Judging,
  browser: string | undefined,
  now: number,
): Promise<SignIn | undefined> {
  if (browser === undefined) return undefined;
  await lockSignIn(connection, state.box, browserHash(browser));
  return currentSignIn(connection, state, browser, now);
}

function judged(found: SignIn | undefined, { settings, sessionsFrom, revokedBefore }: Judging): SignIn | undefined {
  if (found === undefined || settings.active === false) return undefined;
  return found.version >= sessionsFrom && found.createdAt >= (revokedBefore ?? 0) ? found : undefined;
}
