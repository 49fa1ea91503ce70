import { signIn } from '../../users/sign-in.ts';
import type { SignInAttempt } from '../../users/sign-in.ts';
import type { SignedIn } from '../../users/begin-sign-in.ts';
import { emailKey } from '../../users/email.ts';
import type { ApiContext } from '../api-context.ts';
import { beginAttempt } from './count-attempt.ts';
import type { PageBox } from './page-box.ts';

/**
 * Signs somebody in, unless too many passwords failed: of this account from this address, of all accounts from it, or of
 * this account from everywhere. Those under way count, and nobody learns whether there is such an account.
 * Throws Problem `throttled`, Outage.
 */
export async function guessPassword(
  { oauth, throttle }: ApiContext,
  { state }: PageBox,
  attempt: SignInAttempt,
  address: string,
): Promise<SignedIn | undefined> {
  const { box } = state;
  const account = emailKey(attempt.email) ?? attempt.email;
  const { passwords, accounts } = throttle;
  beginAttempt(passwords, [box, account, address]);
  try {
    beginAttempt(accounts, [box, account, '']);
    try {
      const signedIn = await signIn(oauth, state, attempt);
      if (signedIn === undefined) {
        passwords.failed(box, account, address);
        accounts.failed(box, account, '');
      }
      return signedIn;
    } finally {
      accounts.end(box, account, '');
    }
  } finally {
    passwords.end(box, account, address);
  }
}
