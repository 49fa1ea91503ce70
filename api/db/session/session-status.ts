import { momentAt } from '../core/keyset.ts';

/** Status of a session; `closed`, `revoked` and `expired` are final. */
export type SessionStatus = 'active' | 'expired' | 'closed' | 'revoked';

/** SQL for the begin of a session `s` in milliseconds since 1970, which its ID carries (RFC 9562 §5.7). */
export const beginOfSession = `('x' || substr(translate(s.id::text, '-', ''), 1, 12))::bit(48)::bigint`;

/**
 * SQL for the first early ending of a session `s`, as a row (at, how) or none: by itself, with its family,
 * or with its client, user or box. An ending after the session's expiry is ignored: `expired` is final.
 *
 * A `revocation` whose subject is `client:<id>` or `box` concerns sessions decided under an older version; one whose
 * subject ends with `:before` concerns those begun before its "version", which is then a time in milliseconds.
 */
export const sessionEnding = `
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
export function statusOf(how: string, now: string): string {
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
