import { answersOf, fixedText, arrayLiteral, quoted } from '../hot/statement.ts';
import type { RowOfItem, Statement } from '../hot/statement.ts';

/** Key of a failure count: the subject of the guesses, in a box, during one period. */
export interface FailureKey {
  readonly box: string;
  readonly subject: string;
  /** End of the period, in seconds since 1970. */
  readonly endsAt: number;
}

const counting = fixedText('SELECT nth, failures FROM boxgate.count_failures($1,$2,$3)');

type CountRow = RowOfItem & { readonly failures: number };

/** Returns the stored number of failures for each key, 0 where none is stored. */
export const countFailures: Statement<FailureKey, number> = {
  run: async (db, keys) => answersOf(keys, await db.rows<CountRow>(counting, parametersOf(keys)), countIn),
  boxOf: ({ box }) => box,
};

function countIn(row: CountRow | undefined): number {
  return row?.failures ?? 0;
}

const adding = fixedText('SELECT boxgate.add_failures($1,$2,$3)');

/** Adds one failure for each key, and returns a null for each. */
export const addFailures: Statement<FailureKey, null> = {
  async run(db, keys) {
    await db.rows(adding, parametersOf(keys));
    return keys.map(() => null);
  },
  boxOf: ({ box }) => box,
};

function parametersOf(keys: readonly FailureKey[]): string[] {
  return [
    arrayLiteral(keys, ({ box }) => `"${box}"`),
    arrayLiteral(keys, ({ subject }) => quoted(subject)),
    arrayLiteral(keys, ({ endsAt }) => String(endsAt)),
  ];
}
