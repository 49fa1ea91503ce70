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
