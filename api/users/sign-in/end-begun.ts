import { endAnswersOf } from '../../db/authorization/authorization-answer.ts';
import { endFamilies, endSessions } from '../../db/session/session.ts';
import type { Connection } from '../../db/core/transaction.ts';

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
  const answers = await endAnswersOf(connection, box, browsers, now);
  const tokens = answers.flatMap((answer) => answer.tokens ?? []);
  const ending = { as: 'closed', now } as const;
  const families = new Set(tokens.flatMap(({ family }) => family ?? []));
  await endFamilies(connection, box, [...families], ending);
  const alone = tokens.filter(({ family }) => family === null);
  await endSessions(
    connection,
    box,
    alone.map(({ session, bucket }) => ({ id: session, bucket })),
    ending,
  );
  return [...new Set(answers.map(({ user }) => user))];
}
