import { signIn } from '../../users/sign-in/sign-in.ts';
import type { SignInAttempt } from '../../users/sign-in/sign-in.ts';
import type { SignedIn } from '../../users/sign-in/begin-sign-in.ts';
import type { ApiContext } from '../server/api-context.ts';
import { throttlePassword } from '../throttle/password-guess.ts';
import type { Guess } from '../throttle/password-guess.ts';
import type { PageBox } from './page-box.ts';

/** The origin of a password. */
export interface Visitor {
  readonly address: string;
  readonly requestId: string;
  /** The browser's device token; '' for none. */
  readonly device: string;
}

/** Signs a user in, unless too many passwords failed. Throws Problem `throttled`, Outage. */
export function guessPassword(
  context: ApiContext,
  { state }: PageBox,
  attempt: SignInAttempt,
  { address, requestId, device }: Visitor,
): Promise<SignedIn | undefined> {
  const { box } = state;
  const guess = { box, email: attempt.email, address, requestId, proof: proofOf(context, box, device) };
  return throttlePassword(context.passwordLimits, guess, (admit) => signIn(context.oauth, state, attempt, admit));
}

/** Returns the check of a browser's proof; undefined for a browser without a device token. */
function proofOf({ deviceTokens }: ApiContext, box: string, device: string): Guess['proof'] {
  if (device === '') return undefined;
  return ({ id, password }) => {
    const found = deviceTokens.find(device, { box, user: id, password });
    return found === undefined ? undefined : `device:${found}`;
  };
}
