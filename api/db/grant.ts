import { countFound, readSpan } from './found-rows.ts';
import type { Source } from './found-rows.ts';
import { momentAt, Parameters } from './keyset.ts';
import type { Page, SortColumn, Span, TimeRange } from './keyset.ts';
import type { Connection } from './transaction.ts';

/** Whom a grant is of, and whom it is for. */
export interface GrantKey {
  readonly user: number;
  readonly client: string;
}

/** A stored consent that counts: of a client that is there, and was not made anew since. */
export interface StoredGrant extends GrantKey {
  readonly scopes: readonly string[];
  /** With microseconds, as the sort key of a cursor. */
  readonly createdAt: string;
}

interface GrantColumns {
  readonly user_id: string;
  readonly client: string;
  readonly scopes: readonly string[];
  readonly created_at: string;
}

const columns = 'c.user_id, c.client, c.scopes, c.created_at::text AS created_at';

function storedGrant(row: GrantColumns): StoredGrant {
  return { user: Number(row.user_id), client: row.client, scopes: row.scopes, createdAt: row.created_at };
}

/** What a search for grants may compare with. */
export interface GrantFilters {
  readonly user?: number | undefined;
  readonly client?: string | undefined;
  readonly createdAt?: TimeRange | undefined;
}

/** What grants can be sorted by: an index serves each. */
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
  const { from, parameters } = sourceOf(box, { user, client });
  const { rows } = await connection.query<GrantColumns>(`SELECT ${columns} FROM ${from}`, parameters.values);
  return rows[0] === undefined ? undefined : storedGrant(rows[0]);
}

/** Reads one span of the grants that a search finds. */
export async function searchGrants(
  connection: Connection,
  box: string,
  filters: GrantFilters,
  sort: GrantSort,
  span: Span,
): Promise<Page<StoredGrant>> {
  const source = sourceOf(box, filters);
  const { rows, more } = await readSpan<GrantColumns>(connection, columns, source, sortColumns[sort], span);
  return { rows: rows.map(storedGrant), more };
}

/** How many grants a search finds; stops counting at `most`. */
export function countGrants(
  connection: Connection,
  box: string,
  filters: GrantFilters,
  most?: number,
): Promise<number> {
  return countFound(connection, sourceOf(box, filters), most);
}

function sourceOf(box: string, { user, client, createdAt }: GrantFilters): Source {
  const parameters = new Parameters();
  const conditions = [`c.box = ${parameters.add(box)}`, 'c.version >= r.sessions_from'];
  if (user !== undefined) conditions.push(`c.user_id = ${parameters.add(user)}`);
  if (client !== undefined) conditions.push(`c.client = ${parameters.add(client)}`);
  if (createdAt?.from !== undefined) conditions.push(`c.created_at >= ${momentAt(parameters.add(createdAt.from))}`);
  if (createdAt?.to !== undefined) conditions.push(`c.created_at < ${momentAt(parameters.add(createdAt.to))}`);
  const clients = `boxgate.resource r ON r.box = c.box AND r.kind = 'Client' AND r.id = c.client`;
  return { from: `boxgate.consent c JOIN ${clients} WHERE ${conditions.join(' AND ')}`, parameters };
}

/** Deletes a stored consent. */
export async function deleteGrant(connection: Connection, box: string, { user, client }: GrantKey): Promise<void> {
  await connection.query('DELETE FROM boxgate.consent WHERE box = $1 AND user_id = $2 AND client = $3', [
    box,
    user,
    client,
  ]);
}
