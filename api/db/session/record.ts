import { millisecondsOf } from '../core/statement.ts';
import type { GrantLetter } from './grant-letter.ts';
import { beginOfSession, sessionEnding, statusOf } from './session-status.ts';
import type { SessionStatus } from './session-status.ts';

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
