import type { GrantType } from '../../../crds/client.ts';
import { millisecondsOf } from '../hot/statement.ts';
import { momentAt } from '../core/keyset.ts';

/** The grants that start a session: a refreshed session came from the grant of its family. */
export const FIRST_GRANTS = ['c', 'i', 'a', 'p'] as const;
/** A grant that starts a session. */
export type FirstGrant = (typeof FIRST_GRANTS)[number];

/** Every grant that a session can come from. */
export const GRANT_LETTERS = [...FIRST_GRANTS, 'r'] as const;
/** The grant a session came from, as its column holds it. */
export type GrantLetter = (typeof GRANT_LETTERS)[number];

/** Names of the grants, by the letter in the row of a session. */
export const GRANT_NAMES = {
  c: 'client_credentials',
  r: 'refresh_token',
  i: 'implicit',
  a: 'authorization_code',
  p: 'password',
} as const satisfies Record<GrantLetter, GrantType>;

/** Status of a session; `closed`, `revoked` and `expired` are final. */
export type SessionStatus = 'active' | 'expired' | 'closed' | 'revoked';

/** SQL for the begin of a session `s` in milliseconds since 1970, which its ID carries (RFC 9562 §5.7). */
const beginOfSession = `('x' || substr(translate(s.id::text, '-', ''), 1, 12))::bit(48)::bigint`;

/**
 * SQL for the first early ending of a session `s`, as a row (at, how) or none: by itself, with its family,
 * or with its client, user or box. An ending after the session's expiry is ignored: `expired` is final.
 *
 * A `revocation` whose subject is `client:<id>` or `box` concerns sessions decided under an older version; one whose
 * subject ends with `:before` concerns those begun before its "version", which is then a time in milliseconds.
 */
const sessionEnding = `
  SELECT e.at, e.how
    FROM (SELECT s.ended_at, s.ended_as WHERE s.ended_at IS NOT NULL
          UNION ALL
          SELECT f.ended_at, f.ended_as FROM boxgate.refresh_family f
           WHERE f.box = s.box AND f.id = s.family AND f.ended_at IS NOT NULL
          UNION ALL
          SELECT r.at, 'revoked' FROM boxgate.revocation r
           WHERE r.box = s.box AND r.subject IN ('box', 'client:' || s.client, 'user:' || s.user_id)
             AND r.version > s.version
          UNION ALL
          SELECT r.at, 'revoked' FROM boxgate.revocation r
           WHERE r.box = s.box AND r.subject IN ('box:before', 'client:' || s.client || ':before')
             AND r.version > ${beginOfSession}
         ) AS e (at, how)
   WHERE e.at < s.expires_at
   ORDER BY e.at
   LIMIT 1`;

/** SQL for the status of a session `s`; `now` is the placeholder of a time in milliseconds. */
export function sessionStatus(now: string): string {
  return statusOf(`(SELECT ending.how FROM (${sessionEnding}) AS ending)`, now);
}

/** SQL for the same if the early ending of the session is known: `how`, null if there is none. */
function statusOf(how: string, now: string): string {
  return `COALESCE(${how}, CASE WHEN s.expires_at <= ${momentAt(now)} THEN 'expired' ELSE 'active' END)`;
}

/**
 * SQL condition that every session `s` of that status meets, so that indexes can be used; {@link sessionStatus} is
 * exact. Ending a family marks its active sessions (endFamily), so that a closed one is always found by its own row.
 */
export function couldBe(status: SessionStatus, now: string, revokedSubjects: RevokedSubjects | undefined): string {
  switch (status) {
    case 'active':
      return `s.ended_at IS NULL AND s.expires_at > ${momentAt(now)}`;
    case 'expired':
      return `s.ended_at IS NULL AND s.expires_at <= ${momentAt(now)}`;
    case 'closed':
      return 's.ended_at IS NOT NULL';
    case 'revoked':
      return revokedSubjects === undefined
        ? 'true'
        : `(s.ended_at IS NOT NULL OR s.client = ANY (${revokedSubjects.clients}::text[])
            OR s.user_id = ANY (${revokedSubjects.users}::bigint[]))`;
  }
}

/** Placeholders of the lists of clients and users whose sessions were ever all revoked. */
export interface RevokedSubjects {
  readonly clients: string;
  readonly users: string;
}

/** A session as stored, with its status; times in milliseconds since 1970. */
export interface SessionRecord {
  readonly id: string;
  readonly bucket: number;
  readonly type: GrantLetter;
  readonly client: string;
  readonly user: number | undefined;
  readonly scope: string | undefined;
  readonly audience: readonly string[] | undefined;
  readonly status: SessionStatus;
  readonly expiresAt: number;
  /** Time of closing or revocation. */
  readonly endedAt: number | undefined;
  readonly family: string | undefined;
  readonly parent: string | undefined;
  readonly remoteAddr: string | undefined;
  readonly userAgent: string | undefined;
}

/** A row of a session as one JSON value. */
export interface SessionAsJson {
  readonly session: SessionColumns;
}

/** A row of the columns that {@link sessionColumns} names; in JSON, times are texts and a user's ID is a number. */
export interface SessionColumns {
  readonly id: string;
  readonly bucket: number;
  readonly type: GrantLetter;
  readonly client: string;
  readonly user_id: string | number | null;
  readonly scope: string | null;
  readonly audience: string[] | null;
  readonly status: SessionStatus;
  readonly expires_at: Date | string;
  readonly ended_at: Date | string | null;
  readonly family: string | null;
  readonly parent: string | null;
  readonly remote_addr: string | null;
  readonly user_agent: string | null;
}

/** Returns the columns of a {@link SessionRecord} of a session `s` joined with {@link endingJoin}. */
export function sessionColumns(now: string): string {
  return `s.id, s.bucket, s.type, s.client, s.user_id, s.scope, s.audience, s.expires_at, s.family, s.parent,
       host(s.remote_addr) AS remote_addr, s.user_agent, ending.at AS ended_at,
       ${statusOf('ending.how', now)} AS status`;
}

/**
 * Returns SQL that joins sessions `s` of one box, given by the placeholder of its name, with the way each ended early.
 * Most sessions have not ended, have no family and are newer than all revocations of the box: these need no lookup.
 */
export function endingJoin(box: string): string {
  const newest = (which: string): string =>
    `SELECT max(r.version) FROM boxgate.revocation r WHERE r.box = ${box} AND r.subject ${which} '%:before'`;
  const canHaveEnded = `s.ended_at IS NOT NULL OR s.family IS NOT NULL OR s.version < (${newest('NOT LIKE')})
                        OR ${beginOfSession} < (${newest('LIKE')})`;
  return `LEFT JOIN LATERAL (SELECT * FROM (${sessionEnding}) AS first WHERE ${canHaveEnded} OFFSET 0) AS ending ON true`;
}

/** Converts a row for the rest of the service. */
export function sessionRecord(row: SessionColumns): SessionRecord {
  return {
    id: row.id,
    bucket: row.bucket,
    type: row.type,
    client: row.client,
    user: row.user_id === null ? undefined : Number(row.user_id),
    scope: row.scope ?? undefined,
    audience: row.audience ?? undefined,
    status: row.status,
    expiresAt: millisecondsOf(row.expires_at),
    endedAt: row.ended_at === null ? undefined : millisecondsOf(row.ended_at),
    family: row.family ?? undefined,
    parent: row.parent ?? undefined,
    remoteAddr: row.remote_addr ?? undefined,
    userAgent: row.user_agent ?? undefined,
  };
}
