import type { AuthorizationAnswer, StoredAnswer } from './authorization-answer.ts';
import type { NewSession } from '../session/issue.ts';
import { answersOf, doneItems } from '../core/answers.ts';
import type { RowOfItem } from '../core/answers.ts';
import { arrayLiteral, bytes, quoted, sparseArrayLiteral } from '../core/array-literal.ts';
import { fixedText } from '../core/statement.ts';
import type { FixedText, Statement, StatementConnection, Versioned } from '../core/statement.ts';
import type { Person } from '../user/person.ts';

/** A code about to be stored. */
export interface NewCode extends AuthorizationAnswer {
  readonly box: string;
  readonly hash: string;
  readonly keptUntil: number;
  /** The version of the sign-in that it is for: the code is stored only if that sign-in still exists. */
  readonly signInVersion: number;
  /** The version of its consent: stored only if that still covers the scope; null: none is needed. */
  readonly consentVersion: number | null;
  /** Key of the target of that consent, 64 hexadecimal digits. */
  readonly target: string;
}

/** Key of a code; the hash in its row shows whether the caller knows the code. */
export interface CodeKey {
  readonly box: string;
  /** A UUID. */
  readonly id: string;
  /** True: the person is read too. With the scope `groups` it always is. */
  readonly withPerson?: boolean;
}

/** A code as stored. */
export type FoundCode = Omit<StoredAnswer, 'browser' | 'tokens'>;

