import type { Box } from '../../crds/box.ts';
import type { Fault } from '../../crds/fault.ts';
import { PASSWORD_BYTES, storedForm } from '../../crds/secret-text.ts';
import { refusalTexts, tooShortText } from '../../crds/user-faults.ts';
import { normalPassword } from '../credentials/password.ts';

/** Minimum number of characters of a password if the box sets none (OWASP ASVS 5.0, 6.2.1). */
const defaultLeast = 8;

/** Returns the minimum number of characters of a password in a box. */
export function shortestPassword({ password }: Box): number {
  return password?.min_length ?? defaultLeast;
}

/** Weaknesses of a new password. */
export type PasswordWeakness = 'too-short' | 'too-long' | 'most-used' | 'stored-form';

/** Returns the weakness of a new password in its normal form, which is stored; undefined: none. */
export async function passwordWeakness(typed: string, settings: Box): Promise<PasswordWeakness | undefined> {
  const password = normalPassword(typed);
  const length = Array.from(password).length;
  if (length < shortestPassword(settings)) return 'too-short';
  // A password is never truncated.
  if (Buffer.byteLength(password) > PASSWORD_BYTES) return 'too-long';
  // It comes back with a record that was read, or from a migration: it must not become the password itself.
  if (storedForm(password) !== undefined) return 'stored-form';
  return (await isMostUsedPassword(password)) ? 'most-used' : undefined;
}

/** Returns the faults of a new password, for the field `path`; its text is not repeated. */
export async function passwordFaults(typed: string, settings: Box, path = 'password'): Promise<readonly Fault[]> {
  const weakness = await passwordWeakness(typed, settings);
  return weakness === undefined ? [] : [{ path, message: sentenceOf(weakness, settings) }];
}

function sentenceOf(weakness: PasswordWeakness, settings: Box): string {
  return weakness === 'too-short' ? tooShortText(shortestPassword(settings)) : refusalTexts[weakness];
}

/**
 * Checks whether a password is one of the most used (OWASP ASVS 5.0, 6.2.4), in any case of its letters. The list,
 * 49,000 long, is loaded with the first password that is set: a replica that only checks tokens does not need it.
 */
async function isMostUsedPassword(password: string): Promise<boolean> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return dictionary['passwords-common'].includes(password.toLowerCase());
}
