import { inBox } from '../db/transaction.ts';
import { findSigningIn } from '../db/user.ts';
import type { SigningIn } from '../db/user.ts';
import { emailKey } from './email.ts';
import type { UserServices } from './services.ts';

/**
 * Who signs in with this email and password; undefined for a wrong password, an email that nobody has, and an inactive
 * user, all after the same work, so that none is told from another. What is begun for the user has to
 * carry the `version` of the answer: whatever ends the user's sessions from then on ends it too. Throws Outage when
 * Postgres is away or too many passwords wait; counting failures is the caller's part.
 */
export async function verifyPassword(
  services: Pick<UserServices, 'pool' | 'passwords'>,
  box: string,
  email: string,
  password: string,
): Promise<SigningIn | undefined> {
  // Asked in any case, for what is no email too: the statement takes its time.
  const key = emailKey(email) ?? '';
  const found = await inBox(services.pool, box, 'snapshot', (connection) => findSigningIn(connection, box, key));
  const right = await services.passwords.verify(found?.user.password, password);
  return right && found?.user.status !== 'inactive' ? found : undefined;
}
