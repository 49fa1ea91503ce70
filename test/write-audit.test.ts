import { expect } from 'chai';
import { Writable } from 'node:stream';
import pg from 'pg';
import { createCountedEvents, defaultCountedLimits } from '../api/audit/counted-events.ts';
import type { CountedEvents } from '../api/audit/counted-events.ts';
import { createPool, defaultLimits } from '../api/db/core/pool.ts';
import { startAuditWriting } from '../api/write-audit.ts';
import { createLog } from '../program/log.ts';
import { eventually } from './support/eventually.ts';
import { freshDatabase } from './support/postgres.ts';
import type { TestDatabase } from './support/postgres.ts';

describe('the writing of counted events', () => {
  let database: TestDatabase;
  let owner: pg.Pool;
  let pool: pg.Pool;
  const lines: string[] = [];
  const log = createLog(
    'info',
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        lines.push(chunk.toString('utf8'));
        done();
      },
    }),
  );

  before(async () => {
    database = await freshDatabase();
    owner = new pg.Pool({ connectionString: database.ownerUrl });
    pool = createPool(database.apiUrl, defaultLimits, 'write-audit-test', () => undefined);
    await owner.query("INSERT INTO boxgate.box (box) VALUES ('shop')");
  });
  afterEach(async () => {
    await owner.query('DELETE FROM boxgate.audit_event');
    lines.length = 0;
  });
  after(async () => {
    await Promise.all([owner.end(), pool.end()]);
    await database.drop();
  });

  const counting = (): CountedEvents => createCountedEvents(defaultCountedLimits, Date.now);

  function note(events: CountedEvents, remoteAddr: string, box = 'shop'): void {
    events.note({ box, event: 'access.denied', result: 'denied', target: 'Client/a', origin: { remoteAddr } });
  }

  async function stored(): Promise<readonly unknown[]> {
    const { rows } = await owner.query<{ remote_addr: string }>(
      'SELECT remote_addr, count FROM boxgate.audit_event ORDER BY id',
    );
    return rows.map(({ remote_addr }) => remote_addr);
  }

  it('stores a first event within seconds, and logs it', async () => {
    const events = counting();
    const writing = startAuditWriting({ pool, events, log });
    note(events, '192.0.2.1');
    await eventually('it is stored', async () => (await stored()).length === 1);
    expect(lines.filter((line) => line.includes('"audit event"'))).to.have.length(1);
    await writing.stop();
    expect(writing.dropped()).to.equal(0);
  });

  it('stores everything that is counted when the process stops, in batches', async () => {
    const events = counting();
    const writing = startAuditWriting({ pool, events, log });
    await owner.query("INSERT INTO boxgate.box (box) SELECT 'b' || n FROM generate_series(1, 30) n");
    for (let box = 1; box <= 30; box += 1) {
      for (let nth = 0; nth < 40; nth += 1) note(events, `192.0.2.${String(nth)}`, `b${String(box)}`);
    }
    await writing.stop();
    expect(await stored()).to.have.length(1_200);
  });

  it('keeps records while Postgres is away, and counts those that it gives up at the end', async () => {
    const away = createPool('postgres://nobody@127.0.0.1:1/none', defaultLimits, 'away', () => undefined);
    const events = counting();
    let isAway = true;
    const connections = { connect: () => (isAway ? away : pool).connect() };
    const writing = startAuditWriting({ pool: connections, events, log });
    note(events, '192.0.2.7');
    await eventually('it was tried', () => lines.some((line) => line.includes('it is tried again')));
    isAway = false;
    await eventually('it is stored', async () => (await stored()).length === 1);
    isAway = true;
    note(events, '192.0.2.8');
    await writing.stop();
    expect(writing.dropped()).to.equal(1);
    expect(lines.some((line) => line.includes('in the log alone'))).to.equal(true);
    expect(lines.filter((line) => line.includes('"audit event"'))).to.have.length(2);
    await away.end();
  });
});
