import { expect } from 'chai';
import { createRecordReads } from '../../api/db/record-reads.ts';
import type { RecordReads } from '../../api/db/record-reads.ts';
import { readResource } from '../../api/db/resource/resource.ts';
import { readUser } from '../../api/db/user/user.ts';
import { boxDatabase } from '../resources/box-database.ts';
import type { BoxDatabase } from '../resources/box-database.ts';

/** Records of each kind in each box: more than one statement reads. */
const COUNT = 150;

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
         ('default', 'Client', 'just-fits', 1, jsonb_build_object('description', repeat('é', 65536 - 19))),
         ('default', 'Client', 'too-large', 1, jsonb_build_object('description', repeat('é', 65536 - 18)))`,
    );
    await database.owner.query(
      `INSERT INTO boxgate.user (box, id, email, email_key, email_verified, password, pepper, data, status)
       SELECT b.box, n, e, e, CASE n % 3 WHEN 0 THEN true WHEN 1 THEN false END, 'hash of ' || e, 'pepper',
              CASE n WHEN 7 THEN repeat('é', 65536) WHEN 8 THEN repeat('é', 65537) ELSE '{"n":' || n || '}' END,
              CASE n % 2 WHEN 0 THEN 'inactive' END
         FROM boxgate.box b, generate_series(1, $1::integer) n, LATERAL (SELECT n || '@' || b.box || '.example') t (e)`,
      [COUNT],
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

  it('R-53: are whole, although a statement that is shared leaves out what is large', async () => {
    const { rows } = await database.owner.query<{ body: string | null }>(
      `SELECT body FROM boxgate.read_resources('{default,default}', '{Client,Client}', '{just-fits,too-large}') ORDER BY nth`,
    );
    expect(rows.map(({ body }) => body?.length)).to.deep.equal([65_536, undefined]);
    const large = await records.resource({ box: 'default', kind: 'Client', id: 'too-large' });
    expect(large?.body['description']).to.have.length(65_536 - 18);
    const users = await database.owner.query<{ data: string | null }>(
      `SELECT data FROM boxgate.read_users('{default,default}', '{7,8}') ORDER BY nth`,
    );
    expect(users.rows.map(({ data }) => data?.length)).to.deep.equal([65_536, undefined]);
    expect((await records.user({ box: 'default', id: 8 }))?.data).to.have.length(65_537);
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
