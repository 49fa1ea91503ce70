import { firstBytesOf, foundCount } from '../core/listing.ts';
import type { FoundCount } from '../core/listing.ts';
import { Parameters } from '../core/keyset.ts';
import type { Connection } from '../core/transaction.ts';
import { ownerOf } from './resource.ts';
import type { Owner, OwnerColumns, ResourceKey } from './resource.ts';

/**
 * A row of a box as it is exported: settings, group, client or policy; of the kind `Namespace` the quotas that are set.
 */
export interface ExportedRow {
  readonly kind: string;
  /** ID of the row; of a group its name. */
  readonly id: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly hasSecret: boolean;
  /** `namespace/name` of the object that declares it. */
  readonly object: string | undefined;
  readonly retain: boolean;
  readonly purge: boolean;
  /** Email of the first admin (`bootstrap_admin`) of settings, as long as there is such a user. */
  readonly firstAdmin: string | undefined;
}

interface ExportedColumns {
  readonly kind: string;
  readonly id: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly has_secret: boolean;
  readonly owner_name: string | null;
  readonly retain: boolean;
  readonly purge: boolean;
  readonly first_admin: string | null;
}

/**
 * Reads at most `limit` rows of a box after one, by kind and id; fewer where they are large. IDs are in the order of
 * their bytes, as names of groups are: the order of the database may be that of a language.
 */
export async function exportedRows(
  connection: Connection,
  box: string,
  after: Pick<ExportedRow, 'kind' | 'id'>,
  limit: number,
): Promise<{ readonly rows: readonly ExportedRow[]; readonly more: boolean }> {
  const parameters = new Parameters();
  const [own, kind, id, most] = [box, after.kind, after.id, limit + 1].map((value) => parameters.add(value));
  const found = `
    SELECT e.*, boxgate.bytes_of(e.body) AS row_bytes
      FROM (SELECT r.kind, r.id, r.body, cardinality(r.secrets) > 0 AS has_secret, r.owner_name, r.retain, r.purge,
                   CASE WHEN r.kind = 'Box' THEN (
                     SELECT u.email FROM boxgate.box b JOIN boxgate."user" u ON u.box = b.box AND u.email_key = b.bootstrapped
                      WHERE b.box = r.box) END AS first_admin
              FROM boxgate.resource r
             WHERE r.box = ${String(own)} AND (r.kind, r.id COLLATE "C") > (${String(kind)}, ${String(id)})
            UNION ALL
            SELECT 'Group', g.name,
                   jsonb_strip_nulls(jsonb_build_object('resourceType', 'Group', 'id', g.id, 'name', g.name,
                                                        'description', g.description)),
                   false, g.owner_name, g.retain, false, NULL
              FROM boxgate.group g WHERE g.box = ${String(own)} AND ('Group', g.name) > (${String(kind)}, ${String(id)})
            UNION ALL
            SELECT 'Namespace', b.box, jsonb_build_object('quota', b.quota), false, NULL, false, false, NULL
              FROM boxgate.box b WHERE b.box = ${String(own)} AND b.quota <> '{}'
               AND ('Namespace', b.box) > (${String(kind)}, ${String(id)})) AS e
     ORDER BY e.kind, e.id LIMIT ${String(most)}`;
  const text = firstBytesOf(found, parameters);
  const { rows: read } = await connection.query<ExportedColumns & FoundCount>(text, parameters.values);
  const rows = read.slice(0, limit).map(exportedRow);
  return { rows, more: foundCount(read) > rows.length };
}

function exportedRow({ has_secret, owner_name, first_admin, ...row }: ExportedColumns): ExportedRow {
  const { kind, id, body, retain, purge } = row;
  const [object, firstAdmin] = [owner_name ?? undefined, first_admin ?? undefined];
  return { kind, id, body, hasSecret: has_secret, object, retain, purge, firstAdmin };
}

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
