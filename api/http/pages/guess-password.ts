import { signIn } from '../../users/sign-in.ts';
import type { SignInAttempt } from '../../users/sign-in.ts';
import type { SignedIn } from '../../users/begin-sign-in.ts';
import type { ApiContext } from '../api-context.ts';
import { guessing } from '../guessing.ts';
import type { PageBox } from './page-box.ts';

/** Signs somebody in, unless too many passwords failed. Throws Problem `throttled`, Outage. */
export function guessPassword(
  { oauth, throttle }: ApiContext,
  { state }: PageBox,
  attempt: SignInAttempt,
  address: string,
): Promise<SignedIn | undefined> {
  const guess = { box: state.box, email: attempt.email, address };
  return guessing(throttle, guess, () => signIn(oauth, state, attempt));
}
