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
