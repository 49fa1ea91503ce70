import type { GrantLetter } from './hot-statements.ts';
import { sessionEnding, statusOf } from './session-status.ts';
import type { SessionStatus } from './session-status.ts';

/** A session as its row and its surroundings have it; times in milliseconds since 1970. */
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
  /** When it was closed or revoked. */
  readonly endedAt: number | undefined;
  readonly family: string | undefined;
  readonly parent: string | undefined;
  readonly remoteAddr: string | undefined;
  readonly userAgent: string | undefined;
}

/** A row of the columns that {@link sessionColumns} names. */
export interface SessionColumns {
  readonly id: string;
  readonly bucket: number;
  readonly type: GrantLetter;
  readonly client: string;
  readonly user_id: string | null;
  readonly scope: string | null;
  readonly audience: string[] | null;
  readonly status: SessionStatus;
  readonly expires_at: Date;
  readonly ended_at: Date | null;
  readonly family: string | null;
  readonly parent: string | null;
  readonly remote_addr: string | null;
  readonly user_agent: string | null;
}

/** The columns of a {@link SessionRecord} of a session `s` joined with {@link endingJoin}. */
export function sessionColumns(now: string): string {
  return `s.id, s.bucket, s.type, s.client, s.user_id, s.scope, s.audience, s.expires_at, s.family, s.parent,
       host(s.remote_addr) AS remote_addr, s.user_agent, ending.at AS ended_at,
       ${statusOf('ending.how', now)} AS status`;
}

/**
 * Joins sessions `s` of one box, the place of its name, with how each ended before its time. Most sessions have neither ended nor a
 * family and are younger than whatever the box has revoked: for these nothing is looked up.
 */
export function endingJoin(box: string): string {
  const revoked = `SELECT max(r.version) FROM boxgate.revocation r WHERE r.box = ${box}`;
  const canHaveEnded = `s.ended_at IS NOT NULL OR s.family IS NOT NULL OR s.version < (${revoked})`;
  return `LEFT JOIN LATERAL (SELECT * FROM (${sessionEnding}) AS first WHERE ${canHaveEnded} OFFSET 0) AS ending ON true`;
}

/** A row as the rest of the service sees it. */
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
    expiresAt: row.expires_at.getTime(),
    endedAt: row.ended_at?.getTime(),
    family: row.family ?? undefined,
    parent: row.parent ?? undefined,
    remoteAddr: row.remote_addr ?? undefined,
    userAgent: row.user_agent ?? undefined,
  };
}
