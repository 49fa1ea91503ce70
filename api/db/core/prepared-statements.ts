import type pg from 'pg';
import { toOutage, translatingErrors } from './outage.ts';
import { leadsStraightToPostgres } from './primary.ts';
import type { FixedText, StatementConnection } from './statement.ts';

/** A function that makes a connection ready for statements outside transactions. */
export type Preparation = (connection: pg.PoolClient) => StatementConnection;

type Values = readonly (string | null)[];

/**
 * Returns a function that lets a connection prepare its statements if it leads straight to Postgres. Behind a pooler
 * the next transaction may run on another server connection, where the prepared statement is missing: there the text is
 * sent each time.
 *
 * If Postgres refuses a prepared statement, because a migration has changed its result or because it is missing, its
 * text is sent, and the connection prepares nothing any more.
 */
export function createPreparation(): Preparation {
  const prepares = new WeakMap<pg.PoolClient, boolean>();
  return (connection) => {
    if (!prepares.has(connection)) prepares.set(connection, leadsStraightToPostgres(connection));
    const asText = unprepared(connection);
    return {
      async rows<Row extends pg.QueryResultRow>(fixed: FixedText, values: Values) {
        if (prepares.get(connection) !== true) return asText.rows<Row>(fixed, values);
        try {
          return (await connection.query<Row>({ ...fixed, values: [...values] })).rows;
        } catch (error) {
          if (!mayComeOfPreparing(error)) throw toOutage(error);
          prepares.set(connection, false);
          return asText.rows<Row>(fixed, values);
        }
      },
    };
  };
}

/** Returns a connection whose statements are not prepared: a transaction could not run a refused one again. */
export function unprepared(connection: pg.PoolClient): StatementConnection {
  return {
    rows: <Row extends pg.QueryResultRow>({ text }: FixedText, values: Values) =>
      translatingErrors(async () => (await connection.query<Row>(text, [...values])).rows),
  };
}

/**
 * Checks for an error that the same text might not have. 0A000: its result has other columns now; 26000: there is no
 * such prepared statement; class 42: one of that name exists, or the types of its parameters no longer fit. Each ends
 * the statement, and with it its transaction: nothing was stored.
 */
function mayComeOfPreparing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(0A000|26000|42[0-9A-Z]{3})$/.test(String(error.code));
}
