import type { GrantLetter } from '../session/record.ts';
import { arrayLiteral, bytes, quoted, sparseArrayLiteral, fixedText } from './statement.ts';
import type { Statement, StatementConnection, Versioned } from './statement.ts';
import type { NewRefreshFamily } from '../session/refresh-family.ts';

/** A refresh family of a client about to begin, with its first session. Nobody signed in for it. */
export interface FirstOfFamily {
  readonly session: NewSession;
  readonly family: NewRefreshFamily & { readonly user: null; readonly authenticatedAt: null };
}

/** Stores a family with its first session if its box is at the session's version: compare it with the returned one. */
export const issueFamily: Statement<FirstOfFamily, Versioned<null>> = {
  run: issueFamilies,
  boxOf: ({ session }) => session.box,
};

const issuingFamilies = fixedText(
  `SELECT box, config_version FROM boxgate.issue_families($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19)`,
);

/**
 * Stores each family with its first session if its box is still at the version it was decided under; returns the
 * current version of each one's box, undefined if there is no such box. Throws Outage.
 */
async function issueFamilies(
  db: StatementConnection,
  firsts: readonly FirstOfFamily[],
): Promise<readonly Versioned<null>[]> {
  const sessions = firsts.map(({ session }) => session);
  const rows = await db.rows<VersionRow>(issuingFamilies, [
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

/** A session about to be stored. Times in seconds since 1970; `hash` is null for a JWT. */
export interface NewSession {
  readonly box: string;
  /** The config version it was decided under: it is stored only if the box is still there. */
  readonly version: number;
  /** 32 hexadecimal digits of a UUIDv7. */
  readonly id: string;
  readonly bucket: number;
  readonly expiresAt: number;
  readonly type: GrantLetter;
  readonly client: string;
  /** SHA-256, 64 hexadecimal digits. */
  readonly hash: string | null;
  readonly remoteAddr: string | null;
  readonly user: number | null;
  readonly scope: string | null;
  readonly audience: readonly string[] | null;
  readonly userAgent: string | null;
}

/** A box and its current config version. */
export interface VersionRow {
  readonly box: string;
  readonly config_version: string;
}

/**
 * Stores a session if its box is still at its version: compare it with the returned version. While the JWTs of one
 * statement are signed, Postgres has the next one.
 */
export const issueSession: Statement<NewSession, Versioned<null>> = {
  run: issueAll,
  boxOf: ({ box }) => box,
  beside: 12,
};

const issuing = fixedText(
  'SELECT box, config_version FROM boxgate.issue_sessions($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13)',
);

/**
 * Stores each session if its box is still at the version it was decided under; returns the current version of each
 * one's box, undefined if there is no such box. Throws Outage.
 */
async function issueAll(db: StatementConnection, sessions: readonly NewSession[]): Promise<readonly Versioned<null>[]> {
  const rows = await db.rows<VersionRow>(issuing, sessionParameters(sessions));
  return versionsIn(
    rows,
    sessions.map((session) => session.box),
  );
}

/** Returns the parameters of sessions for the functions that store them. */
export function sessionParameters(sessions: readonly NewSession[]): (string | null)[] {
  return [
    // A box may be called `null`, and a client too.
    arrayLiteral(sessions, (session) => `"${session.box}"`),
    arrayLiteral(sessions, (session) => String(session.version)),
    arrayLiteral(sessions, (session) => session.id),
    arrayLiteral(sessions, (session) => String(session.bucket)),
    arrayLiteral(sessions, (session) => String(session.expiresAt)),
    arrayLiteral(sessions, (session) => session.type),
    arrayLiteral(sessions, (session) => `"${session.client}"`),
    sparseArrayLiteral(sessions, (session) => (session.hash === null ? null : bytes(session.hash))),
    sparseArrayLiteral(sessions, (session) => session.remoteAddr),
    sparseArrayLiteral(sessions, (session) => (session.user === null ? null : String(session.user))),
    sparseArrayLiteral(sessions, (session) => (session.scope === null ? null : quoted(session.scope))),
    sparseArrayLiteral(sessions, (session) =>
      session.audience === null ? null : quoted(JSON.stringify(session.audience)),
    ),
    sparseArrayLiteral(sessions, (session) => (session.userAgent === null ? null : quoted(session.userAgent))),
  ];
}

/** Reads the config version of a box. */
export const configVersion: Statement<string, Versioned<null>> = { run: versionsOf, boxOf: (box) => box };

const readingVersions = fixedText('SELECT box, config_version FROM boxgate.config_versions($1)');

/** Reads the current config versions of boxes, in the order given; undefined if there is no such box. Throws Outage. */
async function versionsOf(db: StatementConnection, boxes: readonly string[]): Promise<readonly Versioned<null>[]> {
  const distinct = arrayLiteral([...new Set(boxes)], (box) => `"${box}"`);
  return versionsIn(await db.rows<VersionRow>(readingVersions, [distinct]), boxes);
}

/** Returns the version of each box among the rows; undefined if it is not there. */
function versionsIn(rows: readonly VersionRow[], boxes: readonly string[]): readonly Versioned<null>[] {
  const [only] = rows;
  if (rows.length === 1 && only !== undefined) {
    const answer = { version: Number(only.config_version), value: null };
    const none = { version: undefined, value: null };
    return boxes.map((box) => (box === only.box ? answer : none));
  }
  const versions = new Map(rows.map((row) => [row.box, Number(row.config_version)]));
  return boxes.map((box) => ({ version: versions.get(box), value: null }));
}
