import type { SignInNetworks, StoredUser } from '../../db/user/user.ts';
import { Problem } from '../../problem.ts';
import { emailKey } from '../../users/user/email.ts';
import type { AdmitGuess, GuessedAccount } from '../../users/sign-in/verify-password.ts';
import { beginAttempt, endAll } from './attempt.ts';
import type { Attempt } from './attempt.ts';
import { hashSharer } from './hash-sharer.ts';
import { siteOf } from './known-networks.ts';
import type { PasswordLimits } from './password-limits.ts';
import type { SharedLimit } from './failures-of-all-replicas.ts';

/** The account whose password is guessed, and the origin of the guess. */
export interface Guess {
  readonly box: string;
  /** The email as typed: all spellings of one account are counted together. */
  readonly email: string;
  readonly address: string;
  readonly requestId?: string | undefined;
  /**
   * Returns the ID of a proof that the guess comes from the owner of an account, such as a browser that has signed in
   * before; undefined if there is none. Omitted if there is no proof to check.
   */
  readonly proof?: ((user: StoredUser) => string | undefined) | undefined;
}

/**
 * Verifies a password within the limits on failures, which apply to every endpoint that verifies one. Without a proof
 * they are those of the address and its network, and that of the account unless the network signed in to it lately.
 * With a proof they are its own, which strangers cannot use up. The limits do not reveal whether an account exists.
 * Undefined is a failure. It and a refusal are counted for the audit trail, which names the account only if it exists.
 * A success at a sign-in stores the network. Throws Problem `throttled`, Outage, and any error of `verify`.
 */
export async function throttlePassword<T>(
  limits: PasswordLimits,
  guess: Guess,
  verify: (admit: AdmitGuess) => Promise<T | undefined>,
): Promise<T | undefined> {
  let account: GuessedAccount | undefined;
  const note = (event: 'user.sign_in_failed' | 'user.throttled', result: 'failure' | 'denied'): void => {
    const { box, address, requestId } = guess;
    const target = account && `User/${String(account.user.id)}`;
    limits.events.note({ box, event, result, target, origin: { remoteAddr: address, requestId } });
  };
  try {
    const verified = await guessWithinLimits(limits, guess, (admit) =>
      verify((found) => {
        account = found;
        return admit(found);
      }),
    );
    if (verified === undefined) note('user.sign_in_failed', 'failure');
    else if (account !== undefined) await limits.networks.add(guess.box, account, guess.address);
    return verified;
  } catch (error) {
    if (error instanceof Problem && error.code === 'throttled') note('user.throttled', 'denied');
    throw error;
  }
}

async function guessWithinLimits<T>(
  limits: PasswordLimits,
  guess: Guess,
  verify: (admit: AdmitGuess) => Promise<T | undefined>,
): Promise<T | undefined> {
  const attempts: Attempt[] = [];
  // Before the account is read: an address that has failed too often costs no statement.
  if (guess.proof === undefined) attempts.push(beginAtAddress(limits, guess));
  try {
    const verified = await verify(async (account) => {
      const proven = account && guess.proof?.(account.user);
      if (proven !== undefined) attempts.push(beginAttempt(limits.throttle.proven, [guess.box, proven, '']));
      else if (guess.proof !== undefined) attempts.push(beginAtAddress(limits, guess));
      attempts.push(await limits.shared.begin(guess.box, sharedLimits(limits, guess, proven, account?.networks)));
      // A browser that has signed in before has a share of its own: not that of its address.
      if (proven !== undefined) return { box: guess.box, member: proven };
      attempts.push(beginAttempt(limits.throttle.addresses, ['', '', guess.address]));
      return hashSharer(limits.throttle, guess.box, guess.address);
    });
    if (verified === undefined) for (const attempt of attempts) await attempt.failed();
    return verified;
  } finally {
    endAll(attempts);
  }
}

function beginAtAddress({ throttle }: PasswordLimits, guess: Guess): Attempt {
  return beginAttempt(throttle.passwords, [guess.box, accountOf(guess), guess.address]);
}

function accountOf({ email }: Guess): string {
  return emailKey(email) ?? email;
}

/** One network can use up a quarter of an account's failures, so that one stranger does not reach the whole limit. */
const shareOfOneNetwork = 4;

function sharedLimits(
  { slot, networks, perAccount }: PasswordLimits,
  guess: Guess,
  proven: string | undefined,
  known: SignInNetworks = {},
): readonly SharedLimit[] {
  if (proven !== undefined) return [{ subject: proven, most: perAccount }];
  const perNetwork = Math.max(1, Math.floor(perAccount / shareOfOneNetwork));
  const { box, address } = guess;
  const account = accountOf(guess);
  const ofNetwork = { subject: `guesser:${slot(box, account, siteOf(address))}`, most: perNetwork };
  if (networks.has(known, address)) return [ofNetwork];
  return [{ subject: `account:${slot(box, account)}`, most: perAccount }, ofNetwork];
}
