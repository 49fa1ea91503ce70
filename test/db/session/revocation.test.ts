import { expect } from 'chai';
import { firstRevocation, pruneRevocations } from '../../../api/db/box/box-upkeep.ts';
import { boxDatabase } from '../../records/box-database.ts';
import type { BoxDatabase } from '../../records/box-database.ts';
import { storeSession } from '../../records/sample-sessions.ts';
import { costOf } from '../../records/statement-cost.ts';

const day = 86_400_000;

describe('pruneRevocations', () => {
  let database: BoxDatabase;
  const now = Date.now();

  before(async () => {
    database = await boxDatabase();
  });
  after(() => database.end());
  beforeEach(async () => {
    await database.owner.query('DELETE FROM boxgate.session');
    await database.owner.query('DELETE FROM boxgate.revocation');
  });

  function revoke(subject: string, daysAgo: number, box = 'default', version = 2): Promise<unknown> {
    return database.owner.query(
      `INSERT INTO boxgate.revocation (box, subject, version, at) VALUES ($1, $2, $3, to_timestamp($4::numeric / 1000))`,
      [box, subject, version, now - daysAgo * day],
    );
  }

  /** A session that began so long ago and ends tomorrow. */
  function store(daysAgo: number, fields: { client?: string; user?: number; box?: string }): Promise<unknown> {
    return storeSession(database.owner, { createdAt: now - daysAgo * day, expiresAt: now + day, ...fields });
  }

  function prune(limit = 1000, place = firstRevocation) {
    return database.write((connection) => pruneRevocations(connection, 'default', place, limit));
  }

  async function left(): Promise<readonly string[]> {
    const { rows } = await database.owner.query<{ subject: string }>(
      'SELECT subject FROM boxgate.revocation ORDER BY subject, version',
    );
    return rows.map(({ subject }) => subject);
  }

  const cases: readonly {
    readonly title: string;
    readonly sessions: readonly (readonly [number, { client?: string; user?: number; box?: string }])[];
    readonly kept: readonly string[];
  }[] = [
    { title: 'all when no session is stored', sessions: [], kept: [] },
    { title: 'all when every session began later', sessions: [[2, { client: 'a', user: 7 }]], kept: [] },
    {
      title: 'none of the client whose session began earlier, nor of its box',
      sessions: [[20, { client: 'a' }]],
      kept: ['box', 'box:before', 'client:a', 'client:a:before'],
    },
    {
      title: 'none of the user whose session began earlier, nor of its box',
      sessions: [[20, { client: 'other', user: 7 }]],
      kept: ['box', 'box:before', 'user:7'],
    },
    {
      title: 'those that only another box has sessions for',
      sessions: [[20, { client: 'a', box: 'other' }]],
      kept: [],
    },
  ];
  for (const { title, sessions, kept } of cases) {
    it(`deletes ${title}`, async () => {
      for (const subject of ['box', 'client:a', 'client:b', 'user:7', 'user:8']) await revoke(subject, 10);
      for (const subject of ['box:before', 'client:a:before']) await revoke(subject, 10, 'default', now - 10 * day);
      for (const [daysAgo, fields] of sessions) await store(daysAgo, fields);
      await prune();
      expect(await left()).to.deep.equal(kept);
    });
  }

  it('keeps what is not older than a day: a session may be on its way', async () => {
    await revoke('client:a', 0.9);
    await revoke('client:b', 1.1);
    await prune();
    expect(await left()).to.deep.equal(['client:a']);
  });

  it('touches no other box', async () => {
    await revoke('client:a', 10, 'other');
    expect(await prune()).to.equal(undefined);
    expect(await left()).to.deep.equal(['client:a']);
  });

  it('goes through them in batches, past those that stay', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await revoke(`client:${id}`, 10);
    await store(20, { client: 'a' });
    await store(20, { client: 'b' });
    const second = await prune(2);
    expect(second).to.deep.equal({ subject: 'client:b', version: '2' });
    expect(await left()).to.have.length(4);
    expect(await prune(2, second)).to.deep.equal({ subject: 'client:d', version: '2' });
    expect(await left()).to.deep.equal(['client:a', 'client:b']);
  });

  it('reads no more sessions of a client than one, of a box than its oldest', async () => {
    await revoke('client:a', 10);
    await store(20, { client: 'a' });
    const cost = () =>
      database.write((connection) => costOf(connection, (one) => pruneRevocations(one, 'default', firstRevocation, 9)));
    await cost();
    const few = await cost();
    await database.owner.query(`INSERT INTO boxgate.session (box, id, version, expires_at, bucket, type, client)
      SELECT s.box, uuidv7(), 1, s.expires_at, s.bucket, s.type, s.client FROM boxgate.session s, generate_series(1, 20000)`);
    const many = await cost();
    expect(many.buffers).to.be.lessThan(few.buffers * 2 + 20);
  });
});
