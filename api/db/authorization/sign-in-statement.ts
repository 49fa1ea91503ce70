import type { Consent } from './consent.ts';
import { answersOf } from '../core/answers.ts';
import { arrayLiteral, bytes } from '../core/array-literal.ts';
import { fixedText } from '../core/statement.ts';
import type { Statement, StatementConnection, Versioned } from '../core/statement.ts';

/** Key of a sign-in, and of its user's consent for a client. */
export interface SignInKey {
  readonly box: string;
  /** SHA-256 of the text in the browser's cookie, 64 hexadecimal digits. */
  readonly browser: string;
  readonly client: string;
  /** Key of the target of the consent, 64 hexadecimal digits. */
  readonly target: string;
}

/** A sign-in of a user who may still use it, expired or not; times in milliseconds since 1970. */
export interface FoundSignIn {
  readonly user: number;
  /** The config version it began under. */
  readonly version: number;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** The consent of the user at this target; undefined: none yet. */
  readonly consent: Consent | undefined;
}

interface SignInRow {
  readonly nth: string;
  readonly config_version: string;
  readonly user_id: string | null;
  readonly version: string;
  readonly created: string;
  readonly expires: string;
  readonly consent_version: string | null;
  readonly consent_scopes: readonly string[] | null;
}

/** Finds the sign-in of a browser: undefined if no user is signed in there, or the user may no longer be. */
export const findSignIn: Statement<SignInKey, Versioned<FoundSignIn | undefined>> = {
  run: findSignIns,
  boxOf: ({ box }) => box,
};

const findingSignIns = fixedText('SELECT * FROM boxgate.find_sign_ins($1,$2,$3,$4)');

/**
 * Finds the sign-ins of some browsers, each with the current version of its box; the value is undefined if no user is
 * signed in or the user may no longer be, the version if there is no such box. Throws Outage.
 */
async function findSignIns(
  db: StatementConnection,
  keys: readonly SignInKey[],
): Promise<readonly Versioned<FoundSignIn | undefined>[]> {
  const values = [
    arrayLiteral(keys, ({ box }) => `"${box}"`),
    arrayLiteral(keys, ({ browser }) => bytes(browser)),
    arrayLiteral(keys, ({ client }) => `"${client}"`),
    arrayLiteral(keys, ({ target }) => bytes(target)),
  ];
  const rows = await db.rows<SignInRow>(findingSignIns, values);
  return answersOf(keys, rows, (row) =>
    row === undefined
      ? { version: undefined, value: undefined }
      : { version: Number(row.config_version), value: foundSignIn(row) },
  );
}

function foundSignIn(row: SignInRow): FoundSignIn | undefined {
  if (row.user_id === null) return undefined;
  const { consent_version: version, consent_scopes: scopes } = row;
  return {
    user: Number(row.user_id),
    version: Number(row.version),
    createdAt: Number(row.created),
    expiresAt: Number(row.expires),
    consent: version === null || scopes === null ? undefined : { version: Number(version), scopes },
  };
}
