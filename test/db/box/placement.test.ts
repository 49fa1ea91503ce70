import { expect } from 'chai';
import { readPlacements } from '../../../api/db/box/placement.ts';
import { boxDatabase } from '../../records/box-database.ts';
import type { BoxDatabase } from '../../records/box-database.ts';

describe('the directory of a replica', () => {
  let database: BoxDatabase;
  before(async () => {
    database = await boxDatabase();
  });
  after(() => database.end());

  it('reads what is new, what it may have missed in the last minute, and nothing else again', async () => {
    const now = Date.now() * 1_000;
    const versions = { old: now - 3_600_000_000, older: now - 7_200_000_000, recent: now - 1_000_000 };
    for (const [box, version] of Object.entries(versions)) {
      const statement = 'INSERT INTO boxgate.placement (box, database, version) VALUES ($1, $2, $3)';
      await database.owner.query(statement, [box, 'eu', version]);
    }
    const read = async (after: number) => (await readPlacements(database.pool, after)).map(({ box }) => box);
    expect(await read(0)).to.deep.equal(['older', 'old', 'recent']);
    expect(await read(versions.older)).to.deep.equal(['old', 'recent']);
    expect(await read(versions.old)).to.deep.equal(['recent']);
    expect(await read(now)).to.deep.equal(['recent']);
  });
});
