import type pg from 'pg';

/** A pool, or a connection inside a transaction. */
export type Queryable = Pick<pg.Pool, 'query'>;

/** An answer and the config version of its box at that moment; version undefined if there is no such box. */
export interface Versioned<T> {
  readonly version: number | undefined;
  readonly value: T;
}

/** A statement of the token and check paths: it answers many requests, of any boxes, in one round trip. */
export interface Statement<Item, Result> {
  /** Returns one result for each item, in their order. Throws Outage. */
  readonly run: (db: Queryable, items: readonly Item[]) => Promise<readonly Result[]>;
  /** Returns the box of an item, which has its turn among the boxes that wait. */
  readonly boxOf: (item: Item) => string;
}
