import type { Parameters } from './keyset.ts';
import type { Connection } from './transaction.ts';

/** The source of a search: the SQL after FROM, up to the end of its WHERE, with its values. */
export interface Source {
  readonly from: string;
  readonly parameters: Parameters;
}

/** Bytes of one page: a page of larger rows ends early, and the next one continues from there. */
const PAGE_BYTES = 1_048_576;

/** Column that {@link firstBytesOf} adds to each row. */
export interface FoundCount {
  readonly rows_found: string;
}

/**
 * Returns SQL for the first rows of an ordered statement, up to {@link PAGE_BYTES} by its column `row_bytes`, after one
 * row at least. The column `rows_found` contains the number of rows that the statement found.
 */
export function firstBytesOf(found: string, parameters: Parameters): string {
  return `SELECT * FROM (
       SELECT f.*, sum(f.row_bytes) OVER (ROWS UNBOUNDED PRECEDING) - f.row_bytes AS bytes_before,
              count(*) OVER () AS rows_found
         FROM (${found}) AS f) AS p
      WHERE p.bytes_before < ${parameters.add(PAGE_BYTES)}`;
}

/** Returns the number of rows that a statement of {@link firstBytesOf} found, even if it returned fewer. */
export function foundCount(rows: readonly FoundCount[]): number {
  return Number(rows[0]?.rows_found ?? 0);
}

/** Counts the rows that a search finds, up to `most`. */
export async function countFound(connection: Connection, { from, parameters }: Source, most?: number): Promise<number> {
  const { rows } = await connection.query<{ count: string }>(
    `SELECT count(*) FROM (SELECT FROM ${from} LIMIT ${parameters.add(most ?? null)}) AS found`,
    parameters.values,
  );
  return Number(rows[0]?.count);
}
