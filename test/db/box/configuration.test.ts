import { expect } from 'chai';
import { allBoxes, bumpVersion, declaredBoxes, ensureBox, lockVersion } from '../../../api/db/box/box.ts';
import { claimHosts, batchedHosts, batchedRootBoxes } from '../../../api/db/box/box-host.ts';
import { readConfigChanges } from '../../../api/db/box/config-changes.ts';
import { claimEpoch, lockEpoch } from '../../../api/db/box/cluster-settings.ts';
import { Outage } from '../../../api/db/core/outage.ts';
import { deleteResources, lockResources } from '../../../api/db/resource/write.ts';
import { storeResources } from '../../../api/db/resource/store.ts';
import type { ResourceWrite } from '../../../api/db/resource/store.ts';
import {
  deleteKey,
  extendKey,
  insertKey,
  readSigningKeys,
  retireKey,
} from '../../../api/db/client-auth/signing-key.ts';
import { inBox, inBoxWithin, outsideBoxes } from '../../../api/db/core/transaction.ts';
import type { Connection } from '../../../api/db/core/transaction.ts';
import { boxDatabase } from '../../records/box-database.ts';
import type { BoxDatabase } from '../../records/box-database.ts';
import { backUp } from '../../support/backup.ts';
import { eventually } from '../../support/eventually.ts';

const time = Date.UTC(2026, 4, 5, 6, 7, 8, 9);

function client(id: string, cluster?: string, body: object = {}): ResourceWrite {
  return {
    kind: 'Client',
    id,
    body: { resourceType: 'Client', id, grant_types: ['client_credentials'], ...body },
    secrets: [`$sha256$${id}`],
    owner: cluster === undefined ? undefined : { cluster, name: `default/${id}`, uid: id },
    digest: undefined,
  };
}

function box(id: string, body: object): ResourceWrite {
  const { secrets: _, ...write } = client(id);
  return { ...write, kind: 'Box', body: { resourceType: 'Box', id, ...body }, secrets: undefined };
}

