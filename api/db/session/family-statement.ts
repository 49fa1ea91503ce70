import { answersOf } from '../core/answers.ts';
import type { RowOfItem } from '../core/answers.ts';
import { arrayLiteral, bytes } from '../core/array-literal.ts';
import { fixedText } from '../core/statement.ts';
import type { Statement, StatementConnection, Versioned } from '../core/statement.ts';
import type { Person } from '../user/person.ts';
import type { FirstGrant } from './grant-letter.ts';
import type { RefreshFamily } from './refresh-family.ts';

/** Key of a refresh family: found only by a token of its own. */
export interface FamilyKey {
  readonly box: string;
  /** 32 hexadecimal digits. */
  readonly id: string;
  /** SHA-256 of the part that its tokens share, 64 hexadecimal digits. */
  readonly hash: string;
}

/** Columns of a family; `id` is null if there is none. Times in milliseconds since 1970. */
interface FamilyRow extends RowOfItem {
  readonly config_version: string;
  readonly id: string | null;
  readonly client: string;
  readonly user_id: string | null;
  readonly grant_type: FirstGrant;
  readonly person: Person | null;
  readonly authenticated: string | null;
  readonly version: string;
  readonly token_hash: string;
  readonly generation: number;
  readonly successor: Buffer | null;
  readonly rotated: string | null;
  readonly session: string;
  readonly scope: string | null;
  readonly audience: readonly string[] | null;
  readonly created: string;
  readonly expires: string;
  readonly ends: string;
}

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
  const rows = await db.rows<FamilyRow>(findingFamilies, [boxes, ids, hashes]);
  return answersOf(keys, rows, (row, key) =>
    row === undefined
      ? { version: undefined, value: undefined }
      : { version: Number(row.config_version), value: foundFamily(key, row) },
  );
}

function foundFamily({ hash }: FamilyKey, row: FamilyRow): RefreshFamily | undefined {
  if (row.id === null) return undefined;
  return {
    id: row.id,
    client: row.client,
    user: numberOrNull(row.user_id),
    grant: row.grant_type,
    userGone: row.user_id !== null && row.person === null,
    person: row.person,
    authenticatedAt: numberOrNull(row.authenticated),
    version: Number(row.version),
    familyHash: hash,
    tokenHash: row.token_hash,
    generation: row.generation,
    successor: row.successor,
    rotatedAt: numberOrNull(row.rotated),
    session: row.session,
    scope: row.scope,
    audience: row.audience,
    createdAt: Number(row.created),
    expiresAt: Number(row.expires),
    endsAt: Number(row.ends),
    ended: false,
  };
}

function numberOrNull(text: string | null): number | null {
  return text === null ? null : Number(text);
}
