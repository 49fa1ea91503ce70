import { arrayLiteral, bytes } from '../core/array-literal.ts';
import type { Queryable, Statement } from '../core/statement.ts';
import { translatingErrors } from '../core/outage.ts';

/** One use of an assertion by a request. */
export interface AssertionUse {
  readonly box: string;
  readonly client: string;
  /** SHA-256 of its jti, 64 hexadecimal digits. */
  readonly jti: string;
  /** UUID of the request: the same request may use it again when it decides again. */
  readonly request: string;
  /** Seconds since 1970 after which no replica accepts it. */
  readonly expiresAt: number;
}

/** Checks whether this request is the first to use the assertion. */
export const useAssertion: Statement<AssertionUse, boolean> = { run: useAssertions, boxOf: ({ box }) => box };

/** Uses some assertions; returns for each whether this request is the first to use it. Throws Outage. */
async function useAssertions(db: Queryable, uses: readonly AssertionUse[]): Promise<readonly boolean[]> {
  const text = 'SELECT nth, fresh FROM boxgate.use_assertions($1,$2,$3,$4,$5)';
  const values = [
    arrayLiteral(uses, ({ box }) => `"${box}"`),
    arrayLiteral(uses, ({ client }) => `"${client}"`),
    arrayLiteral(uses, ({ jti }) => bytes(jti)),
    arrayLiteral(uses, ({ request }) => request),
    arrayLiteral(uses, ({ expiresAt }) => String(expiresAt)),
  ];
  const { rows } = await translatingErrors(() => db.query<{ nth: string; fresh: boolean }>({ text, values }));
  const fresh = new Set(rows.filter((row) => row.fresh).map((row) => Number(row.nth)));
  return uses.map((_, index) => fresh.has(index + 1));
}
