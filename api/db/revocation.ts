import type { Connection } from './transaction.ts';

/** Where a walk through the revocations of a box stands. */
export interface RevocationPlace {
  readonly subject: string;
  readonly version: string;
}

/** Before the first one. */
export const firstRevocation: RevocationPlace = { subject: '', version: '0' };

/**
 * Deletes, among the next `limit` revocations of a box, those that concern no stored session any more; the place of the
 * last one that was looked at, undefined when there is none left.
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
