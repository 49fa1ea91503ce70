import { expect } from 'chai';
import { randomBytes, randomUUID } from 'node:crypto';
import { targetKey } from '../../../api/db/authorization/consent.ts';
import { bucketOf } from '../../../api/db/session/bucket.ts';
import { batchedStatements } from '../../../api/db/batched-statements.ts';
import type { BatchedStatements } from '../../../api/db/batched-statements.ts';
import { batchBounds } from '../../../api/db/core/batch-bounds.ts';
import type { FoundCode, NewCode, Redemption } from '../../../api/db/authorization/code-statements.ts';
import { boxDatabase } from '../../resources/box-database.ts';
import type { BoxDatabase } from '../../resources/box-database.ts';
import { eventually } from '../../support/eventually.ts';

/** Current time, in milliseconds. */
export const now = Math.floor(Date.now() / 1000) * 1000;
/** Redirect URI and audience that the consents are for. */
export const back = { redirectUri: 'https://app.example/back', audience: null };
/** Key of that target. */
export const target = targetKey(back);
/** Hashes of the browsers of the two users. */
export const [browser, other] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];

/** Users 1 and 2 of two boxes, each signed in, and what the first lets a client have; the second agrees to all. */
const arranged = `
  TRUNCATE boxgate.user CASCADE;
  INSERT INTO boxgate.user (box, id, email, email_key, password, pepper)
  SELECT b, i, i, i, '', '' FROM unnest('{default,other}'::text[]) b, generate_series(1, 2) i;
  INSERT INTO boxgate.sign_in (box, browser, user_id, version, created_at, expires_at)
  SELECT b, decode(CASE i WHEN 1 THEN '${browser}' ELSE '${other}' END, 'hex'), i, 1, to_timestamp(${String(now / 1000 - 60)}),
         to_timestamp(${String(now / 1000 + 60)})
    FROM unnest('{default,other}'::text[]) b, generate_series(1, 2) i;
  INSERT INTO boxgate.consent (box, user_id, client, scopes, version, created_at)
  SELECT b, 1, 'app', '{read,openid}', 1, now() FROM unnest('{default,other}'::text[]) b;
  INSERT INTO boxgate.consent_target (box, user_id, client, target, redirect_uri, scopes, version, created_at)
  SELECT box, user_id, client, '\\x${target}', '${back.redirectUri}', scopes, version, created_at FROM boxgate.consent;
  UPDATE boxgate.box SET config_version = 10`;

/** Changes after which nobody is signed in any more. */
export const overForTheUser = {
  'are inactive': `UPDATE boxgate.user SET status = 'inactive' WHERE box = 'default' AND id = 1`,
  'have ended what was begun then': `UPDATE boxgate.user SET sessions_from = 11 WHERE box = 'default' AND id = 1`,
  'are gone': `DELETE FROM boxgate.user WHERE box = 'default' AND id = 1`,
};

/** A database with the users, and the statements of two replicas. */
export interface CodeDatabase extends BoxDatabase {
  /** The statements of a replica. */
  readonly hot: BatchedStatements;
  /** The statements of another replica. */
  readonly second: BatchedStatements;
}

/** Sets a database for the tests of the code statements. Before each test it has the rows that a test begins with. */
export function onCodeDatabase(take: (database: CodeDatabase) => void): void {
  let database: CodeDatabase;
  before(async () => {
    database = await codeDatabase();
    take(database);
  });
  after(() => database.end());
  beforeEach(() => database.owner.query(arranged));
}

async function codeDatabase(): Promise<CodeDatabase> {
  const database = await boxDatabase();
  return {
    ...database,
    hot: batchedStatements(database.pool, { ...batchBounds, size: 16, patience: 20_000 }),
    second: batchedStatements(database.pool, { ...batchBounds, patience: 20_000 }),
  };
}

/** Returns a code of the first user that nothing prevents from being stored. */
export function newCode(over: Partial<NewCode> = {}): NewCode {
  return {
    ...{ box: 'default', version: 10, id: randomUUID(), hash: randomBytes(32).toString('hex'), client: 'app' },
    ...{ user: 1, browser, signInVersion: 1, consentVersion: 1, target, redirectUri: null, scope: 'read openid' },
    ...{ audience: null, challenge: null, nonce: null, authenticatedAt: now - 60_000, userAgent: null },
    ...{ createdAt: now, expiresAt: now + 60_000, keptUntil: now + 86_400_000, ...over },
  };
}

/** Returns the redemption of a code, with the session that comes of it. */
export function redemption(code: Pick<NewCode, 'id' | 'hash' | 'box' | 'version'>, over: object = {}): Redemption {
  const expiresAt = now / 1000 + 3600;
  const bucket = bucketOf(now / 1000, expiresAt);
  const hash = randomBytes(32).toString('hex');
  const who = { client: 'app', user: 1, type: 'a', scope: 'read', audience: ['x"y'], userAgent: null } as const;
  const { box, version } = code;
  const id = randomBytes(16).toString('hex');
  return {
    code: { id: code.id, hash: code.hash },
    session: { box, version, id, bucket, expiresAt, hash, remoteAddr: '192.0.2.1', ...who, ...over },
    family: null,
    now,
  };
}

/** Returns the session of a redemption, as a check finds it. */
export function sessionOf(hot: BatchedStatements, { session }: Redemption) {
  const { box, bucket, id, hash } = session;
  return hot.check({ box, bucket, id, hash });
}

/** Stores a code. */
export async function stored(hot: BatchedStatements, over: Partial<NewCode> = {}): Promise<NewCode> {
  const code = newCode(over);
  expect(await hot.storeCode(code)).to.equal(true);
  return code;
}

/** Waits for a connection that waits for what another transaction of this database holds. */
export function somebodyWaits({ owner }: CodeDatabase): Promise<void> {
  return eventually('somebody waits', async () => {
    const { rowCount } = await owner.query(
      'SELECT FROM pg_locks JOIN pg_stat_activity a USING (pid) WHERE NOT granted AND a.datname = current_database()',
    );
    return rowCount === 1;
  });
}

/** Returns a code as the statements find it. */
export function foundOf(code: NewCode): FoundCode {
  const {
    box: _,
    browser: _browser,
    keptUntil: _until,
    signInVersion: _v,
    consentVersion: _c,
    target: _t,
    ...rest
  } = code;
  return { ...rest, used: false, userGone: false, person: null };
}
