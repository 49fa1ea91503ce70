import type { Connection } from '../core/transaction.ts';
import { ownerOf } from './resource.ts';
import type { Owner, OwnerColumns, ResourceKey } from './resource.ts';

/** A row that a plan compares with an object; a group by its name. */
export interface PlannedRow extends ResourceKey {
  readonly body: Readonly<Record<string, unknown>>;
  /** Stored forms of the secrets of a client. */
  readonly secrets: readonly string[];
  readonly owner: Owner | undefined;
  /** True if it stays, without an owner, when the object that declares it is deleted. */
  readonly retain: boolean;
}

type PlannedColumns = ResourceKey & OwnerColumns & Pick<PlannedRow, 'body' | 'secrets' | 'retain'>;

/** Reads the rows of a box that a cluster declares, and those that are named, by kind and ID. */
export async function plannedRows(
  connection: Connection,
  box: string,
  cluster: string,
  named: readonly ResourceKey[],
): Promise<readonly PlannedRow[]> {
  const values = [box, cluster, named.map(({ kind }) => kind), named.map(({ id }) => id)];
  const text = `
    SELECT r.kind, r.id, r.body, r.secrets, r.owner_cluster, r.owner_name, r.owner_uid, r.retain
      FROM boxgate.resource r
     WHERE r.box = $1 AND (r.owner_cluster = $2 OR (r.kind, r.id) IN (SELECT * FROM unnest($3::text[], $4::text[])))
    UNION ALL
    SELECT 'Group', g.name,
           jsonb_strip_nulls(jsonb_build_object('resourceType', 'Group', 'name', g.name, 'description', g.description)),
           '{}', g.owner_cluster, g.owner_name, g.owner_uid, g.retain
      FROM boxgate.group g
     WHERE g.box = $1 AND (g.owner_cluster = $2 OR ('Group', g.name) IN (SELECT * FROM unnest($3::text[], $4::text[])))
     ORDER BY 1, 2`;
  const { rows } = await connection.query<PlannedColumns>(text, values);
  return rows.map(({ kind, id, body, secrets, retain, ...owner }) => ({
    kind,
    id,
    body,
    secrets,
    retain,
    owner: ownerOf(owner),
  }));
}
