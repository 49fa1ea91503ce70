import { expect } from 'chai';
import type { ApplyHead } from '../../api/client/desired-state.ts';
import { claimEpoch } from '../../api/db/box/cluster-settings.ts';
import { applyBox } from '../../api/apply/apply.ts';
import { Locked } from '../../api/apply/claims.ts';
import { makeWorld } from '../oauth/world.ts';
import type { World } from '../oauth/world.ts';

describe('a call that settles who has a box', () => {
  let world: World;
  let epoch: number;
  before(async () => {
    world = await makeWorld();
    epoch = await claimEpoch(world.services.pool, 'test');
  });
  after(() => world.end());

  type Head = Partial<ApplyHead>;

  /** Applies nothing under a head; the box may be refused to it. */
  async function call(box: string, head: Head): Promise<void> {
    // Records are in the order of their milliseconds.
    world.clock.now += 1;
    const asked = { box, head: { cluster: 'test', epoch, complete: false, ...head }, lines: [] };
    await applyBox(asked, world.applyServices, () => undefined).catch((error: unknown) => {
      if (!(error instanceof Locked)) throw error;
    });
  }

  const one = { namespace: { uid: 'one' } };
  const cases: readonly [what: string, heads: readonly Head[], events: readonly string[]][] = [
    ['binds it for the first time', [one], []],
    ['comes from its own namespace', [one, one], []],
    ['comes from another namespace of its name', [one, { namespace: { uid: 'two' } }], ['box.locked']],
    ['takes it over with its data', [one, { namespace: { uid: 'two', adopt: 'one' } }], ['box.adopted']],
    ['takes it over without its data', [one, { namespace: { uid: 'two', discard: 'one' } }], ['box.data_deleted']],
    ['tells that its namespace is missing', [one, { missing: true }], ['box.closed']],
    ['tells that its namespace is back', [one, { missing: true }, one], ['box.closed', 'box.reopened']],
    ['has new quotas', [{ quota: { clients: 7 } }, { quota: { clients: 7 } }], ['box.quota_changed']],
  ];
  for (const [what, heads, events] of cases) {
    const told = events.length === 0 ? 'records nothing' : `records ${events.join(' and ')}`;
    it(`${told} if it ${what}`, async () => {
      const box = what.replaceAll(' ', '-');
      for (const head of heads) await call(box, head);
      const { rows } = await world.owner.query(
        'SELECT event, target, operator, result FROM boxgate.audit_event WHERE box = $1 ORDER BY id',
        [box],
      );
      const record = { target: `Box/${box}`, operator: 'test', result: 'success' };
      expect(rows).to.deep.equal(events.map((event) => ({ event, ...record })));
    });
  }
});
