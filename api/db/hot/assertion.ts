import { arrayLiteral, bytes, fixedText } from './statement.ts';
import type { Statement, StatementConnection } from './statement.ts';

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

const usingAssertions = fixedText('SELECT nth, fresh FROM boxgate.use_assertions($1,$2,$3,$4,$5)');

/** Uses some assertions; returns for each whether this request is the first to use it. Throws Outage. */
async function useAssertions(db: StatementConnection, uses: readonly AssertionUse[]): Promise<readonly boolean[]> {
  const values = [
    arrayLiteral(uses, ({ box }) => `"${box}"`),
    arrayLiteral(uses, ({ client }) => `"${client}"`),
    arrayLiteral(uses, ({ jti }) => bytes(jti)),
    arrayLiteral(uses, ({ request }) => request),
    arrayLiteral(uses, ({ expiresAt }) => String(expiresAt)),
  ];
  const rows = await db.rows<{ nth: string; fresh: boolean }>(usingAssertions, values);
  const fresh = new Set(rows.filter((row) => row.fresh).map((row) => Number(row.nth)));
  return uses.map((_, index) => fresh.has(index + 1));
}
