import { createBatch, type BatchLimits } from './batch.ts';
import { isOutage } from './outage.ts';
import type { Connections } from './pool.ts';
import { createPreparation, type Preparation } from './prepared-statements.ts';
import type { Statement } from './statement.ts';
import { withConnection } from './with-connection.ts';

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
