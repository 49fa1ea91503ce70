import type { Person } from '../user.ts';
import type { Connection } from '../core/transaction.ts';

/** A sign-in about to be stored; times in milliseconds since 1970. */
export interface NewSignIn {
  /** SHA-256 of the text in the browser's cookie, 64 hexadecimal digits. */
  readonly browser: string;
  /** The same of the text that it replaces: a browser that never got the new one presents it again. */
  readonly replaces: string;
  /** The same of a sign-in that had replaced it before; of two answers the browser may have kept the earlier one. */
  readonly replacesUnseen: string | undefined;
  readonly user: number;
  /** The config version under which the password was verified. */
  readonly version: number;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** A sign-in that has not expired, of a user who may still use it. */
export interface SignIn extends Omit<NewSignIn, 'user' | 'replaces' | 'replacesUnseen'> {
  readonly person: Person;
  /** {@link NewSignIn.browser} of the texts that it replaced. */
  readonly replaced: readonly string[];
}

/**
 * Stores a sign-in, unless its user has been deleted meanwhile, and keeps the 100 newest of the user. Call it in a
 * `write` transaction.
 */
export async function insertSignIn(connection: Connection, box: string, signIn: NewSignIn): Promise<void> {
  await connection.query(
    `WITH oldest AS MATERIALIZED (
       SELECT s.browser FROM boxgate.sign_in s
        WHERE s.box = $1 AND s.browser IN (
              SELECT o.browser FROM boxgate.sign_in o WHERE o.box = $1 AND o.user_id = $3
               ORDER BY o.created_at DESC, o.browser DESC OFFSET 99)
          FOR UPDATE SKIP LOCKED
     ), dropped AS (
       DELETE FROM boxgate.sign_in s USING oldest o WHERE s.box = $1 AND s.browser = o.browser
     )
     INSERT INTO boxgate.sign_in
            (box, browser, user_id, version, created_at, expires_at, replaces, replaces_unseen)
     SELECT u.box, decode($2, 'hex'), u.id, $4, to_timestamp($5 / 1000.0), to_timestamp($6 / 1000.0),
            decode($7, 'hex'), decode($8, 'hex')
       FROM boxgate.user u WHERE u.box = $1 AND u.id = $3`,
    [
      ...[box, signIn.browser, signIn.user, signIn.version, signIn.createdAt, signIn.expiresAt],
      ...[signIn.replaces, signIn.replacesUnseen],
    ],
  );
}

/** Finds the sign-in of a browser; undefined if there is none that is valid for its user. `now` in milliseconds. */
export async function findSignIn(
  connection: Connection,
  box: string,
  browser: string,
  now: number,
): Promise<SignIn | undefined> {
  const { rows } = await connection.query<SignInRow>(selectSignIn, [box, browser, now]);
  return signInOf(rows, browser);
}

/**
 * Finds the same, and locks its user and it until the transaction ends: nobody changes the user's email or ends the
 * sign-in meanwhile. The user is read before the row is locked, so call it only in a transaction that holds the box:
 * nobody revokes the user's rights then.
 */
export async function lockSignIn(
  connection: Connection,
  box: string,
  browser: string,
  now: number,
): Promise<SignIn | undefined> {
  // A user is changed and deleted before their sign-ins: locked in the same order.
  await connection.query(
    `SELECT FROM boxgate.user WHERE box = $1 AND id =
       (SELECT user_id FROM boxgate.sign_in WHERE box = $1 AND browser = decode($2, 'hex')) FOR KEY SHARE`,
    [box, browser],
  );
  const { rows } = await connection.query<SignInRow>(`${selectSignIn} FOR KEY SHARE`, [box, browser, now]);
  return signInOf(rows, browser);
}

const selectSignIn = `SELECT boxgate.living_user(box, user_id, version) AS person, version, created_at, expires_at,
            array_remove(ARRAY[encode(replaces, 'hex'), encode(replaces_unseen, 'hex')], NULL) AS replaced
       FROM boxgate.sign_in
      WHERE box = $1 AND browser = decode($2, 'hex') AND expires_at > to_timestamp($3 / 1000.0)`;

interface SignInRow {
  readonly person: Person | null;
  readonly version: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly replaced: readonly string[];
}

function signInOf([row]: readonly SignInRow[], browser: string): SignIn | undefined {
  if (row?.person === undefined || row.person === null) return undefined;
  return {
    browser,
    person: row.person,
    version: Number(row.version),
    createdAt: row.created_at.getTime(),
    expiresAt: row.expires_at.getTime(),
    replaced: row.replaced,
  };
}

/** A cookie that was replaced when an account was signed in to, given by the key of its email. */
export interface Replaced {
  readonly browser: string;
  readonly emailKey: string;
  /** Milliseconds since 1970. */
  readonly since: number;
}

/** Checks whether an account was signed in to from a browser that still presents the cookie from before. */
export async function isReplaced(
  connection: Connection,
  box: string,
  { browser, emailKey, since }: Replaced,
): Promise<boolean> {
  const { rowCount } = await connection.query(
    `SELECT FROM boxgate.sign_in s JOIN boxgate.user u ON u.box = s.box AND u.id = s.user_id
      WHERE s.box = $1 AND u.email_key = $2 AND s.created_at > to_timestamp($4 / 1000.0)
        AND (s.replaces = decode($3, 'hex') OR s.replaces_unseen = decode($3, 'hex'))`,
    [box, emailKey, browser, since],
  );
  return rowCount !== 0;
}

/** The sign-ins of a browser that have ended. */
export interface EndedSignIns {
  /** Their user, of several the one that was deleted first; undefined if there was no sign-in. */
  readonly user: number | undefined;
  /** Hashes of the browser's cookie under which something may have been issued, the given one first. */
  readonly browsers: readonly string[];
}

/**
 * Ends the sign-in of a browser, and the one that replaced it: a browser that presents the old text of its cookie never
 * got the new one, because the answer was lost or its form was sent twice.
 */
export async function deleteSignIns(connection: Connection, box: string, browser: string): Promise<EndedSignIns> {
  const deleteWhere = async (condition: string): Promise<{ user_id: string; browser: string }[]> => {
    const { rows } = await connection.query<{ user_id: string; browser: string }>(
      `DELETE FROM boxgate.sign_in WHERE box = $1 AND (${condition})
       RETURNING user_id, encode(browser, 'hex') AS browser`,
      [box, Buffer.from(browser, 'hex')],
    );
    return rows;
  };
  // The first statement waits for another sign-in with the same cookie; only a later one sees what that has stored.
  const present = await deleteWhere('browser = $2');
  const unseen = await deleteWhere('replaces = $2 OR replaces_unseen = $2');
  const [first] = [...present, ...unseen];
  return { user: first && Number(first.user_id), browsers: [browser, ...unseen.map((row) => row.browser)] };
}
