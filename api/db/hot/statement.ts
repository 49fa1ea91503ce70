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

/** A row of a statement for many items; `nth` is the place of its item, from 1. */
export interface RowOfItem {
  readonly nth: string;
}

/** Returns whether the statement has done each item, in their order: it returns a row for each that it has. */
export function doneItems(items: readonly unknown[], rows: readonly RowOfItem[]): readonly boolean[] {
  const places = new Set(rows.map(({ nth }) => Number(nth)));
  return items.map((_, index) => places.has(index + 1));
}

/** Returns the answer to each item, in their order, from the row that the statement found for it, if there is one. */
export function answersOf<Item, Row extends RowOfItem, Answer>(
  items: readonly Item[],
  rows: readonly Row[],
  answer: (row: Row | undefined, item: Item) => Answer,
): readonly Answer[] {
  const found = new Map(rows.map((row) => [Number(row.nth), row]));
  return items.map((item, index) => answer(found.get(index + 1), item));
}

/**
 * Returns an array parameter as a literal: pg's own serializer costs more than the statement (measured). `text` returns
 * an element that needs no quotes, or one from {@link quoted}.
 */
export function arrayLiteral<T>(items: readonly T[], text: (item: T) => string): string {
  let literal = '{';
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    if (item === undefined) continue;
    literal += index === 0 ? text(item) : `,${text(item)}`;
  }
  return `${literal}}`;
}

/** Returns the same with nulls; null if no item has a value, so that the column costs nothing. */
export function sparseArrayLiteral<T>(items: readonly T[], text: (item: T) => string | null): string | null {
  return items.some((item) => text(item) !== null) ? arrayLiteral(items, (item) => text(item) ?? 'NULL') : null;
}

/** Returns an element with any characters; quoted, the text NULL is not a null. */
export function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** Returns a `bytea` element from hexadecimal digits. */
export function bytes(hex: string): string {
  return `"\\\\x${hex}"`;
}
