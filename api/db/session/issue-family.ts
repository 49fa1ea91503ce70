import { arrayLiteral, bytes } from '../core/array-literal.ts';
import { fixedText } from '../core/statement.ts';
import type { Statement, StatementConnection, Versioned } from '../core/statement.ts';
import { sessionParameters, versionsIn } from './issue.ts';
import type { NewSession, VersionRow } from './issue.ts';
import type { NewRefreshFamily } from './refresh-family.ts';

/** A refresh family of a client about to begin, with its first session. Nobody signed in for it. */
export interface FirstOfFamily {
  readonly session: NewSession;
  readonly family: NewRefreshFamily & { readonly user: null; readonly authenticatedAt: null };
}

/** Stores a family with its first session if its box is at the session's version: compare it with the returned one. */
export const issueFamily: Statement<FirstOfFamily, Versioned<null>> = {
  run: issueAll,
  boxOf: ({ session }) => session.box,
};

const issuing = fixedText(
  `SELECT box, config_version FROM boxgate.issue_families($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19)`,
);

/**
 * Stores each family with its first session if its box is still at the version it was decided under; returns the
 * current version of each one's box, undefined if there is no such box. Throws Outage.
 */
async function issueAll(
  db: StatementConnection,
  firsts: readonly FirstOfFamily[],
): Promise<readonly Versioned<null>[]> {
  const sessions = firsts.map(({ session }) => session);
  const rows = await db.rows<VersionRow>(issuing, [
    ...sessionParameters(sessions),
    arrayLiteral(firsts, ({ family }) => family.id),
    arrayLiteral(firsts, ({ family }) => bytes(family.familyHash)),
    arrayLiteral(firsts, ({ family }) => bytes(family.tokenHash)),
    arrayLiteral(firsts, ({ family }) => String(family.createdAt)),
    arrayLiteral(firsts, ({ family }) => String(family.expiresAt)),
    arrayLiteral(firsts, ({ family }) => String(family.endsAt)),
  ]);
  return versionsIn(
    rows,
    sessions.map(({ box }) => box),
  );
}
