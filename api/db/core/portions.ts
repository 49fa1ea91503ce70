import type pg from 'pg';
import type { Connection } from './transaction.ts';

/** Rows of one portion: reading their values takes about half a millisecond of the event loop. */
const PORTION_ROWS = 100;

/** A statement with its values. */
interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

/** A statement whose rows come in portions: pg reads the property, which its types do not have. */
interface PortionedStatement extends Statement {
  /** The maximum number of rows of an Execute (PostgreSQL protocol, "Extended Query"). */
  readonly rows: number;
}

/**
 * Reads the rows of a statement that finds at most `most`. Postgres sends many of them in portions, each when it is
 * asked for: between two of them the event loop serves other requests. A thousand rows at once hold it for 5 to 10 ms.
 */
export async function readInPortions<Columns extends pg.QueryResultRow>(
  connection: Connection,
  { text, values }: Statement,
  most: number,
): Promise<readonly Columns[]> {
  const portioned: PortionedStatement = { text, values, rows: PORTION_ROWS };
  const found = most > PORTION_ROWS ? connection.query<Columns>(portioned) : connection.query<Columns>(text, values);
  return (await found).rows;
}
