import { expect } from 'chai';
import type { ApplyHead, ApplyLine, ApplyProgress } from '../../api/client/desired-state.ts';
import { claimEpoch } from '../../api/db/box/cluster-settings.ts';
import { applyBox } from '../../api/apply/apply.ts';
import { Fenced } from '../../api/apply/claims.ts';
import { makeWorld } from '../oauth/world.ts';
import type { World } from '../oauth/world.ts';

describe('the end of a box with many users', () => {
  let world: World;
  let epoch: number;
  beforeEach(async () => {
    world = await makeWorld();
    epoch = await claimEpoch(world.services.pool, 'test');
  });
  afterEach(() => world.end());

  type OnProgress = (progress: ApplyProgress['progress']) => void;

  async function apply(
    head: Partial<ApplyHead>,
    lines: readonly ApplyLine[] = [],
    onProgress: OnProgress = () => undefined,
  ): Promise<void> {
    const asked = { box: 'shop', head: { cluster: 'test', epoch, complete: false, ...head }, lines };
    await applyBox(asked, world.applyServices, ({ progress }) => onProgress(progress));
  }

  async function addUsers(count: number): Promise<void> {
    await world.owner.query(
      `INSERT INTO boxgate.user (box, id, email, email_key, password, pepper)
       SELECT 'shop', n, n, n, '', '' FROM generate_series(1, $1::integer) n`,
      [count],
    );
    await world.owner.query(
      `INSERT INTO boxgate.box_use (box, users) VALUES ('shop', $1) ON CONFLICT (box) DO UPDATE SET users = excluded.users`,
      [count],
    );
  }

  async function users(): Promise<number> {
    const { rows } = await world.owner.query<{ count: string }>(`SELECT count(*) FROM boxgate.user WHERE box = 'shop'`);
    return Number(rows[0]?.count);
  }

  async function events(): Promise<readonly string[]> {
    const { rows } = await world.owner.query<{ event: string }>(
      `SELECT event FROM boxgate.audit_event WHERE box = 'shop' AND event = 'box.data_deleted'`,
    );
    return rows.map(({ event }) => event);
  }

  const declarer = { name: 'shop/box', uid: 'uid-of-box' };
  const settings: ApplyLine = {
    kind: 'Box',
    id: 'shop',
    owner: declarer,
    digest: 'd',
    purge: true,
    resource: { resourceType: 'Box', id: 'shop' },
  };

  it('deletes them in portions before, and says how far it is', async () => {
    await apply({ namespace: { uid: 'one' } });
    await addUsers(25_000);
    const told: object[] = [];
    await apply({ namespace: { uid: 'two', discard: 'one' } }, [], (progress) => told.push(progress));
    expect(told).to.deep.equal([
      { done: 10_000, of: 25_000 },
      { done: 20_000, of: 25_000 },
    ]);
    expect([await users(), await events()]).to.deep.equal([0, ['box.data_deleted']]);
  });

  it('does the same for a Box that takes the data of its box with it', async () => {
    await apply({ namespace: { uid: 'one' } }, [settings]);
    await addUsers(15_000);
    const told: object[] = [];
    const deleted = { kind: 'Box', id: 'shop', owner: declarer, delete: true } as const;
    await apply({ namespace: { uid: 'one' } }, [deleted], (progress) => told.push(progress));
    expect(told).to.deep.equal([{ done: 10_000, of: 15_000 }]);
    expect([await users(), await events()]).to.deep.equal([0, ['box.data_deleted']]);
  });

  it('stops between two portions once another operator leads', async () => {
    await apply({ namespace: { uid: 'one' } });
    await addUsers(35_000);
    const leading: Promise<number>[] = [];
    const error: unknown = await apply({ namespace: { uid: 'two', discard: 'one' } }, [], () => {
      if (leading.length === 0) leading.push(claimEpoch(world.services.pool, 'test'));
    }).catch((thrown: unknown) => thrown);
    await Promise.all(leading);
    expect(error).to.be.instanceOf(Fenced);
    expect(await users()).to.be.within(1, 25_000);
    expect(await events()).to.deep.equal([]);
  });
});
