import { arrayLiteral, bytes, sparseArrayLiteral, fixedText } from './statement.ts';
import type { FirstGrant, GrantLetter } from '../session/record.ts';
import type { Person } from '../user.ts';
import type { FixedText, Statement, StatementConnection, Versioned } from './statement.ts';

/** Key of a session: found only if the hash is that of its token (null: a JWT's). */
export interface SessionKey {
  readonly box: string;
  readonly bucket: number;
  readonly id: string;
  readonly hash: string | null;
}

/** Result of the check statement for a session. Times in seconds since 1970. */
export interface FoundSession {
  readonly version: number;
  readonly expiresAt: number;
  readonly type: GrantLetter;
  /** The grant that it came from; for a refreshed session, its family's, or null without one. */
  readonly grant: FirstGrant | null;
  readonly client: string;
  /** Null for a client's own session; also null, with `ended` true, for a user's session that is no longer valid. */
  readonly user: Person | null;
  readonly scope: string | null;
  readonly audience: readonly string[] | null;
  readonly family: string | null;
  readonly ended: boolean;
}

type Found = Versioned<FoundSession | undefined>;

/** Finds the session of a token. */
export const findSession: Statement<SessionKey, Found> = { run: checkAll, boxOf: ({ box }) => box };

/**
 * Looks up sessions, each with the current version of its box; the value is undefined if there is none with this
 * token, the version if there is no such box. Throws Outage.
 *
 * Each bucket gets its own statement: with the bucket as a scalar only its partition is locked and read (measured: half
 * the time of a join over all). Real tokens name one or two buckets; forged ones name any they like, so the keys
 * beyond a few buckets go into one statement over all of them.
 */
async function checkAll(db: StatementConnection, keys: readonly SessionKey[]): Promise<readonly Found[]> {
  const answers = new Map<SessionKey, Found>();
  const { alone, joined } = planChecks(keys);
  for (const group of alone) await checkBucket(db, group, answers);
  for (const group of joined) await checkBuckets(db, group, answers);
  return keys.map((key) => answers.get(key) ?? { version: undefined, value: undefined });
}

const mostAlone = 4;

/** Pure: returns the groups of keys that share a bucket, the largest first, and those that share one statement. */
export function planChecks(keys: readonly SessionKey[]): {
  readonly alone: readonly (readonly SessionKey[])[];
  readonly joined: readonly (readonly SessionKey[])[];
} {
  const groups = groupsBy(keys, (key) => `${String(key.bucket)} ${formOf(key)}`);
  if (groups.length <= mostAlone) return { alone: groups, joined: [] };
  const bySize = groups.toSorted((a, b) => b.length - a.length);
  return { alone: bySize.slice(0, mostAlone), joined: groupsBy(bySize.slice(mostAlone).flat(), formOf) };
}

/** JWTs have no hash: they go apart, so that a statement's hashes are all there or all null. */
function formOf(key: SessionKey): string {
  return key.hash === null ? 'jwt' : 'opaque';
}

function groupsBy(keys: readonly SessionKey[], nameOf: (key: SessionKey) => string): SessionKey[][] {
  const groups = new Map<string, SessionKey[]>();
  for (const key of keys) {
    const name = nameOf(key);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [key]);
    else group.push(key);
  }
  return [...groups.values()];
}

function checkBucket(
  db: StatementConnection,
  keys: readonly SessionKey[],
  answers: Map<SessionKey, Found>,
): Promise<void> {
  const [first] = keys;
  const bucket = first === undefined ? 0 : storableBucket(first);
  return ask(db, { fixed: checkingBucket, buckets: String(bucket) }, keys, answers);
}

const checkingBucket = fixedText('SELECT * FROM boxgate.check_sessions($1,$2,$3,$4)');

function checkBuckets(
  db: StatementConnection,
  keys: readonly SessionKey[],
  answers: Map<SessionKey, Found>,
): Promise<void> {
  const buckets = arrayLiteral(keys, (key) => String(storableBucket(key)));
  return ask(db, { fixed: checkingBuckets, buckets }, keys, answers);
}

const checkingBuckets = fixedText('SELECT * FROM boxgate.check_sessions_in($1,$2,$3,$4)');

/** Limits the bucket to Postgres' integers: a forged token may name a larger one, which is not found either. */
function storableBucket(key: SessionKey): number {
  return Math.min(key.bucket, 2_147_483_647);
}

interface CheckRow {
  readonly nth: string;
  readonly config_version: string;
  readonly version: string | null;
  readonly expires: string;
  readonly type: GrantLetter;
  readonly grant_type: FirstGrant | null;
  readonly client: string;
  readonly person: Person | null;
  readonly scope: string | null;
  readonly audience: readonly string[] | null;
  readonly family: string | null;
  readonly ended: boolean;
}

/** A statement over sessions, and its first parameter: the bucket or buckets to read. */
interface CheckStatement {
  readonly fixed: FixedText;
  readonly buckets: string;
}

async function ask(
  db: StatementConnection,
  { fixed, buckets }: CheckStatement,
  keys: readonly SessionKey[],
  answers: Map<SessionKey, Found>,
): Promise<void> {
  const boxes = arrayLiteral(keys, (key) => `"${key.box}"`);
  const ids = arrayLiteral(keys, (key) => key.id);
  const hashes = sparseArrayLiteral(keys, (key) => (key.hash === null ? null : bytes(key.hash)));
  for (const row of await db.rows<CheckRow>(fixed, [buckets, boxes, ids, hashes])) {
    const key = keys[Number(row.nth) - 1];
    if (key !== undefined) answers.set(key, { version: Number(row.config_version), value: foundSession(row) });
  }
}

function foundSession(row: CheckRow): FoundSession | undefined {
  if (row.version === null) return undefined;
  return {
    version: Number(row.version),
    expiresAt: Number(row.expires),
    type: row.type,
    grant: row.grant_type,
    client: row.client,
    user: row.person,
    scope: row.scope,
    audience: row.audience,
    family: row.family,
    ended: row.ended,
  };
}
