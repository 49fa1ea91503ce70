import { browserHash } from '../../credentials/browser-token.ts';
import { demandStandbyForBox } from '../../db/box/box.ts';
import { deleteSignIns } from '../../db/authorization/sign-in.ts';
import { inBox } from '../../db/core/transaction.ts';
import type { BoxState } from '../../box/box-state.ts';
import { beginSignIn, endBegun } from './begin-sign-in.ts';
import type { SignedIn } from './begin-sign-in.ts';
import type { ResourceServices } from '../../records/services.ts';
import { verifyPassword } from './verify-password.ts';
import type { AdmitGuess } from './verify-password.ts';

/** Content of the sign-in form, and the text of the browser's cookie. */
export interface SignInAttempt {
  readonly email: string;
  readonly password: string;
  readonly browser: string;
}

type SignInServices = Pick<ResourceServices, 'pool' | 'passwords' | 'now' | 'revocationsNeedStandby'>;

/**
 * Signs a user in: the browser gets a new text for its cookie, and the sign-in of the old one ends, with what somebody
 * else began with it. Undefined when the email or password is wrong, or the user is inactive or deleted. Throws Outage,
 * and the errors of `admit`.
 */
export async function signIn(
  services: SignInServices,
  state: Pick<BoxState, 'box' | 'settings'>,
  attempt: SignInAttempt,
  admit: AdmitGuess,
): Promise<SignedIn | undefined> {
  const { box, settings } = state;
  const { pool, now, revocationsNeedStandby } = services;
  const found = await verifyPassword(services, box, attempt, admit);
  if (found === undefined) return undefined;
  const { user, version } = found;
  const who = { user, version, browser: attempt.browser, now: now(), revocationsNeedStandby };
  return inBox(pool, box, 'write', (connection) => beginSignIn(connection, box, settings, who));
}

/**
 * Ends the sign-in of a browser, and every session that was begun with it: after signing out no app keeps access.
 * Returns its user, undefined when there is none. Throws Outage.
 */
export function signOut(
  { pool, now, revocationsNeedStandby }: Pick<ResourceServices, 'pool' | 'now' | 'revocationsNeedStandby'>,
  box: string,
  browser: string,
): Promise<number | undefined> {
  return inBox(pool, box, 'write', async (connection) => {
    if (revocationsNeedStandby) await demandStandbyForBox(connection, box);
    // First, so that tokens issued to it meanwhile are found below.
    const { user, browsers } = await deleteSignIns(connection, box, browserHash(browser));
    await endBegun(connection, box, browsers, now());
    return user;
  });
}
