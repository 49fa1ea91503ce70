import type pg from 'pg';
import { keysetOf, pageOf } from './keyset.ts';
import type { Page, Parameters, SortColumn, Span } from './keyset.ts';
import type { Connection } from './transaction.ts';

/** What a search looks through: what stands behind FROM, up to the end of its WHERE, with its values. */
export interface Source {
  readonly from: string;
  readonly parameters: Parameters;
}

/** Reads one span of what a search finds, sorted by columns that an index has in this order. */
export async function readSpan<Row extends pg.QueryResultRow>(
  connection: Connection,
  columns: string,
  { from, parameters }: Source,
  sort: readonly SortColumn[],
  span: Span,
): Promise<Page<Row>> {
  const { condition, order, limit } = keysetOf(sort, span, parameters);
  const { rows } = await connection.query<Row>(
    `SELECT ${columns} FROM ${from} AND ${condition} ORDER BY ${order} ${limit}`,
    parameters.values,
  );
  return pageOf(rows, span);
}

/** How many rows a search finds; stops counting at `most`. */
export async function countFound(connection: Connection, { from, parameters }: Source, most?: number): Promise<number> {
  const { rows } = await connection.query<{ count: string }>(
    `SELECT count(*) FROM (SELECT FROM ${from} LIMIT ${parameters.add(most ?? null)}) AS found`,
    parameters.values,
  );
  return Number(rows[0]?.count);
}
