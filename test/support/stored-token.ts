import type pg from 'pg';
import { makeAccessToken } from '../../api/credentials/token-text.ts';
import { uuidText } from '../../program/text.ts';
import { bucketOf } from '../../api/db/session/bucket.ts';
import { insertSession } from '../../api/db/session/session.ts';

/** A token to store: whose it is, and what it was granted. */
export interface TokenToStore {
  readonly box: string;
  readonly client: string;
  readonly user: number | undefined;
  readonly scope: string | null;
  readonly audience: readonly string[] | null;
}

/**
 * Stores the session of an opaque token for an hour, decided under the present version of the box; the token and the
 * session's ID.
 */
export async function storeToken(
  pool: pg.Pool,
  { box, client, user, scope, audience }: TokenToStore,
): Promise<{ readonly token: string; readonly session: string }> {
  const now = Date.now();
  const seconds = Math.floor(now / 1000);
  const bucket = bucketOf(seconds, seconds + 3600);
  const { text, id, hash } = makeAccessToken(bucket, now);
  const connection = await pool.connect();
  try {
    const { rows } = await connection.query<{ version: string }>(
      'SELECT config_version AS version FROM boxgate.box WHERE box = $1',
      [box],
    );
    const version = Number(rows[0]?.version);
    const granted = { client, user: user ?? null, scope, audience, type: user === undefined ? 'c' : 'a' } as const;
    const where = { remoteAddr: '127.0.0.1', userAgent: null };
    await insertSession(
      connection,
      { box, version, id, bucket, hash, expiresAt: seconds + 3600, ...granted, ...where },
      null,
      null,
    );
  } finally {
    connection.release();
  }
  return { token: text, session: uuidText(id) };
}
