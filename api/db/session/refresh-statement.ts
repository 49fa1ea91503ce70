import { doneItems } from '../core/answers.ts';
import type { RowOfItem } from '../core/answers.ts';
import { arrayLiteral, bytes, sparseArrayLiteral } from '../core/array-literal.ts';
import { fixedText } from '../core/statement.ts';
import type { Statement, StatementConnection } from '../core/statement.ts';
import { sessionParameters } from './issue.ts';
import type { NewSession } from './issue.ts';

/** A use of a refresh token: its session, and the state that its family moves to. Times in milliseconds since 1970. */
export interface RefreshUse {
  readonly session: NewSession;
  readonly family: string;
  /** Hash of the token that is used: it must still be the newest of its family. */
  readonly tokenHash: string;
  readonly now: number;
  /** New sliding end of the family. */
  readonly expiresAt: number;
  /** The next token, sealed for the holder of this one; null: this one stays. */
  readonly next: { readonly tokenHash: string; readonly successor: Buffer } | null;
}

/**
 * Stores the session of a use and moves its family on, if its box is at the session's version and the family as it was
 * validated; returns whether it did. It never waits, so false may only mean that another use was in progress: then a
 * transaction decides.
 */
export const refreshSession: Statement<RefreshUse, boolean> = { run: refreshAll, boxOf: ({ session }) => session.box };

const using = fixedText(
  'SELECT nth FROM boxgate.use_refresh_tokens($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19)',
);

/** Stores each use whose family is as it was validated; returns which were stored. Throws Outage. */
async function refreshAll(db: StatementConnection, uses: readonly RefreshUse[]): Promise<readonly boolean[]> {
  const rows = await db.rows<RowOfItem>(using, [
    ...sessionParameters(uses.map(({ session }) => session)),
    arrayLiteral(uses, ({ family }) => family),
    arrayLiteral(uses, ({ tokenHash }) => bytes(tokenHash)),
    arrayLiteral(uses, ({ now }) => String(now)),
    arrayLiteral(uses, ({ expiresAt }) => String(expiresAt)),
    sparseArrayLiteral(uses, ({ next }) => next && bytes(next.tokenHash)),
    sparseArrayLiteral(uses, ({ next }) => next && bytes(next.successor.toString('hex'))),
  ]);
  return doneItems(uses, rows);
}
