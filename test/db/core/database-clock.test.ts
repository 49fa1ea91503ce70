import { expect } from 'chai';
import { createDatabaseClock } from '../../../api/db/core/database-clock.ts';
import { boxDatabase } from '../../records/box-database.ts';
import type { BoxDatabase } from '../../records/box-database.ts';

const minutes = 60_000;

describe('F-25 the clock of the service', () => {
  let database: BoxDatabase;
  before(async () => {
    database = await boxDatabase();
  });
  after(() => database.end());

  /** Generous: an answer on a slow machine takes long. */
  const close = minutes;

  for (const ahead of [5 * minutes, -5 * minutes, 3 * 24 * 60 * minutes]) {
    it(`is that of Postgres where the machine's is ahead by ${String(ahead)} ms, and the machine's once it is right`, async () => {
      const machine = { ahead };
      const clock = createDatabaseClock(database.pool, () => Date.now() + machine.ahead);
      expect((await clock.compare())?.correction).to.be.closeTo(-ahead, close);
      expect(clock.now()).to.be.closeTo(Date.now(), close);
      machine.ahead = 0;
      expect(await clock.compare()).to.deep.equal({ correction: 0 });
      expect(clock.now()).to.be.closeTo(Date.now(), close);
      expect(await clock.compare()).to.equal(undefined);
    });
  }

  it('is the machine’s where the two differ by less than a second: no two comparisons agree to the millisecond', async () => {
    const machine = { now: () => Date.now() + 500 };
    const clock = createDatabaseClock(database.pool, () => machine.now());
    expect(await clock.compare()).to.equal(undefined);
    machine.now = () => 1_800_000_000_000;
    expect(clock.now()).to.equal(1_800_000_000_000);
  });
});
