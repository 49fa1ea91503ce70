import { expect } from 'chai';
import { Writable } from 'node:stream';
import pg from 'pg';
import { createPool, defaultLimits } from '../api/db/core/pool.ts';
import { deleteExpired } from '../api/db/box/box-upkeep.ts';
import { createRequestNotes } from '../api/box/notes.ts';
import type { NotedRequest, RequestNotes } from '../api/box/notes.ts';
import { startRequestWriting } from '../api/write-requests.ts';
import type { Rounds } from '../program/scheduling.ts';
import { createLog } from '../program/log.ts';
import { eventually } from './support/eventually.ts';
import { freshDatabase } from './support/postgres.ts';
import type { TestDatabase } from './support/postgres.ts';

/** A recorded request as the tests read it. */
interface RecordedRow {
  readonly shape: string;
  readonly requests: number;
  readonly policy: string;
}

describe('the recording of requests', () => {
  let database: TestDatabase;
  let owner: pg.Pool;
  let pool: pg.Pool;
  const log = createLog('info', new Writable({ write: (_chunk, _encoding, done) => done() }));

  before(async () => {
    database = await freshDatabase();
    owner = new pg.Pool({ connectionString: database.ownerUrl });
    pool = createPool(database.apiUrl, defaultLimits, 'write-requests-test', () => undefined);
    await owner.query("INSERT INTO boxgate.box (box) VALUES ('shop')");
  });
  afterEach(() => owner.query('DELETE FROM boxgate.recorded_request'));
  after(async () => {
    await Promise.all([owner.end(), pool.end()]);
    await database.drop();
  });

  const noted = (path: string, more: Partial<NotedRequest> = {}): NotedRequest => {
    return { box: 'shop', subject: { client: 'app' }, app: 'orders', method: 'get', path, policy: 'p', ...more };
  };
  const start = (notes: RequestNotes, now: () => number = Date.now): Rounds =>
    startRequestWriting({ pool, notes, now, log });
  const all = { ofClient: 1_000, ofBox: 1_000, inAll: 1_000 };
  const counts = async (): Promise<readonly RecordedRow[]> => {
    const text = 'SELECT shape, requests::int, policy FROM boxgate.recorded_request ORDER BY shape';
    return (await owner.query<RecordedRow>(text)).rows;
  };

  it('counts requests of one shape, and writes what is left when the process stops', async () => {
    const notes = createRequestNotes();
    const writing = start(notes);
    for (const path of ['/a/1', '/a/2', '/b']) notes.note(noted(path));
    await eventually('they are recorded', async () => (await counts()).length === 2);
    notes.note(noted('/a/3'));
    notes.note(noted('/b', { policy: '' }));
    await writing.stop();
    expect(await counts()).to.have.deep.members([
      { shape: '/a/{number}', requests: 3, policy: 'p' },
      { shape: '/b', requests: 1, policy: 'p' },
      { shape: '/b', requests: 1, policy: '' },
    ]);
  });

  it('keeps the latest hundred shapes of a caller', async () => {
    const notes = createRequestNotes(all);
    let time = Date.now();
    const writing = start(notes, () => time);
    notes.note(noted('/first'));
    await eventually('the first one is recorded', async () => (await counts()).length === 1);
    time += 10_000;
    for (let nth = 0; nth < 100; nth += 1) notes.note(noted(`/s${String(nth)}`));
    await eventually('the first one is gone', async () => {
      const shapes = (await counts()).map(({ shape }) => shape);
      return shapes.length === 100 && !shapes.includes('/first');
    });
    await writing.stop();
  });

  it('goes on after an outage, in which it only drops', async () => {
    const notes = createRequestNotes();
    let time = Date.now();
    const writing = start(notes, () => time);
    await owner.query('ALTER TABLE boxgate.recorded_request RENAME TO away');
    notes.note(noted('/during'));
    await eventually('it is taken', () => notes.take().length === 0);
    await owner.query('ALTER TABLE boxgate.away RENAME TO recorded_request');
    time += 10_000;
    notes.note(noted('/after'));
    await eventually('the next one is recorded', async () => (await counts()).some(({ shape }) => shape === '/after'));
    await writing.stop();
  });

  it('skips boxes that do not exist, and records the others', async () => {
    const notes = createRequestNotes();
    const writing = start(notes);
    notes.note(noted('/x', { box: 'nowhere' }));
    notes.note(noted('/y'));
    await writing.stop();
    expect(await counts()).to.deep.equal([{ shape: '/y', requests: 1, policy: 'p' }]);
  });

  it('deletes what was not seen for 90 days', async () => {
    const notes = createRequestNotes();
    const day = 86_400_000;
    for (const [path, age] of [
      ['/old', 91],
      ['/young', 89],
    ] as const) {
      notes.note(noted(path));
      await start(notes, () => Date.now() - age * day).stop();
    }
    expect(await deleteExpired(pool, 'recorded_request', new Date(), 1_000)).to.equal(1);
    expect(await counts()).to.deep.equal([{ shape: '/young', requests: 1, policy: 'p' }]);
  });
});
