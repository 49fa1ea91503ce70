import type { Connection } from '../core/transaction.ts';

/** An authorization request that waits for consent; `browser` is the hash of the sign-in it belongs to. */
export interface ConsentRequest {
  readonly id: string;
  readonly browser: string;
  /** The parameters of the request as they came, a query without its question mark. */
  readonly query: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Stores a request of a signed-in browser, and keeps the 20 newest requests that wait in it. */
export async function insertConsentRequest(
  connection: Connection,
  box: string,
  request: ConsentRequest,
): Promise<void> {
  await connection.query(
    `WITH oldest AS MATERIALIZED (
       SELECT r.id FROM boxgate.consent_request r
        WHERE r.box = $1 AND r.id IN (
              SELECT o.id FROM boxgate.consent_request o WHERE o.box = $1 AND o.browser = decode($3, 'hex')
               ORDER BY o.expires_at DESC, o.id DESC OFFSET 19)
          FOR UPDATE SKIP LOCKED
     ), dropped AS (
       DELETE FROM boxgate.consent_request r USING oldest o WHERE r.box = $1 AND r.id = o.id
     )
     INSERT INTO boxgate.consent_request (box, id, browser, query, expires_at)
     VALUES ($1, $2, decode($3, 'hex'), $4, to_timestamp($5 / 1000.0))`,
    [box, request.id, request.browser, request.query, request.expiresAt],
  );
}

/** Key of a request in a browser, and the current time (milliseconds since 1970). */
export type ConsentRequestKey = Pick<ConsentRequest, 'id' | 'browser'> & { readonly now: number };

/** Reads the parameters of a request that waits in this browser; undefined if there is none. */
export async function readConsentRequest(
  connection: Connection,
  box: string,
  { id, browser, now }: ConsentRequestKey,
): Promise<string | undefined> {
  const { rows } = await connection.query<{ readonly query: string }>(
    `SELECT query FROM boxgate.consent_request
      WHERE box = $1 AND id = $2 AND browser = decode($3, 'hex') AND expires_at > to_timestamp($4 / 1000.0)`,
    [box, id, browser, now],
  );
  return rows[0]?.query;
}

/** Locks a request until the transaction ends: two answers are serialized. Returns whether it waits in this browser. */
export async function lockConsentRequest(
  connection: Connection,
  box: string,
  { id, browser, now }: ConsentRequestKey,
): Promise<boolean> {
  const { rowCount } = await connection.query(
    `SELECT FROM boxgate.consent_request
      WHERE box = $1 AND id = $2 AND browser = decode($3, 'hex') AND expires_at > to_timestamp($4 / 1000.0)
        FOR UPDATE`,
    [box, id, browser, now],
  );
  return rowCount === 1;
}

/** Removes the requests that wait in a browser, and returns them: the next sign-in of the browser gets them. */
export async function takeConsentRequests(
  connection: Connection,
  box: string,
  browser: string,
): Promise<readonly Omit<ConsentRequest, 'browser'>[]> {
  const { rows } = await connection.query<{ readonly id: string; readonly query: string; readonly expires_at: Date }>(
    `DELETE FROM boxgate.consent_request WHERE box = $1 AND browser = decode($2, 'hex')
     RETURNING id, query, expires_at`,
    [box, browser],
  );
  return rows.map(({ id, query, expires_at }) => ({ id, query, expiresAt: expires_at.getTime() }));
}
