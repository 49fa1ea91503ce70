import { expect } from 'chai';
import { createDeclaredDays } from '../../api/db/audit/audit-days.ts';
import { makeWorld } from '../oauth/world.ts';
import type { World } from '../oauth/world.ts';

const day = 86_400_000;

describe('an apply of a Box with a retention of its audit trail', () => {
  let world: World;
  before(async () => {
    world = await makeWorld();
  });
  after(() => world.end());

  /** Declares a Box; returns how many connections that took. */
  async function connectionsFor(box: string, audit: { readonly retention?: number }): Promise<number> {
    const before = world.taken();
    await world.declare(box, { kind: 'Box', id: box, audit });
    return world.taken() - before;
  }

  async function days(): Promise<readonly number[]> {
    const { rows } = await world.owner.query<{ day: number }>('SELECT day FROM boxgate.audit_day');
    return rows.map((row) => row.day);
  }

  const daysOf = async (retention: number): Promise<readonly number[]> => {
    const { rows } = await world.owner.query<{ today: number }>(
      'SELECT floor(extract(epoch FROM now()) / 86400)::int AS today',
    );
    const first = (rows[0]?.today ?? 0) + retention;
    return [first, first + 1, first + 2];
  };

  it('creates the days once for each retention, and costs no transaction from then on', async () => {
    const without = await connectionsFor('without', {});
    expect(await connectionsFor('first', { retention: 7 })).to.equal(without + 1);
    expect(await days()).to.include.members(await daysOf(7));
    expect(await connectionsFor('first', { retention: 7 })).to.equal(without);
    expect(await connectionsFor('second', { retention: 7 })).to.equal(without);
    expect(await connectionsFor('second', { retention: 8 })).to.equal(without + 1);
    expect(await days()).to.include.members(await daysOf(8));
  });

  it('creates the days again on the next day: those of the day after tomorrow are missing then', async () => {
    await connectionsFor('daily', { retention: 9 });
    const [, , last = 0] = await daysOf(9);
    await world.owner.query(`DROP TABLE boxgate.audit_event_${String(last)};
                             DELETE FROM boxgate.audit_day WHERE day = ${String(last)}`);
    await connectionsFor('daily', { retention: 9 });
    expect(await days()).not.to.include(last);
    world.clock.now += day;
    await connectionsFor('daily', { retention: 9 });
    expect(await days()).to.include(last);
  });

  it('asks Postgres again after an attempt that failed', async () => {
    let fails = true;
    let calls = 0;
    const make = (): Promise<number> => {
      calls += 1;
      return fails ? Promise.reject(new Error('away')) : Promise.resolve(3);
    };
    const ensure = createDeclaredDays(make, () => 0);
    const failed = await ensure(7).then(() => 'made', String);
    expect(failed).to.equal('Error: away');
    fails = false;
    await ensure(7);
    await ensure(7);
    expect(calls).to.equal(2);
  });
});
