import { answersOf } from '../core/answers.ts';
import { arrayLiteral, bytes } from '../core/array-literal.ts';
import { fixedText } from '../core/statement.ts';
import type { Statement, StatementConnection, Versioned } from '../core/statement.ts';

/** Key of a refresh family: found only by a token of its own. */
export interface FamilyKey {
  readonly box: string;
  /** 32 hexadecimal digits. */
  readonly id: string;
  /** SHA-256 of the part that its tokens share, 64 hexadecimal digits. */
  readonly hash: string;
}

interface FamilyRow {
  readonly nth: string;
  readonly config_version: string;
  readonly found: boolean;
}

/** Checks whether such a refresh family exists and has not ended. */
export const findFamily: Statement<FamilyKey, Versioned<boolean>> = { run: findFamilies, boxOf: ({ box }) => box };

const findingFamilies = fixedText('SELECT nth, config_version, found FROM boxgate.find_families($1,$2,$3)');

/**
 * Checks whether each refresh family exists and has not ended; each answer has the current version of its box,
 * undefined if there is no such box. Throws Outage.
 */
async function findFamilies(
  db: StatementConnection,
  keys: readonly FamilyKey[],
): Promise<readonly Versioned<boolean>[]> {
  const boxes = arrayLiteral(keys, ({ box }) => `"${box}"`);
  const ids = arrayLiteral(keys, ({ id }) => id);
  const hashes = arrayLiteral(keys, ({ hash }) => bytes(hash));
  const rows = await db.rows<FamilyRow>(findingFamilies, [boxes, ids, hashes]);
  return answersOf(keys, rows, (row) =>
    row === undefined
      ? { version: undefined, value: false }
      : { version: Number(row.config_version), value: row.found },
  );
}
