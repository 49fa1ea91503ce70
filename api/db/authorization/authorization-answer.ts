import type { Connection } from '../core/transaction.ts';
import type { Person } from '../user/person.ts';

/** The tokens issued for an answer: a session, and the refresh family it may belong to. */
export interface IssuedTokens {
  readonly session: string;
  readonly bucket: number;
  readonly family: string | null;
}

/** The answer to an authorization request; times in milliseconds since 1970, hashes hexadecimal. */
export interface AuthorizationAnswer {
  readonly id: string;
  /** Hash of the code's random part; null if a token was issued directly. */
  readonly hash: string | null;
  readonly client: string;
  readonly user: number;
  /** The config version it began under. */
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
  /** Time of the user's sign-in; null if a replica of an older release stored the answer. */
  readonly authenticatedAt: number | null;
  readonly userAgent: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Stores an answer whose tokens are issued directly, without a code. */
export async function insertAnswer(
  connection: Connection,
  box: string,
  answer: Omit<AuthorizationAnswer, 'hash'> & { readonly keptUntil: number },
  tokens: IssuedTokens,
): Promise<void> {
  await connection.query(
    `INSERT INTO boxgate.authorization_answer
       (box, id, client, user_id, version, browser, redirect_uri, scope, audience, challenge, user_agent,
        created_at, expires_at, kept_until, session, bucket, family, nonce,
        authenticated_at, used_at)
     VALUES ($1, $2, $3, $4, $5, decode($6, 'hex'), $7, $8, $9, $10, $11,
             to_timestamp($12 / 1000.0), to_timestamp($13 / 1000.0), to_timestamp($14 / 1000.0), $15, $16, $17,
             $18, to_timestamp($19 / 1000.0), to_timestamp($12 / 1000.0))`,
    [
      box,
      answer.id,
      answer.client,
      answer.user,
      answer.version,
      answer.browser,
      answer.redirectUri,
      answer.scope,
      answer.audience,
      answer.challenge,
      answer.userAgent,
      answer.createdAt,
      answer.expiresAt,
      answer.keptUntil,
      tokens.session,
      tokens.bucket,
      tokens.family,
      answer.nonce,
      answer.authenticatedAt,
    ],
  );
}

/** An answer as stored. */
export interface StoredAnswer extends AuthorizationAnswer {
  readonly used: boolean;
  /** True if its user is deleted or inactive, or has since ended everything begun then. */
  readonly userGone: boolean;
  /** Its user as it is now; null if the user is gone, or was not read because no token of the answer tells of them. */
  readonly person: Person | null;
  readonly tokens: IssuedTokens | null;
}

interface AnswerRow {
  readonly id: string;
  readonly hash: string | null;
  readonly client: string;
  readonly user_id: string;
  readonly version: string;
  readonly browser: string;
  readonly redirect_uri: string | null;
  readonly scope: string | null;
  readonly audience: readonly string[] | null;
  readonly challenge: string | null;
  readonly nonce: string | null;
  readonly authenticated_at: Date | null;
  readonly user_agent: string | null;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly used: boolean;
  readonly person: Person | null;
  readonly session: string | null;
  readonly bucket: number | null;
  readonly family: string | null;
}

/** Reads an answer and locks its row until the transaction ends: two uses of a code are serialized. */
export async function lockAnswer(connection: Connection, box: string, id: string): Promise<StoredAnswer | undefined> {
  const { rows } = await connection.query<AnswerRow>(
    `SELECT id, encode(hash, 'hex') AS hash, client, user_id, version, encode(browser, 'hex') AS browser, redirect_uri,
            scope, audience, challenge, nonce, authenticated_at, user_agent, created_at, expires_at, used_at IS NOT NULL AS used,
            boxgate.living_user(box, user_id, version) AS person, session, bucket, family
       FROM boxgate.authorization_answer WHERE box = $1 AND id = $2 FOR UPDATE`,
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
    browser: row.browser,
    redirectUri: row.redirect_uri,
    scope: row.scope,
    audience: row.audience,
    challenge: row.challenge,
    nonce: row.nonce,
    authenticatedAt: row.authenticated_at?.getTime() ?? null,
    userAgent: row.user_agent,
    createdAt: row.created_at.getTime(),
    expiresAt: row.expires_at.getTime(),
    used: row.used,
    userGone: row.person === null,
    person: row.person,
    tokens: tokensIn(row),
  };
}

/** An answer that has ended, and its user; `tokens` is null if its code was never used. */
export interface EndedAnswer {
  readonly user: number;
  readonly tokens: IssuedTokens | null;
}

/** Ends every code issued to the sign-ins of a browser, given by the hashes of its cookie, and returns them. */
export async function endAnswersOf(
  connection: Connection,
  box: string,
  browsers: readonly string[],
  now: number,
): Promise<readonly EndedAnswer[]> {
  const { rows } = await connection.query<Pick<AnswerRow, 'user_id' | 'session' | 'bucket' | 'family'>>(
    `UPDATE boxgate.authorization_answer SET used_at = coalesce(used_at, to_timestamp($3 / 1000.0))
      WHERE box = $1 AND browser = ANY ($2::bytea[]) RETURNING user_id, session, bucket, family`,
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
export async function moveAnswers(
  connection: Connection,
  box: string,
  { user, from, to, until }: HandedOn,
): Promise<void> {
  await connection.query(
    `UPDATE boxgate.authorization_answer
        SET browser = decode($3, 'hex'), kept_until = greatest(kept_until, to_timestamp($5 / 1000.0))
      WHERE box = $1 AND browser = ANY ($2::bytea[]) AND user_id = $4`,
    [box, bytesOf(from), to, user, until],
  );
}

function bytesOf(hashes: readonly string[]): readonly Buffer[] {
  return hashes.map((hash) => Buffer.from(hash, 'hex'));
}

function tokensIn({ session, bucket, family }: Pick<AnswerRow, 'session' | 'bucket' | 'family'>): IssuedTokens | null {
  return session === null || bucket === null ? null : { session, bucket, family };
}

/** Deletes at most `limit` answers of a box that are no longer needed; returns their number. */
export async function deleteOldAnswers(connection: Connection, box: string, limit: number): Promise<number> {
  const { rowCount } = await connection.query(
    `WITH over AS MATERIALIZED (
       SELECT id FROM boxgate.authorization_answer
        WHERE box = $1 AND kept_until < now() ORDER BY kept_until LIMIT $2 FOR UPDATE SKIP LOCKED)
     DELETE FROM boxgate.authorization_answer a USING over WHERE a.box = $1 AND a.id = over.id`,
    [box, limit],
  );
  return rowCount ?? 0;
}
