import type pg from 'pg';
import { makeSessionId } from '../../api/credentials/token-text.ts';
import { bucketOf } from '../../api/db/session/bucket.ts';
import { uuidText } from '../../program/text.ts';

/** A session as a test wants it; times in milliseconds since 1970. */
export interface SampleSession {
  readonly id?: string;
  readonly box?: string;
  readonly version?: number;
  readonly createdAt?: number;
  readonly expiresAt?: number;
  readonly type?: string;
  readonly client?: string;
  readonly user?: number;
  readonly family?: string;
  readonly endedAt?: number;
  readonly endedAs?: string;
  readonly scope?: string;
  readonly audience?: readonly string[];
  readonly parent?: string;
  readonly remoteAddr?: string;
  readonly userAgent?: string;
}

/** A UUIDv7 of a time, as that of a session in a bucket. */
export function uuidAt(time: number, bucket = bucketOf(time / 1000, time / 1000 + 3600)): string {
  return uuidText(makeSessionId(bucket, time));
}

/** Stores a session; returns its id. */
export async function storeSession(owner: pg.Pool, sample: SampleSession): Promise<string> {
  const createdAt = sample.createdAt ?? Date.now();
  const expiresAt = sample.expiresAt ?? Date.now() + 3_600_000;
  const bucket = bucketOf(Math.floor(createdAt / 1000), Math.floor(expiresAt / 1000));
  const id = sample.id ?? uuidAt(createdAt, bucket);
  await ensureBucket(owner, bucket);
  await owner.query(
    `INSERT INTO boxgate.session (box, id, version, expires_at, bucket, type, client, user_id, family, ended_at,
                                  ended_as, scope, audience, parent, remote_addr, user_agent, token_hash)
     VALUES ($1, $2, $3, to_timestamp($4::numeric / 1000.0), $5, $6, $7, $8, $9,
             to_timestamp($10::numeric / 1000.0), $11, $12, $13, $14, $15, $16, sha256('x'))`,
    [
      sample.box ?? 'default',
      id,
      sample.version ?? 1,
      expiresAt,
      bucket,
      sample.type ?? 'c',
      sample.client ?? 'a',
      sample.user,
      sample.family,
      sample.endedAt,
      sample.endedAs,
      sample.scope,
      sample.audience,
      sample.parent,
      sample.remoteAddr,
      sample.userAgent,
    ],
  );
  return id;
}

/** A bucket that is over already cannot be made by the service's own function, whose lock this takes. */
async function ensureBucket(owner: pg.Pool, bucket: number): Promise<void> {
  const [table, end] = [`boxgate.session_${String(bucket)}`, String(bucket + 1)];
  await owner.query(
    `DO $$
     BEGIN
       INSERT INTO boxgate.bucket VALUES (${String(bucket)}) ON CONFLICT DO NOTHING;
       IF FOUND THEN
         CREATE TABLE ${table} PARTITION OF boxgate.session FOR VALUES FROM (${String(bucket)}) TO (${end});
       END IF;
     END
     $$`,
  );
}

/** Stores a refresh family; returns its id. */
export async function storeFamily(owner: pg.Pool, client = 'a'): Promise<string> {
  const id = uuidAt(Date.now());
  await owner.query(
    `INSERT INTO boxgate.refresh_family (box, id, client, version, family_hash, token_hash, session, created_at,
                                         last_used_at, expires_at, ends_at, sessions_end, grant_type)
     VALUES ('default', $1, $2, 1, sha256('f'), sha256('t'), $1, now(), now(), now() + interval '1 hour',
             now() + interval '1 day', now() + interval '1 hour', 'c')`,
    [id, client],
  );
  return id;
}
