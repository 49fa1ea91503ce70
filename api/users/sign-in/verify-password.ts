import { inBox } from '../../db/core/transaction.ts';
import { findSigningIn } from '../../db/user.ts';
import type { SigningIn } from '../../db/user.ts';
import type { Sharer } from '../../shares/fair-queue.ts';
import { emailKey } from '../email.ts';
import type { ResourceServices } from '../../records/services.ts';

/**
 * Admits a guess at the password of an account, undefined for one that does not exist, before the password is verified;
 * returns the sharer of argon2 that it belongs to. Throws Problem `throttled` when too many failed, Outage.
 */
export type AdmitGuess = (account: GuessedAccount | undefined) => Promise<Sharer>;

/** An account whose password is guessed; without networks for one that is not signed in to. */
export type GuessedAccount = Pick<SigningIn, 'user'> & Partial<Pick<SigningIn, 'networks'>>;

/** Email and password, as typed by a user who wants to sign in. */
export interface TypedPassword {
  readonly email: string;
  readonly password: string;
}

/**
 * Returns the user with this email and password; undefined for a wrong password, an unknown email, and an inactive
 * user, all after the same work, so that they cannot be distinguished. Anything begun for the user must carry the
 * `version` of the answer: ending the user's sessions from then on ends it too. Throws Outage when Postgres is away or
 * too many passwords wait, and the errors of `admit`.
 */
export async function verifyPassword(
  services: Pick<ResourceServices, 'pool' | 'passwords'>,
  box: string,
  { email, password }: TypedPassword,
  admit: AdmitGuess,
): Promise<SigningIn | undefined> {
  // Asked in any case, even for an invalid email: the statement takes its time.
  const key = emailKey(email) ?? '';
  const found = await inBox(services.pool, box, 'snapshot', (connection) => findSigningIn(connection, box, key));
  const sharer = await admit(found);
  const right = await services.passwords.verify(found?.user.password, password, sharer);
  return right && found?.user.status !== 'inactive' ? found : undefined;
}
