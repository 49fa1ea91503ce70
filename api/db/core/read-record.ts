/** Result of a batched read of a record. */
export interface ReadRecord<T> {
  /** Undefined if there is no such record. */
  readonly row: T | undefined;
  /** True if only a transaction can read it: it is too large to be read with others, or may be where they are not. */
  readonly isForTransaction?: boolean;
}
