import { createHash } from 'node:crypto';
import type pg from 'pg';

/** A statement whose text is always the same; a connection may prepare it under its name. */
export interface FixedText {
  readonly name: string;
  readonly text: string;
}

/**
 * Returns a fixed text with its name. The name follows from the text: behind a pooler that is not recognised, two
 * releases may prepare statements on the same connection to Postgres.
 */
export function fixedText(text: string): FixedText {
  return { name: createHash('sha256').update(text).digest('hex').slice(0, 32), text };
}

/** Converts a time that pg has read, or one in JSON, to milliseconds since 1970. */
export function millisecondsOf(time: Date | string): number {
  return typeof time === 'string' ? Date.parse(time) : time.getTime();
}

/** A connection as the statements of the token and check paths use it. */
export interface StatementConnection {
  /** Runs a fixed text; returns its rows. Throws Outage. */
  rows<Row extends pg.QueryResultRow>(fixed: FixedText, values: readonly (string | null)[]): Promise<readonly Row[]>;
}

/** An answer and the config version of its box at that moment; version undefined if there is no such box. */
export interface Versioned<T> {
  readonly version: number | undefined;
  readonly value: T;
}

/** A statement of the token and check paths: it answers many requests, of any boxes, in one round trip. */
export interface Statement<Item, Result> {
  /** Returns one result for each item, in their order. Throws Outage. */
  readonly run: (db: StatementConnection, items: readonly Item[]) => Promise<readonly Result[]>;
  /** Returns the box of an item, which has its turn among the boxes that wait. */
  readonly boxOf: (item: Item) => string;
  /** Requests that must wait for the statement to begin beside itself, if fewer than those of the batch's limits. */
  readonly beside?: number;
}
