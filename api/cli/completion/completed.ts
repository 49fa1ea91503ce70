/** The words and options that a shell completes: those of one command. */
export interface Completed {
  /** Words that name it. */
  readonly name: string;
  readonly summary: string;
  /** Its options, with two dashes. */
  readonly options: readonly string[];
}
