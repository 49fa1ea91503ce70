import { expect } from 'chai';
import { readConfigChanges } from '../../api/db/box/config-changes.ts';
import { inBox } from '../../api/db/core/transaction.ts';
import { createLog } from '../../program/log.ts';
import type { OAuthServices } from '../../api/oauth/services.ts';
import { upkeepRound } from '../../api/upkeep.ts';
import { makeWorld } from '../oauth/world.ts';
import type { World } from '../oauth/world.ts';

const dayInMicroseconds = 86_400_000_000;

describe('versions that are over', () => {
  let world: World;

  beforeEach(async () => {
    world = await makeWorld();
  });
  afterEach(() => world.end());

  function declare(...ids: readonly string[]): Promise<void> {
    const clients = ids.map(
      (id) => ({ kind: 'Client', id, grant_types: ['client_credentials'], secret: 'x' }) as const,
    );
    return world.declare('default', ...clients);
  }

  async function versionNow(): Promise<number> {
    const { rows } = await world.owner.query<{ version: number }>(
      `SELECT config_version::float8 AS version FROM boxgate.box WHERE box = 'default'`,
    );
    return rows[0]?.version ?? 0;
  }

  /** Makes what was changed after a version that many days older. */
  async function age(days: number, after = 0): Promise<void> {
    const columns = { box: 'config_version', box_version: 'version', resource: 'version', tombstone: 'version' };
    for (const [table, column] of Object.entries(columns)) {
      const older = `UPDATE boxgate.${table} SET ${column} = ${column} - ${String(days * dayInMicroseconds)}`;
      await world.owner.query(`${older} WHERE ${column} > $1`, [after]);
    }
  }

  function upkeep(): Promise<void> {
    return upkeepRound(world.services, createLog('error'), new AbortController().signal);
  }

  async function kept(): Promise<{ versions: number; tombstones: number }> {
    const { rows } = await world.owner.query<{ versions: number; tombstones: number }>(
      `SELECT (SELECT count(*)::int FROM boxgate.box_version) AS versions,
              (SELECT count(*)::int FROM boxgate.tombstone) AS tombstones`,
    );
    return rows[0] ?? { versions: NaN, tombstones: NaN };
  }

  function clientsOf(replica: OAuthServices): Promise<readonly string[] | undefined> {
    return replica.states.decide('default', async (state) => [...state.clients.keys()].toSorted());
  }

  it('go with their tombstones, and a replica that holds one hears of what was deleted all the same', async () => {
    await declare('a', 'b');
    await age(5);
    const [slow, quick] = [world.replica(), world.replica()];
    expect(await clientsOf(slow)).to.deep.equal(['a', 'b']);
    const held = await versionNow();
    await world.remove('default', 'Client', 'a');
    await declare('c');
    await age(3, held);
    expect(await clientsOf(quick)).to.deep.equal(['b', 'c']);
    expect(await kept()).to.deep.equal({ versions: 3, tombstones: 1 });
    await upkeep();
    expect(await kept()).to.deep.equal({ versions: 1, tombstones: 0 });
    expect(await clientsOf(slow)).to.deep.equal(['b', 'c']);
    await world.remove('default', 'Client', 'b');
    for (const replica of [slow, quick]) expect(await clientsOf(replica)).to.deep.equal(['c']);
  });

  it('are not the one that counted a day ago: one change after a quiet week is all that a replica loads', async () => {
    await declare('a', 'b');
    await age(7);
    const replica = world.replica();
    await clientsOf(replica);
    const held = await versionNow();
    await upkeep();
    await world.remove('default', 'Client', 'a');
    await upkeep();
    expect(await kept()).to.deep.equal({ versions: 2, tombstones: 1 });
    const moved = await inBox(world.services.pool, 'default', 'snapshot', (connection) =>
      readConfigChanges(connection, 'default', held),
    );
    expect(moved).to.deep.include({ complete: false, changed: [], deleted: [{ kind: 'Client', id: 'a' }] });
    expect(await clientsOf(replica)).to.deep.equal(['b']);
  });

  it('keep the tombstone of a client that had the id of a built-in one: its sessions stay revoked', async () => {
    await declare('boxgate.cli', 'a');
    const before = await versionNow();
    await world.remove('default', 'Client', 'boxgate.cli');
    await world.remove('default', 'Client', 'a');
    await age(2);
    await upkeep();
    expect(await kept()).to.deep.equal({ versions: 1, tombstones: 1 });
    const from = await world.replica().states.decide('default', async (state) => state.builtInFrom);
    expect(from).to.be.greaterThan(before - 2 * dayInMicroseconds);
  });

  it('leave nothing to be done twice', async () => {
    await declare('a');
    await world.remove('default', 'Client', 'a');
    await age(2);
    await upkeep();
    await upkeep();
    expect(await kept()).to.deep.equal({ versions: 1, tombstones: 0 });
  });
});
