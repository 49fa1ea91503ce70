import { countFound, readSpan } from '../core/found-rows.ts';
import type { Source } from '../core/found-rows.ts';
import { momentAt, Parameters } from '../core/keyset.ts';
import type { Page, SortColumn, Span, TimeRange } from '../core/keyset.ts';
import type { Connection } from '../core/transaction.ts';

/** Key of a grant: the user who gave it, and the client it is for. */
export interface GrantKey {
  readonly user: number;
  readonly client: string;
}

/** A valid stored consent: its client exists and has not been created again since. */
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

interface GrantColumns {
  readonly user_id: string;
  readonly client: string;
  readonly scopes: readonly string[];
  readonly targets: readonly GrantedTarget[];
  readonly created_at: string;
}

const columns = `c.user_id, c.client, c.scopes, c.created_at::text AS created_at,
       coalesce((SELECT jsonb_agg(jsonb_build_object('redirect_uri', t.redirect_uri, 'audience', t.audience,
                                                     'scopes', t.scopes) ORDER BY t.created_at, t.target)
                   FROM boxgate.consent_target t
                  WHERE t.box = c.box AND t.user_id = c.user_id AND t.client = c.client
                    AND t.version >= r.sessions_from), '[]') AS targets`;

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

/** A search among the grants of a box. */
export interface GrantSearch {
  readonly box: string;
  readonly filters: GrantFilters;
}

/** Sort keys of grants; each has an index. */
export type GrantSort = 'id' | 'created_at';

const own = [
  { column: 'c.user_id', type: 'bigint' },
  { column: 'c.client', type: 'text' },
] as const satisfies readonly SortColumn[];

const sortColumns = {
  id: own,
  created_at: [{ column: 'c.created_at', type: 'timestamptz' }, ...own],
} as const satisfies Record<GrantSort, readonly SortColumn[]>;

/** Reads one grant; undefined when there is none. */
export async function readGrant(
  connection: Connection,
  box: string,
  { user, client }: GrantKey,
): Promise<StoredGrant | undefined> {
  const { from, parameters } = sourceOf({ box, filters: { user, client } });
  const { rows } = await connection.query<GrantColumns>(`SELECT ${columns} FROM ${from}`, parameters.values);
  return rows[0] === undefined ? undefined : storedGrant(rows[0]);
}

/** Reads one span of the grants that a search finds. */
export async function searchGrants(
  connection: Connection,
  search: GrantSearch,
  sort: GrantSort,
  span: Span,
): Promise<Page<StoredGrant>> {
  const source = sourceOf(search);
  const listing = { source, columns, sort: sortColumns[sort] };
  const { rows, more } = await readSpan<GrantColumns>(connection, listing, span);
  return { rows: rows.map(storedGrant), more };
}

/** Counts the grants that a search finds, up to `most`. */
export function countGrants(connection: Connection, search: GrantSearch, most?: number): Promise<number> {
  return countFound(connection, sourceOf(search), most);
}

function sourceOf({ box, filters }: GrantSearch): Source {
  const { user, client, createdAt } = filters;
  const parameters = new Parameters();
  const conditions = [`c.box = ${parameters.add(box)}`, 'c.version >= r.sessions_from'];
  if (user !== undefined) conditions.push(`c.user_id = ${parameters.add(user)}`);
  if (client !== undefined) conditions.push(`c.client = ${parameters.add(client)}`);
  if (createdAt?.from !== undefined) conditions.push(`c.created_at >= ${momentAt(parameters.add(createdAt.from))}`);
  if (createdAt?.to !== undefined) conditions.push(`c.created_at < ${momentAt(parameters.add(createdAt.to))}`);
  const clients = `boxgate.resource r ON r.box = c.box AND r.kind = 'Client' AND r.id = c.client`;
  return {
    from: `boxgate.consent c JOIN ${clients} WHERE ${conditions.join(' AND ')}`,
    size: "octet_length(concat_ws(' ', VARIADIC c.scopes))",
    parameters,
  };
}

/** Deletes a stored consent. */
export async function deleteGrant(connection: Connection, box: string, { user, client }: GrantKey): Promise<void> {
  await connection.query('DELETE FROM boxgate.consent WHERE box = $1 AND user_id = $2 AND client = $3', [
    box,
    user,
    client,
  ]);
}
