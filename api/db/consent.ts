import type { Connection } from './transaction.ts';

/** What a person lets a client have. */
export interface Consent {
  readonly scopes: readonly string[];
  /** The config version it was given under. */
  readonly version: number;
}

/** The stored consent of a person for a client; undefined when there is none. */
export async function readConsent(
  connection: Connection,
  box: string,
  user: number,
  client: string,
): Promise<Consent | undefined> {
  const { rows } = await connection.query<{ readonly scopes: readonly string[]; readonly version: string }>(
    'SELECT scopes, version FROM boxgate.consent WHERE box = $1 AND user_id = $2 AND client = $3',
    [box, user, client],
  );
  return rows[0] && { scopes: rows[0].scopes, version: Number(rows[0].version) };
}

/** Stores a person's consent for a client in place of the one before; `now` in milliseconds since 1970. */
export async function storeConsent(
  connection: Connection,
  box: string,
  who: { readonly user: number; readonly client: string },
  { scopes, version }: Consent,
  now: number,
): Promise<void> {
  await connection.query(
    `INSERT INTO boxgate.consent (box, user_id, client, scopes, version, created_at)
     VALUES ($1, $2, $3, $4, $5, to_timestamp($6 / 1000.0))
     ON CONFLICT (box, user_id, client)
     DO UPDATE SET scopes = excluded.scopes, version = excluded.version, created_at = excluded.created_at`,
    [box, who.user, who.client, scopes, version, now],
  );
}
