import type { NewSession } from '../session/issue.ts';
import { answersOf } from '../core/answers.ts';
import { arrayLiteral, bytes, quoted, sparseArrayLiteral } from '../core/array-literal.ts';
import { fixedText } from '../core/statement.ts';
import type { Statement, StatementConnection, Versioned } from '../core/statement.ts';
import { foundCode } from './code-statements.ts';
import type { CodeRow, FoundCode } from './code-statements.ts';

/**
 * A code that is presented, what its row must be for it to be used before it is validated, and the start of its
 * session. The rest of the session is in the row. Times in milliseconds since 1970.
 */
export interface CodeUse {
  readonly code: { readonly id: string; readonly hash: string };
  readonly client: string;
  /** The redirect URI of the token request; null: it names none. */
  readonly redirectUri: string | null;
  /** The PKCE challenge of its verifier; null: it has none. */
  readonly challenge: string | null;
  /** Codes issued before this time are revoked. */
  readonly since: number;
  readonly now: number;
  /** False: a code with the scope `openid` is not used, because no key could sign its id_token. */
  readonly mayHaveIdToken: boolean;
  /** True: the person is read too. With the scope `groups` it always is. */
  readonly withPerson: boolean;
  readonly session: Pick<NewSession, 'box' | 'version' | 'id' | 'hash' | 'bucket' | 'expiresAt' | 'remoteAddr'>;
}

/** A code as it was before; `isUsed`: this use has used it, and stored its session. */
export interface UsedCode extends Versioned<FoundCode | undefined> {
  readonly isUsed: boolean;
}

/**
 * Finds a code, and uses it if nothing in its box has changed since it was issued and its row is as expected. It never
 * waits, so a valid code that was not used may only mean that a change was in progress.
 */
export const useCode: Statement<CodeUse, UsedCode> = { run: useCodes, boxOf: ({ session }) => session.box };

const using = fixedText('SELECT * FROM boxgate.use_codes($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16)');

/** Finds codes, and uses those that are as expected; the value is undefined if there is no such code. Throws Outage. */
async function useCodes(db: StatementConnection, uses: readonly CodeUse[]): Promise<readonly UsedCode[]> {
  const rows = await db.rows<UsedCodeRow>(using, [
    arrayLiteral(uses, ({ session }) => `"${session.box}"`),
    arrayLiteral(uses, ({ session }) => String(session.version)),
    arrayLiteral(uses, ({ code }) => code.id),
    arrayLiteral(uses, ({ code }) => bytes(code.hash)),
    arrayLiteral(uses, ({ client }) => `"${client}"`),
    arrayLiteral(uses, ({ now }) => String(now)),
    arrayLiteral(uses, ({ since }) => String(since)),
    sparseArrayLiteral(uses, ({ redirectUri }) => (redirectUri === null ? null : quoted(redirectUri))),
    sparseArrayLiteral(uses, ({ challenge }) => challenge),
    arrayLiteral(uses, ({ mayHaveIdToken }) => String(mayHaveIdToken)),
    arrayLiteral(uses, ({ withPerson }) => String(withPerson)),
    arrayLiteral(uses, ({ session }) => session.id),
    arrayLiteral(uses, ({ session }) => String(session.bucket)),
    arrayLiteral(uses, ({ session }) => String(session.expiresAt)),
    sparseArrayLiteral(uses, ({ session }) => (session.hash === null ? null : bytes(session.hash))),
    sparseArrayLiteral(uses, ({ session }) => session.remoteAddr),
  ]);
  return answersOf(uses, rows, (row, { code }) =>
    row === undefined
      ? { version: undefined, value: undefined, isUsed: false }
      : { version: Number(row.config_version), value: foundCode(code.id, row), isUsed: row.stored },
  );
}

interface UsedCodeRow extends CodeRow {
  readonly stored: boolean;
}
