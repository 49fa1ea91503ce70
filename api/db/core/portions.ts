import type pg from 'pg';

/** Rows of one portion: their values take half a millisecond of the event loop. */
const PORTION_ROWS = 100;

/** A statement whose rows Postgres sends in portions; its types do not know the property, which pg reads. */
interface PortionedQuery extends pg.QueryConfig<unknown[]> {
  /** The row limit of Execute (PostgreSQL protocol, "Extended Query"); 0: no limit. */
  readonly rows: number;
}

/**
 * Returns a statement that finds at most `most` rows. Postgres sends many of them in portions, each when it is asked
 * for: between two of them the event loop serves other requests. A thousand rows at once would hold it for 5 to 10 ms.
 */
export function inPortions(text: string, values: unknown[], most: number): PortionedQuery {
  return { text, values, rows: most > PORTION_ROWS ? PORTION_ROWS : 0 };
}
