import type { Box } from '../../crds/box.ts';
import type { Fault } from '../../crds/fault.ts';
import { isMostUsedPassword } from './most-used-passwords.ts';

/** Least characters of a password where the box says nothing (OWASP ASVS 5.0, 6.2.1). */
const defaultLeast = 8;
/** Most characters; nothing is ever cut off. */
const most = 1024;

/** What is wrong with a password that is to be set, for the field `path`; its text is not repeated. */
export async function passwordFaults(value: unknown, settings: Box, path = 'password'): Promise<readonly Fault[]> {
  if (typeof value !== 'string') return [{ path, message: 'must be a string' }];
  const least = settings.password?.min_length ?? defaultLeast;
  const length = Array.from(value).length;
  if (length < least) return [{ path, message: `must have at least ${String(least)} characters` }];
  if (length > most) return [{ path, message: `must have at most ${String(most)} characters` }];
  if (await isMostUsedPassword(value)) {
    return [{ path, message: 'is one of the most used passwords, which are guessed first: choose another one' }];
  }
  return [];
}
