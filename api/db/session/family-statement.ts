import { answersOf } from '../core/answers.ts';
import type { RowOfItem } from '../core/answers.ts';
import { arrayLiteral, bytes } from '../core/array-literal.ts';
import { fixedText } from '../core/statement.ts';
import type { Statement, StatementConnection, Versioned } from '../core/statement.ts';
import { familyOf } from './refresh-family.ts';
import type { FamilyColumns, RefreshFamily } from './refresh-family.ts';

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
