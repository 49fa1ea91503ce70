import { closeCodesOf } from '../../db/authorization/authorization-code.ts';
import type { Connection } from '../../db/core/transaction.ts';
import { endTokens } from '../../oauth/session/end-session.ts';

/**
 * Closes every code, session and refresh family that was begun with the sign-ins of a browser, given by the hashes of
 * its cookie; returns the users for whom there was any. In a `write` transaction, after the sign-ins were deleted: then
 * nothing more is issued to them. `now` in milliseconds since 1970.
 */
export async function endBegun(
  connection: Connection,
  box: string,
  browsers: readonly string[],
  now: number,
): Promise<readonly number[]> {
  const answers = await closeCodesOf(connection, box, browsers, now);
  const issued = answers.flatMap(({ tokens }) => tokens ?? []);
  await endTokens(connection, box, issued, { as: 'closed', now });
  return [...new Set(answers.map(({ user }) => user))];
}
