import { inBox } from '../../db/transaction.ts';
import type { SignIn } from '../../db/sign-in.ts';
import { currentSignIn } from '../../oauth/signed-in.ts';
import type { ApiContext } from '../api-context.ts';
import type { PageBox } from './page-box.ts';
import type { Visit } from './visit.ts';

/** The sign-in of who visits a page; undefined when nobody is signed in there. Throws Outage. */
export async function findVisitor({ oauth }: ApiContext, { box, browser }: Visit): Promise<SignIn | undefined> {
  // No cookie, no session to look up: skip the statement.
  if (browser.isNew) return undefined;
  return inBox(oauth.pool, box.state.box, 'snapshot', (connection) =>
    currentSignIn(connection, box.state, browser.token, oauth.now()),
  );
}

/** Where the button to sign out leads. */
export function signOutAddress({ issuer }: PageBox): string {
  return `${issuer}/auth/signout`;
}
