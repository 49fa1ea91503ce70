import type { GrantKey } from '../user/grant.ts';
import { momentAt } from '../core/keyset.ts';
import { endFamilies } from './session.ts';
import { filledBuckets, isBucketWithin } from './session-buckets.ts';
import type { Connection } from '../core/transaction.ts';

/**
 * Revokes everything a client has for a user: codes, refresh families, sessions. Call it under the box's lock
 * (lockResources), so that nothing is issued meanwhile; `now` in milliseconds since 1970.
 */
export async function endGrant(
  connection: Connection,
  box: string,
  { user, client }: GrantKey,
  now: number,
): Promise<void> {
  await connection.query(
    `UPDATE boxgate.authorization_code SET used_at = coalesce(used_at, ${momentAt('$4')})
      WHERE box = $1 AND user_id = $2 AND client = $3`,
    [box, user, client, now],
  );
  const { rows } = await connection.query<{ id: string }>(
    `SELECT id FROM boxgate.refresh_family
      WHERE box = $1 AND user_id = $2 AND client = $3 AND ended_at IS NULL AND expires_at > ${momentAt('$4')}`,
    [box, user, client, now],
  );
  await endFamilies(
    connection,
    box,
    rows.map(({ id }) => id),
    { as: 'revoked', now },
  );
  const buckets = (await filledBuckets(connection)).filter((bucket) => isBucketWithin(bucket, { from: now }));
  await connection.query(
    `UPDATE boxgate.session SET ended_at = ${momentAt('$5')}, ended_as = 'revoked'
      WHERE box = $1 AND user_id = $2 AND client = $3 AND bucket = ANY ($4::int[]) AND ended_at IS NULL
        AND expires_at > ${momentAt('$5')}`,
    [box, user, client, buckets, now],
  );
}
