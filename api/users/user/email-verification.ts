import { Problem } from '../../problem.ts';

/** A change of a user: the fields that it changes, and whether the user's own token makes it. */
export interface ValidatedChange {
  readonly changes: readonly string[];
  readonly isOwn: boolean;
}

/** Throws Problem `forbidden` if a user's own token would say whether the email of this user is verified. */
export function refuseOwnVerification({ changes, isOwn }: ValidatedChange): void {
  if (!isOwn || !changes.includes('email_verified')) return;
  const message = 'cannot be set with a token of the same user: leave it out, or ask an administrator';
  throw new Problem('forbidden', [{ path: 'email_verified', message }]);
}

/**
 * Returns `email_verified` after a change: as it is `given`; otherwise false for another email from the user's own
 * token, and null (absent) for one from somebody else. Undefined: it stays.
 */
export function verifiedAfter(
  { changes, isOwn }: ValidatedChange,
  given: boolean | undefined,
): boolean | null | undefined {
  if (given !== undefined) return given;
  if (!changes.includes('email')) return undefined;
  return isOwn ? false : null;
}
