import type { Connection } from '../core/transaction.ts';
import type { Person } from '../user.ts';

/** The tokens issued for a code: a session, and the refresh family it may belong to. */
export interface IssuedTokens {
  readonly session: string;
  readonly family: string | null;
}

/** An authorization code about to be stored; times in milliseconds since 1970, hashes hexadecimal. */
export interface NewCode {
  readonly id: string;
  /** Hash of the code's random part; null if its tokens were issued directly, without a code. */
  readonly hash: string | null;
  readonly client: string;
  readonly user: number;
  /** The config version it was issued under. */
  readonly version: number;
  readonly browser: string;
  /** The redirect URI in the request; null if it was omitted. */
  readonly redirectUri: string | null;
  readonly scope: string | null;
  readonly audience: readonly string[] | null;
  /** PKCE with S256; null: none was given. */
  readonly challenge: string | null;
  /** OpenID Connect Core §3.1.2.1; null: none was given. */
  readonly nonce: string | null;
  /** Time of the user's sign-in. */
  readonly authenticatedAt: number;
  readonly userAgent: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly keptUntil: number;
}

/**
 * Stores a code and keeps the 50 newest unused codes of its user; with `tokens` one that is used already, because its
 * tokens were issued directly. A code that is gone is refused like one that never was.
 */
export async function insertCode(
  connection: Connection,
  box: string,
  code: NewCode,
  tokens?: IssuedTokens,
): Promise<void> {
  await connection.query(
    `WITH oldest AS MATERIALIZED (
       SELECT a.id FROM boxgate.authorization_code a
        WHERE a.box = $1 AND a.used_at IS NULL AND $18::uuid IS NULL AND a.id IN (
              SELECT o.id FROM boxgate.authorization_code o WHERE o.box = $1 AND o.user_id = $5 AND o.used_at IS NULL
               ORDER BY o.created_at DESC, o.id DESC OFFSET 49)
          FOR UPDATE SKIP LOCKED
     ), dropped AS (
       DELETE FROM boxgate.authorization_code a USING oldest o WHERE a.box = $1 AND a.id = o.id
     )
     INSERT INTO boxgate.authorization_code
       (box, id, hash, client, user_id, version, browser, redirect_uri, scope, audience, challenge, user_agent,
        created_at, expires_at, kept_until, nonce, authenticated_at, session, family, used_at)
     VALUES ($1, $2, decode($3, 'hex'), $4, $5, $6, decode($7, 'hex'), $8, $9, $10, $11, $12,
             to_timestamp($13 / 1000.0), to_timestamp($14 / 1000.0), to_timestamp($15 / 1000.0), $16,
             to_timestamp($17 / 1000.0), $18, $19,
             CASE WHEN $18::uuid IS NOT NULL THEN to_timestamp($13 / 1000.0) END)`,
    [
      ...[box, code.id, code.hash, code.client, code.user, code.version, code.browser, code.redirectUri, code.scope],
      ...[code.audience, code.challenge, code.userAgent, code.createdAt, code.expiresAt, code.keptUntil, code.nonce],
      ...[code.authenticatedAt, tokens?.session, tokens?.family],
    ],
  );
}

/** A code as stored. */
export interface StoredCode extends Omit<NewCode, 'browser' | 'keptUntil'> {
  readonly used: boolean;
  /** Its user as it is now; null if deleted or inactive, or if everything begun then has been revoked since. */
  readonly person: Person | null;
  readonly tokens: IssuedTokens | null;
}

interface CodeRow {
  readonly id: string;
  readonly hash: string | null;
  readonly client: string;
  readonly user_id: string;
  readonly version: string;
  readonly redirect_uri: string | null;
  readonly scope: string | null;
  readonly audience: readonly string[] | null;
  readonly challenge: string | null;
  readonly nonce: string | null;
  readonly authenticated_at: Date;
  readonly user_agent: string | null;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly used: boolean;
  readonly person: Person | null;
  readonly session: string | null;
  readonly family: string | null;
}

