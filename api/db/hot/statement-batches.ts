import { createBatch, type BatchLimits } from './batch.ts';
import { isOutage, toOutage, translatingErrors, Outage } from '../core/outage.ts';
import type { Connections } from '../core/pool.ts';
import type { Statement, FixedText, StatementConnection } from './statement.ts';
import { withConnection, leadsStraightToPostgres } from '../core/with-connection.ts';
import type pg from 'pg';
import { Problem } from '../../problem.ts';

/**
 * Limits of every batch of requests: two connections were as good as more, and statements for 32 requests or more took
 * an eighth less CPU of Postgres (measured). A batch of a few hundred takes milliseconds.
 */
export const batchBounds: BatchLimits = {
  size: 256,
  inFlight: 2,
  beside: 32,
  slow: 5,
  waiting: 20_000,
  patience: 1_600,
  overflow: (why) =>
    why === 'full'
      ? new Outage('too many requests wait for Postgres')
      : new Problem('throttled', 'Too many requests of this box wait for Postgres. Try again in 1 s', {
          'Retry-After': '1',
        }),
  overdue: () => new Outage('Postgres does not answer'),
};

/** Makes a statement for many items callable for one. */
export type Runner = <Item, Result>(statement: Statement<Item, Result>) => (item: Item) => Promise<Result>;

/** The preparation of each pool: all batches on a pool know what one of them found out about a connection. */
const preparations = new WeakMap<Connections, Preparation>();

function preparationOf(pool: Connections): Preparation {
  const known = preparations.get(pool) ?? createPreparation();
  preparations.set(pool, known);
  return known;
}

/**
 * Runs each statement in micro-batches of its own on a pool: requests that arrive during a statement share the next
 * one. A connection that leads straight to Postgres prepares each of them once.
 */
export function batchesOn(pool: Connections, bounds: BatchLimits): Runner {
  const prepared = preparationOf(pool);
  return <Item, Result>(statement: Statement<Item, Result>) => {
    const { run, boxOf, beside = Infinity } = statement;
    const runOnPool = (items: readonly Item[]) =>
      withConnection(pool, bounds.patience, (connection) => run(prepared(connection), items));
    const limits = { ...bounds, beside: Math.min(bounds.beside, beside) };
    const batch = createBatch(runOnPool, limits, isOutage, boxOf);
    return (item: Item) => batch.submit(item);
  };
}

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
