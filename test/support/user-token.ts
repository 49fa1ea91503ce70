import pg from 'pg';
import { makeAccessToken } from '../../api/credentials/token-text.ts';
import { uuidText } from '../../program/text.ts';
import {
  familyHash,
  firstRefreshToken,
  refreshTokenText,
  tokenHash,
} from '../../api/credentials/refresh-token-text.ts';
import { bucketOf } from '../../api/db/session/bucket.ts';
import { BOXGATE_SCOPE } from '../../api/box/scopes.ts';
import { insertFamily } from '../../api/db/session/refresh-family.ts';
import { insertSession } from '../../api/db/session/session.ts';

/** A user's tokens, as a sign-in through a client gives them. */
export interface UserTokens {
  readonly access: string;
  readonly refresh: string;
}

const hour = 3_600_000;

/**
 * Stores a session and a refresh family of a user, decided under the box's present version, as a sign-in without a
 * requested scope does: with the default scope, the user's rights.
 */
export async function userTokens(ownerUrl: string, box: string, client: string, user: number): Promise<UserTokens> {
  const now = Date.now();
  const seconds = Math.floor(now / 1000);
  const { text, id, hash } = makeAccessToken(bucketOf(seconds, seconds + 3600), now);
  const refresh = firstRefreshToken(id);
  const family = uuidText(id);
  const pool = new pg.Pool({ connectionString: ownerUrl, max: 1 });
  const connection = await pool.connect();
  try {
    const { rows } = await connection.query<{ version: string }>(
      'SELECT config_version AS version FROM boxgate.box WHERE box = $1',
      [box],
    );
    const version = Number(rows[0]?.version);
    const common = { box, version, client, user, grant: 'a', scope: BOXGATE_SCOPE, audience: null } as const;
    await insertFamily(connection, {
      ...common,
      id: family,
      authenticatedAt: now,
      familyHash: familyHash(refresh),
      tokenHash: tokenHash(refresh),
      session: family,
      createdAt: now,
      expiresAt: now + hour,
      endsAt: now + hour,
      sessionsEnd: now + hour,
    });
    const bucket = bucketOf(seconds, seconds + 3600);
    const session = { ...common, id, bucket, expiresAt: seconds + 3600, type: 'a', hash, remoteAddr: null } as const;
    await insertSession(connection, { ...session, userAgent: null }, family, null);
  } finally {
    connection.release();
    await pool.end();
  }
  return { access: text, refresh: refreshTokenText(refresh) };
}
