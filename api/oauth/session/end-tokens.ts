import type { IssuedTokens } from '../../db/authorization/authorization-code.ts';
import { endFamilies, endSessions } from '../../db/session/session.ts';
import type { SessionEnding } from '../../db/session/session.ts';
import type { Connection } from '../../db/core/transaction.ts';

/** Ends the tokens of authorizations: their refresh families with all living sessions, and the sessions without one. */
export async function endTokens(
  connection: Connection,
  box: string,
  issued: readonly IssuedTokens[],
  ending: SessionEnding,
): Promise<void> {
  const families = new Set(issued.flatMap(({ family }) => family ?? []));
  await endFamilies(connection, box, [...families], ending);
  const alone = issued.flatMap(({ session, bucket, family }) => (family === null ? [{ id: session, bucket }] : []));
  await endSessions(connection, box, alone, ending);
}
