import { expect } from 'chai';
import { readUsage } from '../../../api/db/session/client-usage.ts';
import type { UsedClient } from '../../../api/db/session/client-usage.ts';
import { boxDatabase } from '../../records/box-database.ts';
import type { BoxDatabase } from '../../records/box-database.ts';
import { storeSession } from '../../records/sample-sessions.ts';
import { costOf } from '../../records/statement-cost.ts';

const hour = 3_600_000;
const day = 24 * hour;
const most = 1_000;

describe('readUsage', () => {
  let database: BoxDatabase;
  // Early on a day, so that what ended an hour ago is in the bucket of today.
  const now = Math.floor(Date.now() / day) * day + 6 * hour;

  before(async () => {
    database = await boxDatabase();
  });
  after(() => database.end());
  beforeEach(async () => {
    await database.owner.query('DELETE FROM boxgate.session');
    await database.owner.query('DELETE FROM boxgate.resource');
  });

  const span = { box: 'default', cluster: 'k', after: '', clients: 10, sessions: most, allSessions: 2_500 };

  function declare(...ids: readonly string[]): Promise<unknown> {
    return database.owner.query(
      `INSERT INTO boxgate.resource (box, kind, id, version, body, owner_cluster, owner_name)
       SELECT 'default', 'Client', id, 1, '{}', 'k', 'default/' || id FROM unnest($1::text[]) AS id`,
      [ids],
    );
  }

  /** Sessions of a client, a second apart, the last one issued a second before `until`; of one lifetime. */
  function store(client: string, count: number, lifetime: number, until = now, version = 1): Promise<unknown> {
    return database.owner.query(
      `INSERT INTO boxgate.session (box, id, version, expires_at, bucket, type, client)
       SELECT 'default', (lpad(to_hex($4::bigint - n * 1000), 12, '0') || '7000' || '8' || substr(md5($1::text || n || $3::bigint), 1, 15))::uuid,
              $5, to_timestamp(ends), ends / 86400, 'c', $1::text
         FROM generate_series($2::bigint, 1, -1) AS n, LATERAL (SELECT ($4::bigint - n * 1000 + $3::bigint) / 1000) AS e (ends)`,
      [client, count, lifetime, until, version],
    );
  }

  function read(over: Partial<typeof span> = {}): ReturnType<typeof readUsage> {
    return database.read((connection) => readUsage(connection, { ...span, ...over }, now));
  }

  async function used(over: Partial<typeof span> = {}): Promise<readonly UsedClient[]> {
    return (await read(over)).clients;
  }

  async function counted(): Promise<Readonly<Record<string, number>>> {
    return Object.fromEntries((await used()).map(({ id, sessions }) => [id, sessions]));
  }

  it('counts exactly, up to the most that are looked at', async () => {
    await declare('few', 'many', 'none');
    await store('few', 700, 30 * day);
    await store('many', 5_000, 30 * day);
    expect(await counted()).to.deep.equal({ few: 700, many: most, none: 0 });
  });

  it('finds the living among many that are over and wait for their bucket to be dropped', async () => {
    await declare('short');
    await store('short', 15_000, 600_000);
    expect(await counted()).to.deep.equal({ short: 599 });
  });

  it('finds those that end on either side of midnight', async () => {
    await declare('late');
    await store('late', 5_000, 18 * hour + 300_000);
    const { rows } = await database.owner.query('SELECT DISTINCT bucket FROM boxgate.session');
    expect(rows).to.have.length(2);
    expect(await counted()).to.deep.equal({ late: most });
    await database.owner.query(`UPDATE boxgate.session SET ended_at = now(), ended_as = 'closed' WHERE client = 'late'
                                  AND bucket = (SELECT min(bucket) FROM boxgate.session)`);
    expect(await counted()).to.deep.equal({ late: 300 });
  });

  it('passes over days whose sessions were revoked with their client, however many there were', async () => {
    await declare('revoked');
    for (let days = 20; days < 30; days += 1) await store('revoked', most, days * day, now - hour);
    await store('revoked', 7, hour, now, 2);
    await database.owner.query('UPDATE boxgate.resource SET sessions_from = 2');
    expect(await counted()).to.deep.equal({ revoked: 7 });
    await database.owner.query('UPDATE boxgate.resource SET sessions_from = 0, revoked_before = to_timestamp($1)', [
      (now - 60_000) / 1000,
    ]);
    expect(await counted()).to.deep.equal({ revoked: 7 });
  });

  it('counts those of a client whose sessions before 1970 are revoked: there are none', async () => {
    await declare('ancient');
    await store('ancient', 3, hour);
    await database.owner.query(`UPDATE boxgate.resource SET revoked_before = '0001-01-01T00:00:00Z'`);
    expect(await counted()).to.deep.equal({ ancient: 3 });
  });

  it('takes clients in portions, by id', async () => {
    await declare('c1', 'c2', 'c3');
    await storeSession(database.owner, { client: 'c2', expiresAt: now + hour });
    const portion = async (after: string) => {
      const { clients, next } = await read({ clients: 2, after });
      return [...clients.map(({ id, sessions }) => `${id} ${String(sessions)}`), next];
    };
    expect(await portion('')).to.deep.equal(['c1 0', 'c2 1', 'c2']);
    expect(await portion('c1')).to.deep.equal(['c2 1', 'c3 0', 'c3']);
    expect(await portion('c3')).to.deep.equal([undefined]);
  });

  it('ends a portion early where there are many sessions, with the last client that it has seen whole', async () => {
    await declare('c1', 'c2', 'c3', 'c4');
    for (const client of ['c1', 'c2', 'c3']) await store(client, most, 30 * day);
    const first = await read();
    expect([...first.clients.map(({ id }) => id), first.next]).to.deep.equal(['c1', 'c2', 'c2']);
    const second = await read({ after: 'c2' });
    expect([...second.clients.map(({ id, sessions }) => `${id} ${String(sessions)}`), second.next]).to.deep.equal([
      `c3 ${String(most)}`,
      'c4 0',
      undefined,
    ]);
  });

  it('costs the same with ten times as many sessions, also of a day that Postgres knows nothing about', async () => {
    await declare('big', 'other');
    const cost = (): ReturnType<typeof costOf> =>
      database.read((connection) => costOf(connection, (noting) => readUsage(noting, span, now)));
    await store('big', 4_000, 30 * day);
    await store('other', 4_000, 30 * day);
    const small = await cost();
    await store('big', 40_000, 30 * day, now - hour);
    await store('other', 40_000, 30 * day, now - hour);
    const unknown = await cost();
    await database.owner.query('ANALYZE boxgate.session');
    const known = await cost();
    for (const { buffers, scans } of [unknown, known]) {
      expect(buffers).to.be.at.most(small.buffers * 1.5 + 20);
      const types = scans.filter(({ table }) => table.startsWith('session')).map(({ type }) => type);
      expect(new Set(types)).to.deep.equal(new Set(['Index Scan']));
    }
  });
});
