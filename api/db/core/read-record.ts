/** Result of a batched read of a record. */
export interface ReadRecord<T> {
  /** Undefined if there is no such record, or if it is too large to be read together with others. */
  readonly row: T | undefined;
  readonly isLarge?: boolean;
}
