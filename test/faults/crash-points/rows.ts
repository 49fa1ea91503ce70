import { asOwner, type TestDatabase } from '../../support/postgres.ts';
import { comparableText } from './comparable-text.ts';

/** Rows of a box by content, without values that differ from run to run (times, versions, random ids). */
export type Rows = Readonly<Record<string, readonly unknown[]>>;

const statements = {
  box: `SELECT jsonb_build_array(namespace_uid IS NOT NULL, locked_for IS NOT NULL) AS row FROM boxgate.box WHERE box = $1`,
  resource: `SELECT to_jsonb(r)
                      - '{box,version,sessions_from,created_at,updated_at,digest,secrets,previous_secret}'::text[]
                      || jsonb_build_object('secrets', cardinality(secrets) + num_nonnulls(previous_secret)) AS row
               FROM boxgate.resource r WHERE box = $1`,
  tombstone: `SELECT jsonb_build_array(kind, id) AS row FROM boxgate.tombstone WHERE box = $1`,
  revocation: `SELECT DISTINCT jsonb_build_array(subject) AS row FROM boxgate.revocation WHERE box = $1`,
  signing_key: `SELECT jsonb_build_array(algorithm) AS row FROM boxgate.signing_key WHERE box = $1`,
  // A revocation over REST and its record.
  session: `SELECT jsonb_build_array(s.ended_as, (SELECT count(*) FROM boxgate.audit_event e
                                                   WHERE e.box = s.box AND e.target = 'Session/' || s.id)) AS row
              FROM boxgate.session s WHERE s.box = $1 AND s.ended_as = 'revoked' AND s.family IS NULL`,
  operator_epoch: `SELECT jsonb_build_array(cluster) AS row FROM boxgate.operator_epoch WHERE cluster = $1`,
} as const;

/**
 * Reads the rows of a box; `named` gives texts that stand for others (its own name, uids), so that two boxes compare.
 */
export function readRows(database: TestDatabase, box: string, named: ReadonlyMap<string, string>): Promise<Rows> {
  return asOwner(new URL(database.ownerUrl).pathname.slice(1), async (owner) => {
    const found: Record<string, readonly unknown[]> = {};
    for (const [table, statement] of Object.entries(statements)) {
      const { rows } = await owner.query<{ row: unknown }>(statement, [box]);
      found[table] = rows.map(({ row }) => comparableText(row, named)).sort();
    }
    return found;
  });
}
