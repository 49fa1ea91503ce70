/** A row of a statement for many items; `nth` is the place of its item, from 1. */
export interface RowOfItem {
  readonly nth: string;
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
