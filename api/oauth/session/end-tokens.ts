import type { IssuedTokens } from '../../db/authorization/authorization-answer.ts';
import { endFamily, endSession } from '../../db/session/session.ts';
import type { SessionEnding } from '../../db/session/session.ts';
import type { Connection } from '../../db/core/transaction.ts';

/** Ends the tokens of an authorization: its refresh family with all living sessions, or its session. */
export async function endTokens(
  connection: Connection,
  box: string,
  { session, bucket, family }: IssuedTokens,
  ending: SessionEnding,
): Promise<void> {
  if (family === null) await endSession(connection, box, { id: session, bucket }, ending);
  else await endFamily(connection, box, family, ending);
}