describe('the statements of a box’s configuration', () => {
  let database: BoxDatabase;

  before(async () => {
    database = await boxDatabase();
  });
  after(() => database.end());
  beforeEach(() =>
    database.owner.query(
      `TRUNCATE boxgate.box, boxgate.operator_epoch CASCADE; INSERT INTO boxgate.box (box) VALUES ('default'), ('other')`,
    ),
  );

  /** Stores or deletes under a new version, which it returns. */
  function change(write: readonly ResourceWrite[], deleted: readonly string[] = [], name = 'default'): Promise<number> {
    return inBox(database.pool, name, 'write', async (connection) => {
      const version = await bumpVersion(connection, name);
      await storeResources(connection, name, version, write);
      if (deleted.length > 0) {
        await deleteResources(
          connection,
          name,
          version,
          deleted.map((id) => ({ kind: 'Client' as const, id })),
        );
      }
      return version;
    });
  }

  function changesSince(since: number, name = 'default') {
    return inBox(database.pool, name, 'snapshot', (connection) => readConfigChanges(connection, name, since));
  }

  describe('a box', () => {
    it('is made once, and its version never restarts', async () => {
      const make = () => inBox(database.pool, 'fresh', 'write', (connection) => ensureBox(connection, 'fresh'));
      await Promise.all([make(), make(), make()]);
      const bump = () => inBox(database.pool, 'fresh', 'write', (connection) => bumpVersion(connection, 'fresh'));
      const first = await bump();
      expect(first).to.be.greaterThan(1);
      await make();
      expect(await bump()).to.be.greaterThan(first);
    });

    it('gives each of many changes at once a version of its own', async () => {
      const bump = () => inBox(database.pool, 'default', 'write', (connection) => bumpVersion(connection, 'default'));
      const versions = await Promise.all(Array.from({ length: 20 }, bump));
      expect(new Set(versions)).to.have.property('size', 20);
      const { rows } = await database.owner.query<{ version: string }>(
        `SELECT config_version AS version FROM boxgate.box WHERE box = 'default'`,
      );
      expect(Number(rows[0]?.version), 'the last one is the highest').to.equal(Math.max(...versions));
    });

    it('F-19 has no version again that was lost with a restored backup', async () => {
      const before = await change([client('a')]);
      const restore = await backUp(database.owner);
      const lost = [await change([client('b')]), await change([client('c')])];
      await restore();
      for (const _ of lost) expect(await change([client('d')])).to.be.greaterThan(Math.max(before, ...lost));
    });

    it('F-25 goes on upwards when the clock goes back', async () => {
      const ahead = Date.now() * 1000 + 3_600_000_000;
      await database.owner.query(`UPDATE boxgate.box SET config_version = $1 WHERE box = 'default'`, [ahead]);
      expect([await change([client('a')]), await change([client('a')])]).to.deep.equal([ahead + 1, ahead + 2]);
    });

    it('that is not there has no version to raise or to lock', async () => {
      const locked = inBox(database.pool, 'nobody', 'write', (connection) => lockVersion(connection, 'nobody'));
      expect(await locked).to.equal(undefined);
      const raised = inBox(database.pool, 'nobody', 'write', (connection) => bumpVersion(connection, 'nobody'));
      expect(await raised.catch(String)).to.include('nobody');
    });

    it('under a lock keeps its version until the transaction ends', async () => {
      const order: string[] = [];
      let bumped: Promise<unknown> = Promise.resolve();
      await inBox(database.pool, 'default', 'write', async (connection) => {
        expect(await lockVersion(connection, 'default')).to.equal(1);
        // Two locks of readers do not exclude each other.
        await inBox(database.pool, 'default', 'write', (other) => lockVersion(other, 'default'));
        bumped = inBox(database.pool, 'default', 'write', (other) => bumpVersion(other, 'default')).then(() =>
          order.push('bumped'),
        );
        expect((await changesSince(0))?.version).to.equal(1);
        order.push('unlocked');
      });
      await bumped;
      expect(order).to.deep.equal(['unlocked', 'bumped']);
    });

    it('has the root while no other box holds a resource, and is listed for good', async () => {
      const rootBoxes = batchedRootBoxes(database.pool);
      expect(await rootBoxes()).to.deep.equal([]);
      await change([client('a')]);
      expect(await rootBoxes()).to.deep.equal(['default']);
      await change([client('a')], [], 'other');
      expect(await rootBoxes()).to.deep.equal(['default', 'other']);
      await change([], ['a'], 'other');
      expect(await rootBoxes()).to.deep.equal(['default']);
      expect(await allBoxes(database.pool)).to.deep.equal(['default', 'other']);
    });

    it('is found at the root for all requests that wait in one statement', async () => {
      await change([client('a')]);
      const rootBoxes = batchedRootBoxes(database.pool);
      await rootBoxes();
      let statements = 0;
      const count = (): void => void (statements += 1);
      database.pool.on('acquire', count);
      const found = await Promise.all(Array.from({ length: 100 }, () => rootBoxes()));
      database.pool.off('acquire', count);
      expect(found.every(([box, ...others]) => box === 'default' && others.length === 0)).to.equal(true);
      expect(statements).to.equal(1);
    });

    it('counts for the clusters that declare something in it', async () => {
      await change([client('a', 'one'), client('b', 'one'), client('c', 'two'), client('d')]);
      await change([client('a', 'one')], [], 'other');
      expect(await declaredBoxes(database.pool, 'one')).to.deep.equal([
        { box: 'default', resources: 2 },
        { box: 'other', resources: 1 },
      ]);
      expect(await declaredBoxes(database.pool, 'two')).to.deep.equal([{ box: 'default', resources: 1 }]);
      expect(await declaredBoxes(database.pool, 'three')).to.deep.equal([]);
    });

    it('is found by its host, with the path of its issuer there; of two that claim one, the older', async () => {
      const issuer = 'https://a.example:8443/login/eu';
      const claims = { default: ['a.example', 'b.example'], other: ['b.example', 'c.example'] };
      for (const [name, hosts] of Object.entries(claims)) {
        await inBox(database.pool, name, 'write', (connection) => claimHosts(connection, name, '', hosts));
        await change([box(name, { hosts, issuer: name === 'default' ? issuer : undefined })], [], name);
      }
      const boxOfHost = batchedHosts(database.pool);
      const found = ['a.example', 'b.example', 'c.example', 'd.example', 'hosts', 'a"\\b'].map(boxOfHost);
      expect(await Promise.all(found)).to.deep.equal([
        { box: 'default', path: '/login/eu' },
        { box: 'default', path: '' },
        { box: 'other', path: '' },
        undefined,
        undefined,
        undefined,
      ]);
    });
  });

  describe('what moved', () => {
    it('is everything from the beginning, and nothing of a box that is not there', async () => {
      const version = await change([client('a', undefined, { name: 'A' })]);
      const changes = await changesSince(0);
      expect(changes).to.include({ version, complete: true });
      expect(changes?.changed.map(({ kind, id, version, secrets }) => ({ kind, id, version, secrets }))).to.deep.equal([
        { kind: 'Client', id: 'a', version, secrets: ['$sha256$a'] },
      ]);
      expect(changes?.changed[0]?.body).to.include({ name: 'A' });
      expect(changes?.deleted).to.deep.equal([]);
      expect(await changesSince(0, 'nobody')).to.equal(undefined);
    });

    it('is only what has a newer version, with the names of what was deleted', async () => {
      await change([client('a'), client('b'), client('c')]);
      const since = await change([client('b')]);
      const version = await change([client('c')], ['a']);
      const changes = await changesSince(since);
      expect(changes?.version).to.equal(version);
      expect(changes?.changed.map(({ id }) => id)).to.deep.equal(['c']);
      expect(changes?.deleted).to.deep.equal([{ kind: 'Client', id: 'a' }]);
      expect(await changesSince(version)).to.deep.include({ changed: [], deleted: [] });
    });

    it('names a client that was created again as changed, not as deleted', async () => {
      const since = await change([client('a')]);
      await change([], ['a']);
      const version = await change([client('a')]);
      const changes = await changesSince(since);
      expect(changes?.deleted).to.deep.equal([]);
      expect(changes?.changed.map(({ id, sessionsFrom }) => [id, sessionsFrom])).to.deep.equal([['a', version]]);
    });

    it('belongs to its box alone', async () => {
      await change([client('a')], [], 'other');
      expect((await changesSince(0))?.changed).to.deep.equal([]);
    });
  });

  describe('a signing key', () => {
    const key = {
      box: 'default',
      kid: 'k1',
      algorithm: 'ES256',
      publicJwk: { kty: 'EC' },
      privateKey: Buffer.from('sealed'),
      activeFrom: time,
      signedUntil: time + 1000,
    } as const;

    it('is read as it was stored, retired, extended and deleted, oldest first', async () => {
      await database.write((connection) => insertKey(connection, { ...key, kid: 'k2', activeFrom: time + 5 }));
      await database.write((connection) => insertKey(connection, key));
      const read = () => database.read((connection) => readSigningKeys(connection, 'default'));
      const { box: _, ...row } = key;
      expect((await read())[0]).to.deep.equal({ ...row, retiredAt: undefined });
      await database.write((connection) => retireKey(connection, 'default', 'k1', time + 77));
      await database.write((connection) => extendKey(connection, 'default', 'k1', time + 5000));
      await database.write((connection) => extendKey(connection, 'default', 'k1', time + 4000));
      expect((await read()).map(({ kid, retiredAt, signedUntil }) => [kid, retiredAt, signedUntil])).to.deep.equal([
        ['k1', time + 77, time + 5000],
        ['k2', undefined, time + 1000],
      ]);
      await database.write((connection) => deleteKey(connection, 'default', 'k1'));
      expect((await read()).map(({ kid }) => kid)).to.deep.equal(['k2']);
    });

    it('comes with every change of its box', async () => {
      await database.write((connection) => insertKey(connection, key));
      expect((await changesSince(1))?.keys.map(({ kid }) => kid)).to.deep.equal(['k1']);
      expect((await changesSince(0, 'other'))?.keys).to.deep.equal([]);
    });
  });

  it('T-43 a change waits for who read before it, and who comes later waits behind it: no stream of refreshes keeps it out', async () => {
    await change([client('a')]);
    const order: string[] = [];
    const waiting = async (): Promise<number> => {
      const { rows } = await database.owner.query<{ count: string }>(
        'SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE NOT l.granted AND a.datname = current_database()',
      );
      return Number(rows[0]?.count);
    };
    const patient = async <T>(work: (connection: Connection) => Promise<T>): Promise<T> =>
      inBoxWithin(database.pool, 'default', { mode: 'write', limit: 20_000 }, work);
    await Promise.all(
      await patient(async (first) => {
        await lockVersion(first, 'default');
        const changing = patient(async (connection) => {
          await lockResources(connection, 'default');
          order.push('change');
          return bumpVersion(connection, 'default');
        });
        await eventually('the change waits', async () => (await waiting()) === 1);
        const reading = patient((connection) => lockVersion(connection, 'default')).then(() => order.push('reader'));
        await eventually('the reader waits or is done', async () => order.length > 0 || (await waiting()) === 2);
        return [changing, reading];
      }),
    );
    expect(order).to.deep.equal(['change', 'reader']);
  });

  describe('an epoch', () => {
    const lock = (cluster: string) => outsideBoxes(database.pool, (connection) => lockEpoch(connection, cluster));

    it('rises with each claim of its cluster, however many claim at once', async () => {
      expect(await lock('one')).to.equal(undefined);
      const claimed = await Promise.all(Array.from({ length: 10 }, () => claimEpoch(database.pool, 'one')));
      expect(new Set(claimed)).to.have.property('size', 10);
      await claimEpoch(database.pool, 'two');
      expect(await lock('one')).to.equal(Math.max(...claimed));
    });

    it('F-19 is none again that was claimed after the backup which was restored', async () => {
      const restore = await backUp(database.owner);
      const lost = await claimEpoch(database.pool, 'one');
      await restore();
      expect(await claimEpoch(database.pool, 'one')).to.be.greaterThan(lost);
    });

    it('cannot be claimed while a call of the one before is in its transaction', async () => {
      const first = await claimEpoch(database.pool, 'one');
      let claim: Promise<unknown> = Promise.resolve();
      await outsideBoxes(
        database.pool,
        async (connection) => {
          await lockEpoch(connection, 'one');
          await lock('one');
          claim = claimEpoch(database.pool, 'one').catch((error: unknown) => error);
          expect(await claim).to.be.instanceOf(Outage);
        },
        20_000,
      );
      expect(await claimEpoch(database.pool, 'one')).to.be.greaterThan(first);
    });
  });
});
