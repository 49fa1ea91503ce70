import { expect } from 'chai';
import type { Span } from '../../api/db/core/keyset.ts';
import { resourceListing } from '../../api/db/resource/search.ts';
import { firstIdAt } from '../../api/db/core/uuid-v7.ts';
import { readScope, searchSessions } from '../../api/db/session/search.ts';
import type { SessionFilters } from '../../api/db/session/search.ts';
import { boxDatabase } from './box-database.ts';
import type { BoxDatabase } from './box-database.ts';
import { costOf } from './statement-cost.ts';
import type { Cost } from './statement-cost.ts';
import { storeManyClients, storeManySessions } from './stored-load.ts';

describe('the cost of a search', () => {
  const now = Date.now();
  const count = 110_000;
  const hundred = { limit: 100, offset: 0, descending: true, backward: false };
  let database: BoxDatabase;

  before(async () => {
    database = await boxDatabase();
    await storeManySessions(database.owner, count, now);
    await storeManyClients(database.owner, 20_000);
  });
  after(() => database.end());

  /** Returns the position of the page after this many sessions, as the link `next` of the previous page gives it. */
  const pageAfter = (sessions: number): readonly string[] => [firstIdAt(now - sessions * 1000 + 1000)];

  function costOfSessions(filters: SessionFilters, span: Partial<Span>, total?: number): Promise<Cost> {
    return database.read((connection) =>
      costOf(connection, async (noting) => {
        const search = { box: 'default', filters, now, scope: await readScope(noting, 'default') };
        const { rows } = await searchSessions(noting, search, { ...hundred, ...span }, total);
        expect(rows).to.have.length(100);
      }),
    );
  }

  const searches: readonly (readonly [string, SessionFilters, sessions: number, total?: number])[] = [
    ['all sessions', {}, 99_900],
    ['the active ones', { status: 'active' }, 99_900],
    ['a client with half of them', { client: 'big' }, 99_900],
    ['a client whose few are all old', { client: 'early' }, 101_000, 5_500],
    ['a client with a few of them', { client: 'c7' }, 90_000, 2_200],
    ['a range of time', { createdAt: { to: now - 1000, from: now - 109_000_000 } }, 99_900],
  ];
  for (const [title, filters, sessions, total] of searches) {
    it(`among ${title} is on page 1,000 what it is on page 1`, async () => {
      const first = await costOfSessions(filters, {}, total);
      const thousandth = await costOfSessions(filters, { from: pageAfter(sessions) }, total);
      expect(thousandth.buffers).to.be.at.most(first.buffers * 1.1 + 20);
      expect(first.buffers).to.be.lessThan(2_000);
      // A partition of a few pages may well be read as a whole; not more of them.
      const whole = first.scans.filter(({ type }) => type === 'Seq Scan');
      expect(whole.length).to.be.lessThan(first.scans.length / 4);
    });
  }

  it('backward is what it is forward', async () => {
    const first = await costOfSessions({}, {});
    const back = await costOfSessions({}, { from: pageAfter(99_900), backward: true });
    expect(back.buffers).to.be.at.most(first.buffers * 1.1 + 20);
  });

  it('by an ending finds the few by an index of their own', async () => {
    const cost = await database.read((connection) =>
      costOf(connection, async (noting) => {
        const scope = await readScope(noting, 'default');
        return searchSessions(noting, { box: 'default', filters: { status: 'closed' }, now, scope }, hundred);
      }),
    );
    expect(cost.buffers).to.be.lessThan(300);
  });

  it('opens only the partitions that hold rows', async () => {
    const { rows } = await database.owner.query<{ all: number; filled: number }>(
      `SELECT count(*)::int AS all, count(DISTINCT s.bucket)::int AS filled
         FROM boxgate.bucket b LEFT JOIN (SELECT DISTINCT bucket FROM boxgate.session) s USING (bucket)`,
    );
    const { all, filled } = rows[0] ?? { all: 0, filled: 0 };
    const { scans } = await costOfSessions({}, {});
    expect(scans.filter(({ table }) => table.startsWith('session_'))).to.have.length(filled);
    expect(filled).to.be.lessThan(all / 2);
  });

  for (const sort of ['id', 'created_at'] as const) {
    it(`among clients by ${sort} is on page 150 what it is on page 1`, async () => {
      const search = { box: 'default', filters: {} } as const;
      const clients = resourceListing('Client');
      const order = clients.orders[sort] ?? [];
      const ascending = { ...hundred, descending: false };
      const id = 'c014900';
      const from = sort === 'id' ? [id] : [await createdAt(id), id];
      const cost = (span: Span) =>
        database.read((connection) =>
          costOf(connection, async (noting) => {
            expect((await clients.read(noting, search, order, span)).rows).to.have.length(100);
          }),
        );
      const first = await cost(ascending);
      const later = await cost({ ...ascending, from });
      expect(later.buffers).to.be.at.most(first.buffers * 1.1 + 20);
      expect(first.scans.map(({ type }) => type)).to.deep.equal(['Index Scan']);
      expect(first.buffers).to.be.lessThan(300);
    });
  }

  async function createdAt(id: string): Promise<string> {
    const { rows } = await database.owner.query<{ at: string }>(
      'SELECT created_at::text AS at FROM boxgate.resource WHERE id = $1',
      [id],
    );
    return rows[0]?.at ?? '';
  }
});
