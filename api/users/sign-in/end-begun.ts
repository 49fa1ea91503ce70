import { browserHash } from '../../credentials/browser-token.ts';
import { endAnswersOf } from '../../db/authorization/authorization-answer.ts';
import type { Connection } from '../../db/core/transaction.ts';
import { endTokens } from '../../oauth/session/end-tokens.ts';

/**
 * Closes every code, session and refresh family that was begun with the sign-in of a browser, and returns whether there
 * was any. In a `write` transaction, after the sign-in was deleted: then nothing more is issued to it. `now` in
 * milliseconds since 1970.
 */
export async function endBegun(connection: Connection, box: string, browser: string, now: number): Promise<boolean> {
  const answers = await endAnswersOf(connection, box, browserHash(browser), now);
  for (const tokens of answers) {
    if (tokens !== null) await endTokens(connection, box, tokens, { as: 'closed', now });
  }
  return answers.length > 0;
}
