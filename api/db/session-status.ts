import { momentAt } from './keyset.ts';

/** How a session is; nothing leaves `closed`, `revoked` or `expired`. */
export type SessionStatus = 'active' | 'expired' | 'closed' | 'revoked';

/**
 * SQL for how a session `s` ended before its time, as rows (at, how), the first one first: by itself, with its family,
 * or with its client, user or box. An ending after the session's own end is none: nothing leaves `expired`.
 *
 * A `revocation` whose subject is `client:<id>` or `box` concerns sessions decided under an older version; one whose
 * subject has `:before` behind it concerns those begun before its "version", which is then a time in milliseconds.
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
             AND r.version > ('x' || substr(translate(s.id::text, '-', ''), 1, 12))::bit(48)::bigint
         ) AS e (at, how)
   WHERE e.at < s.expires_at
   ORDER BY e.at
   LIMIT 1`;

/** SQL for the status of a session `s`; `now` is the place of a time in milliseconds. */
export function sessionStatus(now: string): string {
  return statusOf(`(SELECT ending.how FROM (${sessionEnding}) AS ending)`, now);
}

/** SQL for the same where it is known how the session ended before its time: `how`, null if it did not. */
export function statusOf(how: string, now: string): string {
  return `COALESCE(${how}, CASE WHEN s.expires_at <= ${momentAt(now)} THEN 'expired' ELSE 'active' END)`;
}

/**
 * SQL that a session `s` of that status cannot fail, for the sake of its indexes; exactness is {@link sessionStatus}'s.
 * Whoever ends a family marks its living sessions (endFamily), so that a closed one is always found by its own row.
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

/** Places of the parameters that list whose sessions were ever revoked as a whole. */
export interface RevokedSubjects {
  readonly clients: string;
  readonly users: string;
}
