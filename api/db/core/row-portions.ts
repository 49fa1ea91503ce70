import type pg from 'pg';
import type { Connection } from './transaction.ts';

/** Rows of one portion: reading their values takes about half a millisecond of the event loop. */
const PORTION_ROWS = 100;

/** A statement with its values. */
interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

/**
 * Reads the rows of a query that finds at most `most`, in a transaction. Many of them come in portions from a cursor:
 * between two portions the event loop serves other requests. A thousand rows at once hold it for 5 to 10 ms. The row
 * limit of pg itself (`rows`) is no way to do so: after an error it never sends Sync, and the connection hangs.
 */
export async function readInPortions<Columns extends pg.QueryResultRow>(
  connection: Connection,
  { text, values }: Statement,
  most: number,
): Promise<readonly Columns[]> {
  if (most <= PORTION_ROWS) return (await connection.query<Columns>(text, values)).rows;
  await connection.query(`DECLARE page NO SCROLL CURSOR FOR ${text}`, values);
  const rows: Columns[] = [];
  let count: number;
  do {
    const portion = await connection.query<Columns>(`FETCH ${String(PORTION_ROWS)} FROM page`);
    count = portion.rows.length;
    rows.push(...portion.rows);
  } while (count === PORTION_ROWS);
  await connection.query('CLOSE page');
  return rows;
}
