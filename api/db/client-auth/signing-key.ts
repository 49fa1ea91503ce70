import { readSigningKeyRows } from '../box/config-changes.ts';
import type { SigningKeyRow } from '../box/config-changes.ts';
import type { Connections } from '../core/pool.ts';
import type { Connection } from '../core/transaction.ts';
import { requestLimit, withConnection } from '../core/with-connection.ts';

/** A key about to be stored, its private part sealed; times in milliseconds since 1970. */
export type NewSigningKey = Omit<SigningKeyRow, 'retiredAt'> & { readonly box: string };

/** Reads the keys of a box, oldest first. */
export function readSigningKeys(connection: Connection, box: string): Promise<readonly SigningKeyRow[]> {
  return readSigningKeyRows(connection, box);
}

/** Stores a key. */
export async function insertKey(connection: Connection, key: NewSigningKey): Promise<void> {
  await connection.query(
    `INSERT INTO boxgate.signing_key (box, kid, algorithm, public_jwk, private_key, active_from, signed_until)
     VALUES ($1, $2, $3, $4, $5, to_timestamp($6 / 1000.0), to_timestamp($7 / 1000.0))`,
    [key.box, key.kid, key.algorithm, key.publicJwk, key.privateKey, key.activeFrom, key.signedUntil],
  );
}

/** Sets the time when a key stops signing, in milliseconds since 1970. */
export async function retireKey(connection: Connection, box: string, kid: string, at: number): Promise<void> {
  await connection.query(
    'UPDATE boxgate.signing_key SET retired_at = to_timestamp($3 / 1000.0) WHERE box = $1 AND kid = $2',
    [box, kid, at],
  );
}

/** Lets a key sign tokens that live until a time, in milliseconds since 1970; never shortens it. */
export async function extendKey(connection: Connection, box: string, kid: string, signedUntil: number): Promise<void> {
  await connection.query(
    `UPDATE boxgate.signing_key SET signed_until = greatest(signed_until, to_timestamp($3 / 1000.0))
      WHERE box = $1 AND kid = $2`,
    [box, kid, signedUntil],
  );
}

/** Deletes a key whose last token has expired. */
export async function deleteKey(connection: Connection, box: string, kid: string): Promise<void> {
  await connection.query('DELETE FROM boxgate.signing_key WHERE box = $1 AND kid = $2', [box, kid]);
}

/** Finds the newest key in use, of any box, its private part sealed; undefined if there is none. Throws Outage. */
export function newestSigningKey(
  pool: Connections,
): Promise<Pick<NewSigningKey, 'box' | 'kid' | 'privateKey'> | undefined> {
  return withConnection(pool, requestLimit, async (connection) => {
    const { rows } = await connection.query<{ box: string; kid: string; private_key: Buffer }>(
      'SELECT box, kid, private_key FROM boxgate.newest_signing_key()',
    );
    const [row] = rows;
    return row === undefined ? undefined : { box: row.box, kid: row.kid, privateKey: row.private_key };
  });
}
