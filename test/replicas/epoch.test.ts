import { expect } from 'chai';
import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import { claimEpoch, startApi } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { asOwner, freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';

describe('two leaders of a cluster, each at its own replica', () => {
  let database: TestDatabase;
  let replicas: readonly [TestApi, TestApi];

  before(async () => {
    database = await freshDatabase();
    replicas = [await startApi({ database }), await startApi({ database })];
  });
  after(async () => {
    for (const replica of replicas) await replica.stop();
    await database.drop();
  });

  /** The last line of the answer to an apply that declares one client. */
  async function apply(api: TestApi, cluster: string, epoch: number, id: string): Promise<Record<string, unknown>> {
    const owner = { name: `default/${id}`, uid: `uid-${id}` };
    const resource = {
      resourceType: 'Client',
      id,
      grant_types: ['client_credentials'],
      secret: generateClientSecret(),
    };
    const lines = [
      { cluster, epoch, complete: false },
      { kind: 'Client', id, owner, digest: `${id} ${String(epoch)}`, resource },
    ];
    const response = await fetch(`${api.managementUrl}/boxes/default/apply`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${api.managementKey}`, 'Content-Type': 'application/x-ndjson' },
      body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    });
    const last: unknown = JSON.parse((await response.text()).trim().split('\n').at(-1) ?? '');
    return typeof last === 'object' && last !== null ? { ...last } : {};
  }

  async function clients(): Promise<readonly string[]> {
    const name = new URL(database.ownerUrl).pathname.slice(1);
    const { rows } = await asOwner(name, (owner) =>
      owner.query<{ id: string }>("SELECT id FROM boxgate.resource WHERE kind = 'Client' ORDER BY id"),
    );
    return rows.map(({ id }) => id);
  }

  it('rule one after the other: who claimed before is fenced, on every replica, and writes nothing', async () => {
    const [first, second] = replicas;
    const old = await claimEpoch(first.managementUrl, first.managementKey, 'one');
    expect(await apply(first, 'one', old, 'by-the-old')).to.have.property('config_version');
    const present = await claimEpoch(second.managementUrl, second.managementKey, 'one');
    expect(present).to.be.greaterThan(old);
    for (const api of replicas) {
      expect(await apply(api, 'one', old, 'too-late')).to.include({ code: 'fenced' });
      expect(await apply(api, 'one', present + 1, 'not-claimed')).to.include({ code: 'fenced' });
      expect(await apply(api, 'one', present, 'by-the-new')).to.have.property('config_version');
    }
    expect(await clients()).to.deep.equal(['by-the-new', 'by-the-old']);
  });

  it('of different clusters do not hinder each other', async () => {
    const [first, second] = replicas;
    const one = await claimEpoch(first.managementUrl, first.managementKey, 'one');
    const two = await claimEpoch(second.managementUrl, second.managementKey, 'two');
    expect(await apply(second, 'one', one, 'of-one')).to.have.property('config_version');
    expect(await apply(first, 'two', two, 'of-two')).to.have.property('config_version');
    expect(await apply(first, 'three', 1, 'of-three')).to.include({ code: 'fenced' });
  });

  it('leave no gap: nothing of the old one is committed after the claim of the new one has answered', async () => {
    const [first, second] = replicas;
    for (let round = 0; round < 10; round += 1) {
      const old = await claimEpoch(first.managementUrl, first.managementKey, 'one');
      const writes = Array.from({ length: 8 }, (_, nth) =>
        apply(nth % 2 === 0 ? first : second, 'one', old, `r${String(round)}-${String(nth)}`),
      );
      await writes[round % 8];
      await claimEpoch(second.managementUrl, second.managementKey, 'one');
      const there = await clients();
      await Promise.all(writes);
      expect(await clients()).to.deep.equal(there);
    }
  });
});