/** A code about to be redeemed, and the session that results from it. */
export interface Redemption {
  readonly code: { readonly id: string; readonly hash: string };
  readonly session: NewSession & { readonly user: number };
  /** Refresh family that the transaction has stored for the session; null: none. */
  readonly family: string | null;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Stores a code if its box is at its version and the data it was decided on has not changed; returns whether it did. It
 * never waits, so false may only mean that a change was in progress: then a transaction decides.
 */
export const storeCode: Statement<NewCode, boolean> = { run: storeCodes, boxOf: ({ box }) => box };

const storing = fixedText(
  'SELECT nth FROM boxgate.store_codes($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20)',
);

/** Stores each code if the data it was decided on has not changed; returns which were stored. Throws Outage. */
function storeCodes(db: StatementConnection, codes: readonly NewCode[]): Promise<readonly boolean[]> {
  return done(db, codes, storing, [
    arrayLiteral(codes, ({ box }) => `"${box}"`),
    arrayLiteral(codes, ({ version }) => String(version)),
    arrayLiteral(codes, ({ id }) => id),
    arrayLiteral(codes, ({ hash }) => bytes(hash)),
    arrayLiteral(codes, ({ client }) => `"${client}"`),
    arrayLiteral(codes, ({ user }) => String(user)),
    arrayLiteral(codes, ({ browser }) => bytes(browser)),
    arrayLiteral(codes, ({ signInVersion }) => String(signInVersion)),
    sparseArrayLiteral(codes, ({ consentVersion }) => textOf(consentVersion)),
    sparseArrayLiteral(codes, ({ redirectUri }) => quotedOrNull(redirectUri)),
    sparseArrayLiteral(codes, ({ scope }) => quotedOrNull(scope)),
    sparseArrayLiteral(codes, ({ audience }) => jsonOrNull(audience)),
    sparseArrayLiteral(codes, ({ challenge }) => quotedOrNull(challenge)),
    sparseArrayLiteral(codes, ({ nonce }) => quotedOrNull(nonce)),
    sparseArrayLiteral(codes, ({ authenticatedAt }) => textOf(authenticatedAt)),
    sparseArrayLiteral(codes, ({ userAgent }) => quotedOrNull(userAgent)),
    arrayLiteral(codes, ({ createdAt }) => String(createdAt)),
    arrayLiteral(codes, ({ expiresAt }) => String(expiresAt)),
    arrayLiteral(codes, ({ keptUntil }) => String(keptUntil)),
    arrayLiteral(codes, ({ target }) => bytes(target)),
  ]);
}

/** Uses a code and stores its session, if its box is at the session's version and the code is valid; false as above. */
export const redeemCode: Statement<Redemption, boolean> = { run: redeemCodes, boxOf: ({ session }) => session.box };

const redeeming = fixedText(
  'SELECT nth FROM boxgate.redeem_codes($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16)',
);

/** Redeems each code that is still valid; returns which were redeemed. Throws Outage. */
function redeemCodes(db: StatementConnection, redemptions: readonly Redemption[]): Promise<readonly boolean[]> {
  return done(db, redemptions, redeeming, [
    arrayLiteral(redemptions, ({ session }) => `"${session.box}"`),
    arrayLiteral(redemptions, ({ session }) => String(session.version)),
    arrayLiteral(redemptions, ({ code }) => code.id),
    arrayLiteral(redemptions, ({ code }) => bytes(code.hash)),
    arrayLiteral(redemptions, ({ now }) => String(now)),
    arrayLiteral(redemptions, ({ session }) => session.id),
    arrayLiteral(redemptions, ({ session }) => String(session.bucket)),
    arrayLiteral(redemptions, ({ session }) => String(session.expiresAt)),
    arrayLiteral(redemptions, ({ session }) => `"${session.client}"`),
    sparseArrayLiteral(redemptions, ({ session }) => (session.hash === null ? null : bytes(session.hash))),
    sparseArrayLiteral(redemptions, ({ session }) => session.remoteAddr),
    arrayLiteral(redemptions, ({ session }) => String(session.user)),
    sparseArrayLiteral(redemptions, ({ session }) => quotedOrNull(session.scope)),
    sparseArrayLiteral(redemptions, ({ session }) => jsonOrNull(session.audience)),
    sparseArrayLiteral(redemptions, ({ session }) => quotedOrNull(session.userAgent)),
    sparseArrayLiteral(redemptions, ({ family }) => family),
  ]);
}

/** Runs a statement that returns the positions, from 1, of the items it processed. */
async function done(
  db: StatementConnection,
  items: readonly unknown[],
  fixed: FixedText,
  values: (string | null)[],
): Promise<readonly boolean[]> {
  return doneItems(items, await db.rows<RowOfItem>(fixed, values));
}

function textOf(number: number | null): string | null {
  return number === null ? null : String(number);
}

function quotedOrNull(text: string | null): string | null {
  return text === null ? null : quoted(text);
}

function jsonOrNull(list: readonly string[] | null): string | null {
  return list === null ? null : quoted(JSON.stringify(list));
}

/** The row of a code, as the statements that find codes return it. */
export interface CodeRow {
  readonly nth: string;
  readonly config_version: string;
  readonly hash: string | null;
  /** Null if there is no such code. */
  readonly client: string | null;
  readonly user_id: string;
  readonly version: string;
  readonly redirect_uri: string | null;
  readonly scope: string | null;
  readonly audience: readonly string[] | null;
  readonly challenge: string | null;
  readonly nonce: string | null;
  readonly authenticated: string | null;
  readonly user_agent: string | null;
  readonly created: string;
  readonly expires: string;
  readonly used: boolean;
  readonly user_gone: boolean;
  readonly person: Person | null;
}

/** Finds a code: undefined if there is none. */
export const findCode: Statement<CodeKey, Versioned<FoundCode | undefined>> = {
  run: findCodes,
  boxOf: ({ box }) => box,
};

const findingCodes = fixedText('SELECT * FROM boxgate.find_codes($1,$2,$3)');

/**
 * Reads codes, each with the current version of its box; the value is undefined if there is no such code, the version
 * if there is no such box. Throws Outage.
 */
async function findCodes(
  db: StatementConnection,
  keys: readonly CodeKey[],
): Promise<readonly Versioned<FoundCode | undefined>[]> {
  const values = [
    arrayLiteral(keys, ({ box }) => `"${box}"`),
    arrayLiteral(keys, ({ id }) => id),
    arrayLiteral(keys, ({ withPerson = false }) => String(withPerson)),
  ];
  const rows = await db.rows<CodeRow>(findingCodes, values);
  return answersOf(keys, rows, (row, { id }) =>
    row === undefined
      ? { version: undefined, value: undefined }
      : { version: Number(row.config_version), value: foundCode(id, row) },
  );
}

/** Returns the code of a row; undefined if there is no such code. */
export function foundCode(id: string, row: CodeRow): FoundCode | undefined {
  if (row.client === null) return undefined;
  return {
    id,
    hash: row.hash,
    client: row.client,
    user: Number(row.user_id),
    version: Number(row.version),
    redirectUri: row.redirect_uri,
    scope: row.scope,
    audience: row.audience,
    challenge: row.challenge,
    nonce: row.nonce,
    authenticatedAt: row.authenticated === null ? null : Number(row.authenticated),
    userAgent: row.user_agent,
    createdAt: Number(row.created),
    expiresAt: Number(row.expires),
    used: row.used,
    userGone: row.user_gone,
    person: row.person,
  };
}
