import { listingOf } from './core/listing.ts';
import type { TimeRange } from './core/keyset.ts';
import type { Connection } from './core/transaction.ts';
import { builtInFrom, builtInIds } from './resource/resource.ts';
import { momentAt } from './core/keyset.ts';
import { endFamilies } from './session/session.ts';
import { filledBuckets, isBucketWithin } from './session/bucket.ts';

/** Key of a grant: the user who gave it, and the client it is for. */
export interface GrantKey {
  readonly user: number;
  readonly client: string;
}

/** A valid stored consent: its client is built in, or exists and has not been created again since. */
export interface StoredGrant extends GrantKey {
  readonly scopes: readonly string[];
  /** The scopes allowed for each redirect URI and audience, oldest first; empty if an older release stored it. */
  readonly targets: readonly GrantedTarget[];
  /** With microseconds, as the sort key of a cursor. */
  readonly createdAt: string;
}

/** The scopes that a user has allowed for one redirect URI and one audience. */
export interface GrantedTarget {
  readonly redirect_uri: string;
  /** Null: the box itself, its issuer. */
  readonly audience: string | null;
  readonly scopes: readonly string[];
}

/** A row of a {@link StoredGrant}. */
export interface GrantColumns {
  readonly user_id: string;
  readonly client: string;
  readonly scopes: readonly string[];
  readonly targets: readonly GrantedTarget[];
  readonly created_at: string;
}

/** SQL for the version since which consents are for the same client; NULL if there is no such client. */
const since = `CASE WHEN r.id IS NOT NULL THEN r.sessions_from
       WHEN c.client IN ${builtInIds} THEN ${builtInFrom('c.box')} END`;

const columns = `c.user_id, c.client, c.scopes, c.created_at::text AS created_at,
       coalesce((SELECT jsonb_agg(jsonb_build_object('redirect_uri', t.redirect_uri, 'audience', t.audience,
                                                     'scopes', t.scopes) ORDER BY t.created_at, t.target)
                   FROM boxgate.consent_target t
                  WHERE t.box = c.box AND t.user_id = c.user_id AND t.client = c.client
                    AND t.version >= ${since}), '[]') AS targets`;

/** Converts a row for the rest of the service. */
function storedGrant(row: GrantColumns): StoredGrant {
  const { client, scopes, targets, created_at: createdAt } = row;
  return { user: Number(row.user_id), client, scopes, targets, createdAt };
}

/** Filters of a search for grants. */
export interface GrantFilters {
  readonly user?: number | undefined;
  readonly client?: string | undefined;
  readonly createdAt?: TimeRange | undefined;
}

const own = [
  { column: 'c.user_id', type: 'bigint', keyOf: (grant: StoredGrant) => String(grant.user) },
  { column: 'c.client', type: 'text', keyOf: (grant: StoredGrant) => grant.client },
] as const;

const clients = `boxgate.resource r ON r.box = c.box AND r.kind = 'Client' AND r.id = c.client`;

/** The grants of a box, by user and client or by creation. */
export const grantListing = listingOf<GrantColumns, StoredGrant, GrantFilters>({
  columns,
  rowOf: storedGrant,
  orders: {
    id: own,
    created_at: [{ column: 'c.created_at', type: 'timestamptz', keyOf: (grant) => grant.createdAt }, ...own],
  },
  from: `boxgate.consent c LEFT JOIN ${clients}`,
  size: "octet_length(concat_ws(' ', VARIADIC c.scopes))",
  where: (conditions, box, { user, client, createdAt }) => {
    conditions.compare(box, (place) => `c.box = ${place}`);
    conditions.add(`c.version >= ${since}`);
    conditions.compare(user, (place) => `c.user_id = ${place}`);
    conditions.compare(client, (place) => `c.client = ${place}`);
    conditions.within('c.created_at', createdAt);
  },
});

/** Reads one grant; undefined when there is none. */
export async function readGrant(connection: Connection, box: string, key: GrantKey): Promise<StoredGrant | undefined> {
  const span = { limit: 1, offset: 0, descending: false, backward: false };
  const { rows } = await grantListing.read(connection, { box, filters: key }, own, span);
  return rows[0];
}

/** Deletes a stored consent. */
export async function deleteGrant(connection: Connection, box: string, { user, client }: GrantKey): Promise<void> {
  await connection.query('DELETE FROM boxgate.consent WHERE box = $1 AND user_id = $2 AND client = $3', [
    box,
    user,
    client,
  ]);
}

/**
 * Revokes everything a client has for a user: codes, refresh families, sessions. Call it under the box's lock
 * (lockResources), so that nothing is issued meanwhile; `now` in milliseconds since 1970.
 */
export async function endGrant(
  connection: Connection,
  box: string,
  { user, client }: GrantKey,
  now: number,
): Promise<void> {
  await connection.query(
    `UPDATE boxgate.authorization_code SET used_at = coalesce(used_at, ${momentAt('$4')})
      WHERE box = $1 AND user_id = $2 AND client = $3`,
    [box, user, client, now],
  );
  const { rows } = await connection.query<{ id: string }>(
    `SELECT id FROM boxgate.refresh_family
      WHERE box = $1 AND user_id = $2 AND client = $3 AND ended_at IS NULL AND expires_at > ${momentAt('$4')}`,
    [box, user, client, now],
  );
  await endFamilies(
    connection,
    box,
    rows.map(({ id }) => id),
    { as: 'revoked', now },
  );
  const buckets = (await filledBuckets(connection)).filter((bucket) => isBucketWithin(bucket, { from: now }));
  await connection.query(
    `UPDATE boxgate.session SET ended_at = ${momentAt('$5')}, ended_as = 'revoked'
      WHERE box = $1 AND user_id = $2 AND client = $3 AND bucket = ANY ($4::int[]) AND ended_at IS NULL
        AND expires_at > ${momentAt('$5')}`,
    [box, user, client, buckets, now],
  );
}
