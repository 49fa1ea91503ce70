import type { IssuedTokens } from '../../db/authorization/authorization-answer.ts';
import { endFamily, endSession } from '../../db/session/session.ts';
import type { SessionEnd } from '../../db/session/session.ts';
import type { Connection } from '../../db/core/transaction.ts';

/** Ends the tokens of an authorization: its refresh family with all living sessions, or its session. */
export async function endTokens(
  connection: Connection,
  box: string,
  { session, bucket, family }: IssuedTokens,
  as: SessionEnd,
  now: number,
): Promise<void> {
  if (family === null) await endSession(connection, box, { id: session, bucket }, as, now);
  else await endFamily(connection, box, family, as, now);
}
