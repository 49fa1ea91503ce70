import type { Connection } from '../core/transaction.ts';

/** Position of a walk through the revocations of a box. */
export interface RevocationPlace {
  readonly subject: string;
  readonly version: string;
}

/** Position before the first one. */
export const firstRevocation: RevocationPlace = { subject: '', version: '0' };

/**
 * Deletes, among the next `limit` revocations of a box, those that no longer affect a stored session; returns the
 * position of the last one examined, undefined if none is left.
 */
export async function pruneRevocations(
  connection: Connection,
  box: string,
  { subject, version }: RevocationPlace,
  limit: number,
): Promise<RevocationPlace | undefined> {
  const { rows } = await connection.query<RevocationPlace>(
    'SELECT subject, version::text AS version FROM boxgate.prune_revocations($1, $2, $3, $4)',
    [box, subject, version, limit],
  );
  return rows[0];
}
