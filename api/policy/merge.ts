/** Checks whether the first of two elements comes before the second. */
type Order<T> = (one: T, other: T) => boolean;

/**
 * Merges sorted lists, each element once: a comparison for each doubling of the lists. It is computed as it is read.
 * Elements for which `isWanted` is false when they are reached are left out, and are not compared.
 */
export function* merged<T extends object>(
  lists: readonly (readonly T[])[],
  isBefore: Order<T>,
  isWanted?: (element: T) => boolean,
): Generator<T> {
  const [only] = lists;
  if (only === undefined) return;
  if (lists.length === 1 && isWanted === undefined) {
    yield* only;
    return;
  }
  const cursor = cursorOver(lists, 0, lists.length, { isBefore, isWanted });
  for (let { head } = cursor; head !== undefined; head = cursor.advance()) yield head;
}

/** A place in a sorted sequence. */
interface Cursor<T> {
  /** The element at this place; undefined at the end. */
  readonly head: T | undefined;
  /** Moves to the next element, and returns it. */
  advance(): T | undefined;
}

/** The order of a merge, and a filter. */
interface Reading<T> {
  readonly isBefore: Order<T>;
  readonly isWanted: ((element: T) => boolean) | undefined;
}

/** Returns the beginning of the merge of some lists: of one, or of two halves. */
function cursorOver<T>(lists: readonly (readonly T[])[], from: number, end: number, reading: Reading<T>): Cursor<T> {
  if (end - from === 1) return new ListCursor(lists[from] ?? [], reading.isWanted);
  const middle = (from + end) >>> 1;
  const [one, other] = [cursorOver(lists, from, middle, reading), cursorOver(lists, middle, end, reading)];
  return new PairCursor(one, other, reading.isBefore);
}

/** A place in one list, at an element that is wanted. */
class ListCursor<T> implements Cursor<T> {
  readonly #list: readonly T[];
  readonly #isWanted: ((element: T) => boolean) | undefined;
  #at = -1;
  head: T | undefined;

  constructor(list: readonly T[], isWanted: ((element: T) => boolean) | undefined) {
    this.#list = list;
    this.#isWanted = isWanted;
    this.advance();
  }

  advance(): T | undefined {
    do this.head = this.#list[(this.#at += 1)];
    while (this.head !== undefined && this.#isWanted?.(this.head) === false);
    return this.head;
  }
}

/** A place in the merge of two sequences. */
class PairCursor<T> implements Cursor<T> {
  readonly #one: Cursor<T>;
  readonly #other: Cursor<T>;
  readonly #isBefore: Order<T>;
  head: T | undefined;

  constructor(one: Cursor<T>, other: Cursor<T>, isBefore: Order<T>) {
    this.#one = one;
    this.#other = other;
    this.#isBefore = isBefore;
    this.head = this.#least();
  }

  advance(): T | undefined {
    const passed = this.head;
    if (this.#one.head === passed) this.#one.advance();
    if (this.#other.head === passed) this.#other.advance();
    return (this.head = this.#least());
  }

  #least(): T | undefined {
    const one = this.#one.head;
    const other = this.#other.head;
    if (one === undefined) return other;
    return other !== undefined && this.#isBefore(other, one) ? other : one;
  }
}