/** Reads a code and locks its row until the transaction ends: two uses of a code are serialized. */
export async function lockCode(connection: Connection, box: string, id: string): Promise<StoredCode | undefined> {
  const { rows } = await connection.query<CodeRow>(
    `SELECT id, encode(hash, 'hex') AS hash, client, user_id, version, redirect_uri, scope, audience, challenge, nonce,
            authenticated_at, user_agent, created_at, expires_at, used_at IS NOT NULL AS used,
            boxgate.living_user(box, user_id, version) AS person, session, family
       FROM boxgate.authorization_code WHERE box = $1 AND id = $2 FOR UPDATE`,
    [box, id],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    id: row.id,
    hash: row.hash,
    client: row.client,
    user: Number(row.user_id),
    version: Number(row.version),
    redirectUri: row.redirect_uri,
    scope: row.scope,
    audience: row.audience,
    challenge: row.challenge,
    nonce: row.nonce,
    authenticatedAt: row.authenticated_at.getTime(),
    userAgent: row.user_agent,
    createdAt: row.created_at.getTime(),
    expiresAt: row.expires_at.getTime(),
    used: row.used,
    person: row.person,
    tokens: tokensIn(row),
  };
}

/** Marks a locked code as used for these tokens; `now` in milliseconds since 1970. */
export async function useCode(
  connection: Connection,
  box: string,
  id: string,
  { session, family, now }: IssuedTokens & { readonly now: number },
): Promise<void> {
  await connection.query(
    `UPDATE boxgate.authorization_code
        SET used_at = to_timestamp($3 / 1000.0), session = $4, family = $5
      WHERE box = $1 AND id = $2`,
    [box, id, now, session, family],
  );
}

/** Deletes a code that nobody used: another one takes its place. */
export async function deleteCode(connection: Connection, box: string, id: string): Promise<void> {
  await connection.query('DELETE FROM boxgate.authorization_code WHERE box = $1 AND id = $2', [box, id]);
}

/** A code that has been closed, and its user; `tokens` is null if it was never used. */
export interface ClosedCode {
  readonly user: number;
  readonly tokens: IssuedTokens | null;
}

/** Closes every code issued to the sign-ins of a browser, given by the hashes of its cookie, and returns them. */
export async function closeCodesOf(
  connection: Connection,
  box: string,
  browsers: readonly string[],
  now: number,
): Promise<readonly ClosedCode[]> {
  const { rows } = await connection.query<Pick<CodeRow, 'user_id' | 'session' | 'family'>>(
    `UPDATE boxgate.authorization_code SET used_at = coalesce(used_at, to_timestamp($3 / 1000.0))
      WHERE box = $1 AND browser = ANY ($2::bytea[]) RETURNING user_id, session, family`,
    [box, bytesOf(browsers), now],
  );
  return rows.map((row) => ({ user: Number(row.user_id), tokens: tokensIn(row) }));
}

/** Earlier sign-ins of a browser, and the one to which what a user began with them belongs from now on. */
export interface HandedOn {
  readonly user: number;
  /** Hashes of the browser's cookie. */
  readonly from: readonly string[];
  readonly to: string;
  /** End of the sign-in that it belongs to, in milliseconds since 1970: it is kept as long. */
  readonly until: number;
}

/** Gives what a user began with one sign-in to the next one of the browser: signing out of that ends it too. */
export async function moveCodes(
  connection: Connection,
  box: string,
  { user, from, to, until }: HandedOn,
): Promise<void> {
  await connection.query(
    `UPDATE boxgate.authorization_code
        SET browser = decode($3, 'hex'), kept_until = greatest(kept_until, to_timestamp($5 / 1000.0))
      WHERE box = $1 AND browser = ANY ($2::bytea[]) AND user_id = $4`,
    [box, bytesOf(from), to, user, until],
  );
}

function bytesOf(hashes: readonly string[]): readonly Buffer[] {
  return hashes.map((hash) => Buffer.from(hash, 'hex'));
}

function tokensIn({ session, family }: Pick<CodeRow, 'session' | 'family'>): IssuedTokens | null {
  return session === null ? null : { session, family };
}
