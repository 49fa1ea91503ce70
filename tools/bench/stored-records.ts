import type { AuditEventName } from '../../api/audit/events.ts';
import type { Boxgate } from './boxgate.ts';
import type { BenchContext } from './context.ts';

/** Days that records of the audit trail are kept by default. */
const DAYS = 90;

const EVENT = 'user.changed' satisfies AuditEventName;

/** Stores so many records of the audit trail, as many for each of the last 90 days. */
export async function storeAuditEvents(
  context: BenchContext,
  { database, box }: Boxgate,
  count: number,
): Promise<void> {
  await context.postgres.query(database, `SELECT boxgate.make_audit_days(d) FROM generate_series(1, $1, 3) d`, [DAYS]);
  await context.postgres.query(
    database,
    `INSERT INTO boxgate.audit_event (id, version, created_at, day, box, event, result, target)
     SELECT uuidv7(age), 1, now() + age, today + d, $1, $4, 'success', 'User/' || i
       FROM generate_series(1, $3) d, generate_series(1, $2 / $3) i,
            LATERAL (SELECT floor(extract(epoch FROM now()) / 86400)::int, (d - $3) * interval '1 day') t (today, age)
      ORDER BY d`,
    [box, count, DAYS, EVENT],
  );
  await context.postgres.query(database, 'VACUUM (ANALYZE) boxgate.audit_event');
}

/** Stores a grant of each user of the box for a client. */
export async function storeGrants(context: BenchContext, boxgate: Boxgate, client: string): Promise<void> {
  await context.postgres.query(
    boxgate.database,
    `INSERT INTO boxgate.consent (box, user_id, client, scopes, version, created_at)
     SELECT b.box, u.id, $2, '{}', b.config_version, now() FROM boxgate.box b JOIN boxgate.user u USING (box)
      WHERE box = $1`,
    [boxgate.box, client],
  );
  await context.postgres.query(boxgate.database, 'VACUUM (ANALYZE) boxgate.consent');
}
