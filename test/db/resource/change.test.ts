import { expect } from 'chai';
import { inBoxAfter } from '../../../api/db/core/transaction.ts';
import type { Connection } from '../../../api/db/core/transaction.ts';
import { beginChange, begunChange, changeResource } from '../../../api/db/resource/change.ts';
import type { CountedResource } from '../../../api/db/resource/change.ts';
import { readResource } from '../../../api/db/resource/resource.ts';
import type { ResourceKey, StoredResource } from '../../../api/db/resource/resource.ts';
import { deleteResources } from '../../../api/db/resource/write.ts';
import type { ResourceWrite } from '../../../api/db/resource/write.ts';
import { bumpVersion } from '../../../api/db/box/box.ts';
import { boxDatabase } from '../../resources/box-database.ts';
import type { BoxDatabase } from '../../resources/box-database.ts';
import { waitForLock } from '../../support/lock-wait.ts';

const key = { kind: 'Client', id: 'a' } as const;

function client(id: string, description: string, rest: Partial<ResourceWrite> = {}): ResourceWrite {
  const body = { resourceType: 'Client', id, grant_types: ['client_credentials'], description };
  return { kind: 'Client', id, body, secrets: undefined, owner: undefined, digest: undefined, ...rest };
}

type Present = CountedResource<StoredResource | undefined> | undefined;

describe('the statements of a change of one resource', () => {
  let database: BoxDatabase;

  beforeEach(async () => {
    database = await boxDatabase();
  });
  afterEach(() => database.end());

  function begin<T>(
    of: ResourceKey,
    work: (connection: Connection, present: Present) => Promise<T>,
    box = 'default',
  ): Promise<T> {
    return inBoxAfter(database.pool, box, beginChange(of), (connection, rows) => work(connection, begunChange(rows)));
  }

  function change(write: ResourceWrite): Promise<CountedResource<StoredResource>> {
    return begin(write, (connection) => changeResource(connection, 'default', write));
  }

  it('begin with the present resource and the counts of its box', async () => {
    const { resource } = await change(client('a', 'é \'x\' \\ "y"', { secrets: ['$sha256$1'] }));
    const present = await begin(key, (connection, found) =>
      readResource(connection, 'default', key).then((read) => ({ found, read })),
    );
    expect(present.found?.resource).to.deep.equal(resource);
    expect(present.found?.resource).to.deep.equal(present.read);
    expect(present.found?.use.use).to.include({ clients: 1, policies: 0 });
  });

  it('begin without a resource where there is none, and without anything where there is no box', async () => {
    expect((await begin(key, (_, present) => Promise.resolve(present)))?.resource).to.equal(undefined);
    expect(await begin(key, (_, present) => Promise.resolve(present), 'nowhere')).to.equal(undefined);
  });

  it('take any text as an ID', async () => {
    const id = "'); DELETE FROM boxgate.resource; -- \\";
    await change(client('a', 'x'));
    expect((await begin({ kind: 'Client', id }, (_, present) => Promise.resolve(present)))?.resource).to.equal(
      undefined,
    );
    expect((await begin(key, (_, present) => Promise.resolve(present)))?.use.use.clients).to.equal(1);
  });

  it('begin after every other change of the box has ended, and see it', async () => {
    await change(client('a', 'before'));
    const [changed, released] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const first = begin(key, async (connection) => {
      await changeResource(connection, 'default', client('a', 'after'));
      changed.resolve(undefined);
      await released.promise;
    });
    await changed.promise;
    let seen: unknown;
    const second = begin(key, (_, present) => Promise.resolve((seen = present?.resource?.body['description'])));
    await waitForLock('the second change', database.owner);
    expect(seen).to.equal(undefined);
    released.resolve(undefined);
    await Promise.all([first, second]);
    expect(seen).to.equal('after');
  });

  it('return what is stored under the new version of the box, with the counts after it', async () => {
    const before = await change(client('a', 'x'));
    const after = await change(client('b', 'xyz'));
    const { rows } = await database.owner.query(
      `SELECT b.config_version::float8 AS version, v.version::float8 AS known, u.bytes::float8 AS bytes
         FROM boxgate.box b JOIN boxgate.box_version v ON v.box = b.box AND v.version = b.config_version
         JOIN boxgate.box_use u ON u.box = b.box WHERE b.box = 'default'`,
    );
    const { version } = after.resource;
    expect(version).to.be.greaterThan(before.resource.version);
    expect(rows).to.deep.equal([{ version, known: version, bytes: after.use.use.bytes }]);
    expect(after.use.use).to.include({ clients: 2, policies: 0 });
  });

  it('end refresh families that a moment in the resource revokes', async () => {
    await change(client('a', 'x'));
    await database.owner.query(
      `INSERT INTO boxgate.refresh_family (box, id, client, version, family_hash, token_hash, session, created_at,
                                           last_used_at, expires_at, ends_at, sessions_end)
       VALUES ('default', uuidv7(), 'a', 1, '\\x00', '\\x00', uuidv7(), now() - interval '1 hour', now(), now(), now(), now())`,
    );
    const write = client('a', 'x');
    const body = { ...write.body, revoke_sessions_before: new Date().toISOString() };
    await change({ ...write, body });
    const { rows } = await database.owner.query('SELECT ended_as FROM boxgate.refresh_family');
    expect(rows).to.deep.equal([{ ended_as: 'revoked' }]);
  });

  it('probe indexes in a table that was empty when their plans were made', async () => {
    await database.write(async (connection) => {
      for (let nth = 0; nth < 10; nth += 1) {
        await changeResource(connection, 'default', client('a', `as of ${String(nth)}`));
        await deleteResources(connection, 'default', await bumpVersion(connection, 'default'), [key]);
      }
      const text = `SELECT seq_scan::float8 AS scans FROM pg_stat_xact_all_tables
                     WHERE schemaname = 'boxgate' AND relname IN ('resource', 'tombstone', 'client_usage') ORDER BY relname`;
      const { rows } = await connection.query<{ scans: number }>(text);
      expect(rows.map(({ scans }) => scans)).to.deep.equal([0, 0, 0]);
    });
  });
});
