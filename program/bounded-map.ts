/** A map of at most `most` entries: beyond that it drops those that {@link setNewest} stored the longest time ago. */
export class BoundedMap<Value> extends Map<string, Value> {
  readonly #most: number;
  /** Has passed only what was dropped. A new iterator would pass all of that again, for each entry. */
  readonly #oldest = this.keys();

  constructor(most: number) {
    super();
    this.#most = most;
  }

  /** Stores an entry as the newest one, and drops the oldest one if there are too many. */
  setNewest(key: string, value: Value): void {
    this.delete(key);
    this.set(key, value);
    if (this.size > this.#most) this.delete(this.#oldest.next().value ?? key);
  }
}
