import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { readFilledDays, upkeepAuditDays } from '../../api/db/audit/audit-days.ts';
import { readAuditEvent } from '../../api/db/audit/audit-event.ts';
import { createRecordReads } from '../../api/db/record-reads.ts';
import type { RecordReads } from '../../api/db/record-reads.ts';
import { readResource } from '../../api/db/resource/resource.ts';
import { bucketOf } from '../../api/db/session/bucket.ts';
import { uuidV7Time } from '../../api/db/core/uuid-v7.ts';
import { readSession } from '../../api/db/session/session.ts';
import { inBox } from '../../api/db/core/transaction.ts';
import { readGrant } from '../../api/db/user/grant.ts';
import { readGroup } from '../../api/db/user/group.ts';
import { readUser } from '../../api/db/user/user.ts';
import { boxDatabase } from '../resources/box-database.ts';
import type { BoxDatabase } from '../resources/box-database.ts';

/** Records of each kind in each box: more than one statement reads. */
const COUNT = 150;

/** Text that Postgres cannot compress; twice as much of it does not fit into a row. */
const random = randomBytes(900).toString('base64url');

/** The first part of a UUIDv7 of a time. */
function idOfTime(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-`;
}

describe('records that are read together', () => {
  let database: BoxDatabase;
  let records: RecordReads;

  before(async () => {
    database = await boxDatabase();
    records = createRecordReads(database.pool);
    await database.owner.query(
      `INSERT INTO boxgate.resource (box, kind, id, version, body, secrets, owner_cluster, owner_name, owner_uid)
       SELECT b.box, k.kind, 'r-' || n, n, jsonb_build_object('description', b.box || ' ' || k.kind || ' ' || n),
              CASE n % 2 WHEN 0 THEN '{}' ELSE '{secret}'::text[] END,
              CASE n % 3 WHEN 0 THEN 'cluster' END, CASE n % 3 WHEN 0 THEN 'shop/r' END, CASE n % 6 WHEN 0 THEN 'uid' END
         FROM boxgate.box b, (VALUES ('Client'), ('AccessPolicy')) k (kind), generate_series(1, $1::integer) n`,
      [COUNT],
    );
    await database.owner.query(
      `INSERT INTO boxgate.resource (box, kind, id, version, body) VALUES
         ('default', 'Client', 'just-fits', 1, jsonb_build_object('description', $1::text)),
         ('default', 'Client', 'too-large', 1, jsonb_build_object('description', $1::text || $1::text)),
         ('default', 'Client', 'compressed', 1, jsonb_build_object('description', repeat('é', 100000)))`,
      [random],
    );
    await database.owner.query(
      `INSERT INTO boxgate.user (box, id, email, email_key, email_verified, password, pepper, data, status)
       SELECT b.box, n, e, e, CASE n % 3 WHEN 0 THEN true WHEN 1 THEN false END, 'hash of ' || e, 'pepper',
              CASE n WHEN 7 THEN $2::text WHEN 8 THEN $2::text || $2::text WHEN 9 THEN repeat('é', 100000) ELSE '{"n":' || n || '}' END,
              CASE n % 2 WHEN 0 THEN 'inactive' END
         FROM boxgate.box b, generate_series(1, $1::integer) n, LATERAL (SELECT n || '@' || b.box || '.example') t (e)`,
      [COUNT, random],
    );
    await database.owner.query(`
      INSERT INTO boxgate.group (box, id, name, version) SELECT box, 1, 'of ' || box, 1 FROM boxgate.box;
      INSERT INTO boxgate.group_member (box, user_id, group_id)
      SELECT box, id, 1 FROM boxgate.user WHERE id % 5 = 0`);
  });
  after(() => database.end());

  const ids = Array.from({ length: COUNT + 1 }, (_, nth) => nth);

  it('are the records that a transaction of the box reads, each at the request for it', async () => {
    const keys = (['Client', 'AccessPolicy'] as const).flatMap((kind) =>
      [...ids.map((nth) => `r-${String(nth)}`), 'r-"{\\', 'NULL'].map((id) => ({ kind, id })),
    );
    const expected = await database.read(async (connection) => {
      const rows = [];
      for (const key of keys) rows.push(await readResource(connection, 'default', key));
      return rows;
    });
    expect(await Promise.all(keys.map((key) => records.resource({ ...key, box: 'default' })))).to.deep.equal(expected);
    expect(expected.filter((row) => row === undefined)).to.have.length(6);
    const people = await database.read(async (connection) => {
      const rows = [];
      for (const id of ids) rows.push(await readUser(connection, 'default', id));
      return rows;
    });
    expect(await Promise.all(ids.map((id) => records.user({ box: 'default', id })))).to.deep.equal(people);
    expect(people.filter((user) => user === undefined)).to.have.length(1);
    expect(people[5]?.groups.map(({ name }) => name)).to.deep.equal(['of default']);
  });

  it('are of their own box, whatever boxes share a statement', async () => {
    const boxes = ['default', 'other', 'none'];
    const [found, users] = await Promise.all([
      Promise.all(boxes.map((box) => records.resource({ box, kind: 'Client', id: 'r-1' }))),
      Promise.all(boxes.map((box) => records.user({ box, id: 1 }))),
    ]);
    expect(found.map((row) => row?.body)).to.deep.equal([
      { description: 'default Client 1' },
      { description: 'other Client 1' },
      undefined,
    ]);
    expect(users.map((user) => user?.email)).to.deep.equal(['1@default.example', '1@other.example', undefined]);
  });

  it('are the sessions that a transaction of the box reads, in every status and bucket', async () => {
    const now = Date.now();
    const today = Math.floor(now / 86_400_000);
    await database.owner.query(
      `INSERT INTO boxgate.session (id, version, expires_at, bucket, type, box, client, scope, audience, remote_addr,
                                    user_agent, ended_at, ended_as)
       SELECT ($2 || lpad(n::text, 12, '0'))::uuid, 1, to_timestamp(day * 86400 + 60), day, 'c', b.box, 'of-' || b.box, 'read', '{a,b}',
              '192.0.2.1', 'agent', CASE n % 4 WHEN 3 THEN now() END, CASE n % 4 WHEN 3 THEN 'closed' END
         FROM boxgate.box b, generate_series(1, 40) n,
              LATERAL (SELECT $1::integer + (ARRAY[0, 1, 30, 17])[n % 4 + 1]) d (day)`,
      [today, idOfTime(now)],
    );
    await database.owner.query(
      `INSERT INTO boxgate.revocation (box, subject, version, at) VALUES ('other', 'client:of-other', 2, now())`,
    );
    for (const box of ['default', 'other']) {
      const keys = Array.from({ length: 42 }, (_, nth) => idOfTime(now) + String(nth).padStart(12, '0'));
      const expected = await inBox(database.pool, box, 'snapshot', async (connection) => {
        const rows = [];
        for (const id of keys) rows.push(await readSession(connection, box, { id }, now));
        return rows;
      });
      expect(await Promise.all(keys.map((id) => records.session({ box, id, now })))).to.deep.equal(expected);
      expect(expected.filter((row) => row === undefined)).to.have.length(2);
      expect(new Set(expected.map((row) => row?.client))).to.deep.equal(new Set([undefined, `of-${box}`]));
    }
  });

  it('are no sessions that were discarded with the data of their box', async () => {
    const now = Date.now();
    const id = `${idOfTime(now)}0000000000ff`;
    await database.owner.query(
      `INSERT INTO boxgate.session (id, version, expires_at, bucket, type, box, client)
       SELECT $1, 4, to_timestamp(day * 86400 + 60), day, 'c', box, 'a' FROM boxgate.box, (VALUES ($2::integer)) d (day)`,
      [id, bucketOf(uuidV7Time(id) / 1_000, uuidV7Time(id) / 1_000 + 86_400)],
    );
    await database.owner.query(`UPDATE boxgate.box SET records_from = 5 WHERE box = 'other'`);
    const found = await Promise.all(['default', 'other'].map((box) => records.session({ box, id, now })));
    expect(found.map((session) => session?.id)).to.deep.equal([id, undefined]);
  });

  it('are the sessions of a few and of many keys alike', async () => {
    const now = Date.now();
    const ids = Array.from({ length: 42 }, (_, nth) => idOfTime(now + 5) + String(nth).padStart(12, '0'));
    await database.owner.query(
      `INSERT INTO boxgate.session (id, version, expires_at, bucket, type, box, client, ended_at, ended_as)
       SELECT ($2 || lpad(n::text, 12, '0'))::uuid, 5 + n % 2, to_timestamp(day * 86400 + 60), day, 'c', 'other', 'sought',
              CASE n % 5 WHEN 3 THEN now() END, CASE n % 5 WHEN 3 THEN 'closed' END
         FROM generate_series(1, 40) n, LATERAL (SELECT $1::integer + (ARRAY[0, 1, 30])[n % 3 + 1]) d (day)`,
      [Math.floor(now / 86_400_000), idOfTime(now + 5)],
    );
    await database.owner.query(
      `INSERT INTO boxgate.revocation (box, subject, version, at) VALUES ('other', 'client:sought', 6, now())`,
    );
    const together = await Promise.all(ids.map((id) => records.session({ box: 'other', id, now })));
    for (const [nth, id] of ids.entries()) {
      expect(await records.session({ box: 'other', id, now }), id).to.deep.equal(together[nth]);
    }
    const statuses = together.map((session) => session?.status);
    expect(statuses).to.include.members([undefined, 'revoked', 'active', 'closed']);
  });

  it('are the groups that a transaction of the box reads, also with more members than are counted together', async () => {
    await database.owner.query(`
      INSERT INTO boxgate.group (box, id, name, description, version, owner_cluster, owner_name)
      SELECT box, n, box || n, box, n, CASE n % 2 WHEN 0 THEN 'cluster' END, CASE n % 2 WHEN 0 THEN 'shop/g' END
        FROM boxgate.box, generate_series(2, 40) n;
      INSERT INTO boxgate.user (box, id, email, email_key, password, pepper)
      SELECT 'other', n, n, n, '', '' FROM generate_series(1001, 3001) n;
      INSERT INTO boxgate.group_member (box, user_id, group_id)
      SELECT box, id, 2 FROM boxgate.user WHERE id > 1000;
      INSERT INTO boxgate.group_member (box, user_id, group_id)
      SELECT box, id, 3 FROM boxgate.user WHERE id > 1001`);
    const expected = await inBox(database.pool, 'other', 'snapshot', async (connection) => {
      const rows = [];
      for (let id = 1; id <= 41; id += 1) rows.push(await readGroup(connection, 'other', id));
      return rows;
    });
    const ids = expected.map((_, nth) => nth + 1);
    expect(await Promise.all(ids.map((id) => records.group({ box: 'other', id })))).to.deep.equal(expected);
    expect(expected.slice(1, 4).map((group) => group?.members)).to.deep.equal([2_001, 2_000, 0]);
    expect(expected[40]).to.equal(undefined);
    const { rows } = await database.owner.query(`SELECT members FROM boxgate.read_groups('{other,other}', '{2,3}')`);
    expect(rows).to.deep.equal([{ members: null }, { members: '2000' }]);
    expect((await records.group({ box: 'default', id: 4 }))?.name).to.equal('default4');
  });

  it('are the valid grants that a transaction of the box reads, also to built-in clients and with many targets', async () => {
    await database.owner.query(`
      UPDATE boxgate.resource SET sessions_from = 5 WHERE box = 'default' AND kind = 'Client' AND id = 'r-3';
      INSERT INTO boxgate.consent (box, user_id, client, scopes, version, created_at)
      SELECT b.box, u, c.client, ARRAY[b.box, 'read'], 4, now()
        FROM boxgate.box b, generate_series(1, 3) u, (VALUES ('r-1'), ('r-2'), ('r-3'), ('boxctl'), ('gone')) c (client);
      INSERT INTO boxgate.consent_target (box, user_id, client, target, redirect_uri, audience, scopes, version, created_at)
      SELECT box, 1, 'r-1', decode(lpad(n::text, 4, '0'), 'hex'), 'https://app.example/' || n, CASE n WHEN 1 THEN 'api' END, '{read}', 4, now()
        FROM boxgate.box, generate_series(1, 3) n;
      INSERT INTO boxgate.consent_target (box, user_id, client, target, redirect_uri, scopes, version, created_at)
      SELECT 'default', 1, 'r-2', decode(lpad(n::text, 4, '0'), 'hex'), 'https://app.example/' || n, '{read}', 4, now()
        FROM generate_series(1, 60) n`);
    for (const box of ['default', 'other']) {
      const keys = [1, 2, 4].flatMap((user) =>
        ['r-1', 'r-2', 'r-3', 'boxctl', 'gone', '"{\\'].map((client) => ({ user, client })),
      );
      const expected = await inBox(database.pool, box, 'snapshot', async (connection) => {
        const rows = [];
        for (const key of keys) rows.push(await readGrant(connection, box, key));
        return rows;
      });
      expect(await Promise.all(keys.map((key) => records.grant({ box, ...key })))).to.deep.equal(expected);
      const [one, many, again] = expected;
      expect([one?.targets.length, many?.targets.length]).to.deep.equal([3, box === 'default' ? 60 : 0]);
      expect([one?.scopes[0], again === undefined]).to.deep.equal([box, box === 'default']);
    }
    const { rows } = await database.owner.query<{ nth: string }>(
      `SELECT nth FROM boxgate.read_grants('{default,default,default}', '{1,1,1}', '{r-1,r-2,r-3}')`,
    );
    expect(rows).to.deep.equal([{ nth: '1' }]);
  });

  it('are the records of the audit trail that a transaction of the box reads, on whatever day they expire', async () => {
    const now = Date.now();
    const today = Math.floor(now / 86_400_000);
    const changed = Array.from({ length: 60 }, () => random.slice(0, 60));
    await upkeepAuditDays(database.owner);
    await database.owner.query(
      `INSERT INTO boxgate.audit_event (id, version, created_at, day, count, box, event, result, client, target, changed)
       SELECT ($2 || lpad(n::text, 12, '0'))::uuid, CASE n WHEN 7 THEN 1 ELSE 4 END, now(), $1::integer + CASE n WHEN 8 THEN 91 ELSE 90 END,
              n, b.box, 'client.changed', 'success', 'of-' || b.box, 'Client/a', CASE n WHEN 9 THEN $3::text[] END
         FROM boxgate.box b, generate_series(1, 20) n`,
      [today, idOfTime(now), changed],
    );
    await database.owner.query('UPDATE boxgate.box SET records_from = 2');
    for (const box of ['default', 'other']) {
      const ids = Array.from({ length: 22 }, (_, nth) => idOfTime(now) + String(nth).padStart(12, '0'));
      const expected = await inBox(database.pool, box, 'snapshot', async (connection) => {
        const days = await readFilledDays(connection);
        const rows = [];
        for (const id of ids) rows.push(await readAuditEvent(connection, box, id, days));
        return rows;
      });
      expect(await Promise.all(ids.map((id) => records.auditEvent({ box, id })))).to.deep.equal(expected);
      const shown = [6, 7, 8, 9].map((nth) => expected[nth]?.client);
      expect(shown).to.deep.equal([`of-${box}`, undefined, `of-${box}`, `of-${box}`]);
      expect(expected[9]?.changed).to.deep.equal(changed);
    }
    const { rows } = await database.owner.query<{ count: number }>(
      `SELECT count FROM boxgate.read_audit_events($1, $2) ORDER BY count`,
      [[6, 7, 8, 9].map(() => 'default'), [6, 7, 8, 9].map((nth) => idOfTime(now) + String(nth).padStart(12, '0'))],
    );
    expect(rows).to.deep.equal([{ count: 6 }]);
  });

  it('R-53: are whole, although a statement that is shared leaves out what is large', async () => {
    const ids = ['just-fits', 'too-large', 'compressed'];
    const { rows } = await database.owner.query<{ body: string | null }>(
      `SELECT body FROM boxgate.read_resources('{default,default,default}', '{Client,Client,Client}', $1) ORDER BY nth`,
      [ids],
    );
    expect(rows.map(({ body }) => body?.length)).to.deep.equal([random.length + 19, undefined, undefined]);
    const found = await Promise.all(ids.map((id) => records.resource({ box: 'default', kind: 'Client', id })));
    const lengths = [random.length, 2 * random.length, 100_000];
    expect(found.map((row) => String(row?.body['description']).length)).to.deep.equal(lengths);
    const users = await database.owner.query<{ data: string | null }>(
      `SELECT data FROM boxgate.read_users('{default,default,default}', '{7,8,9}') ORDER BY nth`,
    );
    expect(users.rows.map(({ data }) => data?.length)).to.deep.equal([random.length, undefined, undefined]);
    const people = await Promise.all([7, 8, 9].map((id) => records.user({ box: 'default', id })));
    expect(people.map((user) => user?.data?.length)).to.deep.equal(lengths);
  });

  it('are as the last change before the request left them', async () => {
    for (let version = 1_000; version < 1_020; version += 1) {
      await database.owner.query(
        `UPDATE boxgate.resource SET version = $1 WHERE box = 'default' AND kind = 'Client' AND id = 'r-2'`,
        [version],
      );
      const [one, other] = await Promise.all(
        [0, 1].map(() => records.resource({ box: 'default', kind: 'Client', id: 'r-2' })),
      );
      expect([one?.version, other?.version]).to.deep.equal([version, version]);
    }
  });
});
