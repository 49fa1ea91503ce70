import { arrayLiteral, quoted } from '../core/array-literal.ts';
import { translatingErrors } from '../core/outage.ts';
import type { Connections } from '../core/pool.ts';
import type { Connection } from '../core/transaction.ts';
import { requestLimit, withConnection } from '../core/with-connection.ts';

/** Key of a failure count: the subject of the guesses, in a box, during one period. */
export interface FailureKey {
  readonly box: string;
  readonly subject: string;
  /** End of the period, in seconds since 1970. */
  readonly endsAt: number;
}

/** Returns the stored number of failures for each key, 0 where none is stored. Throws Outage. */
export async function countFailures(db: Connection, keys: readonly FailureKey[]): Promise<readonly number[]> {
  const text = 'SELECT nth, failures FROM boxgate.count_failures($1,$2,$3)';
  const { rows } = await translatingErrors(() =>
    db.query<{ nth: string; failures: number }>({ text, values: parametersOf(keys) }),
  );
  const found = new Map(rows.map(({ nth, failures }) => [Number(nth), failures]));
  return keys.map((_, index) => found.get(index + 1) ?? 0);
}

/** Adds one failure for each key, and returns a null for each. Throws Outage. */
export async function addFailures(db: Connection, keys: readonly FailureKey[]): Promise<readonly null[]> {
  const text = 'SELECT boxgate.add_failures($1,$2,$3)';
  await translatingErrors(() => db.query({ text, values: parametersOf(keys) }));
  return keys.map(() => null);
}

/** Deletes at most `limit` counts of periods ended before a time, of all boxes; returns their number. Throws Outage. */
export function deleteFailures(pool: Connections, before: Date, limit: number): Promise<number> {
  return withConnection(pool, requestLimit, async (connection) => {
    const { rows } = await connection.query<{ deleted: string }>('SELECT boxgate.delete_failures($1, $2) AS deleted', [
      before,
      limit,
    ]);
    return Number(rows[0]?.deleted);
  });
}

function parametersOf(keys: readonly FailureKey[]): string[] {
  return [
    arrayLiteral(keys, ({ box }) => `"${box}"`),
    arrayLiteral(keys, ({ subject }) => quoted(subject)),
    arrayLiteral(keys, ({ endsAt }) => String(endsAt)),
  ];
}
