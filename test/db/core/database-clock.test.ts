import { expect } from 'chai';
import { createDatabaseClock } from '../../../api/db/core/database-clock.ts';
import { createLog } from '../../../program/log.ts';
import { boxDatabase } from '../../records/box-database.ts';
import type { BoxDatabase } from '../../records/box-database.ts';

const minutes = 60_000;

describe('F-25 the clock of the service', () => {
  let database: BoxDatabase;
  let lines: string[];
  const log = createLog('info', { write: (line) => void lines.push(line) });
  beforeEach(() => {
    lines = [];
  });
  before(async () => {
    database = await boxDatabase();
  });
  after(() => database.end());

  /** Generous: an answer on a slow machine takes long. */
  const close = minutes;

  for (const ahead of [5 * minutes, -5 * minutes, 3 * 24 * 60 * minutes]) {
    it(`is that of Postgres where the machine's is ahead by ${String(ahead)} ms, and the machine's once it is right`, async () => {
      const machine = { ahead };
      const clock = createDatabaseClock(database.pool, log, () => Date.now() + machine.ahead);
      await clock.compare();
      expect(lines.splice(0).join()).to.include('is not that of Postgres, and is corrected');
      expect(clock.now()).to.be.closeTo(Date.now(), close);
      machine.ahead = 0;
      await clock.compare();
      expect(lines.splice(0).join()).to.include('is that of Postgres again');
      expect(clock.now()).to.be.closeTo(Date.now(), close);
      await clock.compare();
      expect(lines).to.deep.equal([]);
    });
  }

  it('is the machine’s where the two differ by less than a second: no two comparisons agree to the millisecond', async () => {
    const machine = { now: () => Date.now() + 500 };
    const clock = createDatabaseClock(database.pool, log, () => machine.now());
    await clock.compare();
    expect(lines).to.deep.equal([]);
    machine.now = () => 1_800_000_000_000;
    expect(clock.now()).to.equal(1_800_000_000_000);
  });
});
