import { inBox } from '../../db/core/transaction.ts';
import type { SignIn } from '../../db/authorization/sign-in.ts';
import { currentSignIn } from '../../oauth/session/signed-in.ts';
import type { ApiContext } from '../server/api-context.ts';
import type { PageBox } from './page-box.ts';
import type { PageRequest } from './page-request.ts';

/** Finds the sign-in of a page's visitor; undefined if nobody is signed in there. Throws Outage. */
export async function findSignedInUser(
  { oauth }: ApiContext,
  { box, browser }: PageRequest,
): Promise<SignIn | undefined> {
  // No cookie, no session to look up: skip the statement.
  if (browser.isNew) return undefined;
  return inBox(oauth.pool, box.state.box, 'snapshot', (connection) =>
    currentSignIn(connection, box.state, browser.token, oauth.now()),
  );
}

/** Returns the target of the button to sign out. */
export function signOutAddress({ issuer }: PageBox): string {
  return `${issuer}/auth/signout`;
}
