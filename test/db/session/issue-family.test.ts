import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { batchedStatements } from '../../../api/db/hot/index.ts';
import type { BatchedStatements } from '../../../api/db/hot/index.ts';
import { batchBounds } from '../../../api/db/hot/statement-batches.ts';
import { inBox } from '../../../api/db/core/transaction.ts';
import { bucketOf } from '../../../api/db/session/bucket.ts';
import type { FirstOfFamily } from '../../../api/db/hot/issue.ts';
import { insertFamily } from '../../../api/db/session/refresh-family.ts';
import { insertSession } from '../../../api/db/session/session.ts';
import { boxDatabase } from '../../records/box-database.ts';
import type { BoxDatabase } from '../../records/box-database.ts';
import { digest, sampleFamily } from './sample-family.ts';

const hour = 3_600_000;

describe('the shared statement that stores a refresh family with its first session', () => {
  let database: BoxDatabase;
  let hot: BatchedStatements;
  const now = Date.now();

  before(async () => {
    database = await boxDatabase();
    hot = batchedStatements(database.pool, { ...batchBounds, patience: 20_000 });
  });
  after(() => database.end());

  function first(version: number, over: { readonly box?: string; readonly bucket?: number } = {}): FirstOfFamily {
    const { box = 'default' } = over;
    const expiresAt = Math.floor(now / 1000) + 600;
    const bucket = over.bucket ?? bucketOf(Math.floor(now / 1000), expiresAt);
    const same = { box, version, client: 'a', scope: 'x "y"', audience: ['one', '"two" {3}'], user: null };
    const id = randomUUID();
    return {
      session: {
        ...same,
        id,
        bucket,
        expiresAt,
        type: 'c',
        hash: digest(),
        remoteAddr: '2001:db8::7',
        userAgent: null,
      },
      family: {
        ...sampleFamily(now, { session: id, endsAt: now + 2 * hour, sessionsEnd: expiresAt * 1000 }),
        ...same,
        authenticatedAt: null,
      },
    };
  }

  /** The rows of a family and of its sessions, without what distinguishes two of them. */
  async function rowsOf({ family }: FirstOfFamily): Promise<readonly object[]> {
    const { rows } = await database.owner.query<{ family: object; session: object }>(
      `SELECT to_jsonb(f) - '{id,session,family_hash,token_hash}'::text[] AS family,
              to_jsonb(s) - '{id,family,token_hash}'::text[] AS session, f.session = s.id AS "isNewest",
              encode(f.family_hash, 'hex') AS "familyHash", encode(f.token_hash, 'hex') AS "tokenHash"
         FROM boxgate.refresh_family f JOIN boxgate.session s ON s.box = f.box AND s.family = f.id
        WHERE f.id = $1`,
      [family.id],
    );
    return rows;
  }

  it('stores the rows that a transaction stores', async () => {
    const version = await database.versionOf('default');
    const [together, alone] = [first(version), first(version)];
    expect(await hot.issueFamily(together)).to.deep.equal({ version, value: null });
    await inBox(database.pool, 'default', 'write', async (connection) => {
      await insertFamily(connection, alone.family);
      await insertSession(connection, alone.session, alone.family.id, null);
    });
    const [stored, expected] = [await rowsOf(together), await rowsOf(alone)];
    const { familyHash, tokenHash } = together.family;
    expect(stored).to.deep.equal([{ ...expected[0], familyHash, tokenHash }]);
    expect(stored[0]).to.include({ isNewest: true });
  });

  it('stores nothing of a decision under another version, and tells the version of each box', async () => {
    const [version, other] = [await database.versionOf('default'), await database.versionOf('other')];
    const items = [
      first(version),
      first(version - 1),
      first(version + 1),
      first(other, { box: 'other' }),
      first(1, { box: 'no-such-box' }),
    ];
    const told = await Promise.all(items.map((item) => hot.issueFamily(item)));
    expect(told.map((answer) => answer.version)).to.deep.equal([version, version, version, other, undefined]);
    const counts = await Promise.all(items.map(async (item) => (await rowsOf(item)).length));
    expect(counts).to.deep.equal([1, 0, 0, 1, 0]);
    const families = await database.owner.query('SELECT FROM boxgate.refresh_family WHERE id = ANY ($1::uuid[])', [
      items.map(({ family }) => family.id),
    ]);
    expect(families.rowCount).to.equal(2);
  });

  it('stores a family and its session together or not at all, and those next to it all the same', async () => {
    const version = await database.versionOf('default');
    const items = Array.from({ length: 9 }, (_, nth) => first(version, nth === 4 ? { bucket: 3 } : {}));
    const outcomes = await Promise.allSettled(items.map((item) => hot.issueFamily(item)));
    expect(outcomes.map(({ status }) => status === 'fulfilled')).to.deep.equal(items.map((_, nth) => nth !== 4));
    const counts = await Promise.all(items.map(async (item) => (await rowsOf(item)).length));
    expect(counts).to.deep.equal(items.map((_, nth) => (nth === 4 ? 0 : 1)));
    const bad = await database.owner.query('SELECT FROM boxgate.refresh_family WHERE id = $1', [items[4]?.family.id]);
    expect(bad.rowCount).to.equal(0);
  });
});
