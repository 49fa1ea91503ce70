import { answersOf, fixedText, arrayLiteral, bytes, doneItems, sparseArrayLiteral } from './statement.ts';
import type { RowOfItem, Statement, StatementConnection, Versioned } from './statement.ts';
import { familyOf } from '../session/refresh-family.ts';
import type { FamilyColumns, RefreshFamily } from '../session/refresh-family.ts';
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

/** Key of a refresh family: found only by a token of its own. */
export interface FamilyKey {
  readonly box: string;
  /** 32 hexadecimal digits. */
  readonly id: string;
  /** SHA-256 of the part that its tokens share, 64 hexadecimal digits. */
  readonly hash: string;
}

interface FoundRow extends FamilyColumns, RowOfItem {
  readonly config_version: string;
}

/** The row of a key that no living family has tells the version of the box alone. */
type Row = FoundRow | (Pick<FoundRow, 'nth' | 'config_version'> & { readonly id: null });

type Found = Versioned<RefreshFamily | undefined>;

/** Finds a refresh family that has not ended; undefined if there is none. */
export const findFamily: Statement<FamilyKey, Found> = { run: findFamilies, boxOf: ({ box }) => box };

const findingFamilies = fixedText('SELECT * FROM boxgate.find_refresh_families($1,$2,$3)');

/**
 * Reads refresh families that have not ended, each with the current version of its box; the value is undefined if there
 * is no such family, the version if there is no such box. Throws Outage.
 */
async function findFamilies(db: StatementConnection, keys: readonly FamilyKey[]): Promise<readonly Found[]> {
  const boxes = arrayLiteral(keys, ({ box }) => `"${box}"`);
  const ids = arrayLiteral(keys, ({ id }) => id);
  const hashes = arrayLiteral(keys, ({ hash }) => bytes(hash));
  const rows = await db.rows<Row>(findingFamilies, [boxes, ids, hashes]);
  return answersOf(keys, rows, (row, { hash }) => {
    if (row === undefined) return { version: undefined, value: undefined };
    return { version: Number(row.config_version), value: row.id === null ? undefined : familyOf(row, hash, false) };
  });
}
