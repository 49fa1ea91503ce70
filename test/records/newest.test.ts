import { expect } from 'chai';
import { auditEvent } from '../../api/records/audit-event.ts';
import { linksOf } from '../../api/records/search/search.ts';
import { readSearch } from '../../api/records/search/parameters.ts';
import type { SearchResult, Searchable } from '../../api/records/search/search.ts';
import { session } from '../../api/records/session.ts';
import { boxDatabase } from './box-database.ts';
import type { BoxDatabase } from './box-database.ts';

describe('a search for the newest records', () => {
  const now = Date.now();
  let database: BoxDatabase;

  before(async () => {
    database = await boxDatabase();
    const day = Math.floor(now / 86_400_000) + 1;
    await database.owner.query('SELECT boxgate.make_buckets($1)', [[day]]);
    await database.owner.query('SELECT boxgate.make_audit_days(90)');
    for (const box of ['default', 'other']) await store(box, box === 'default' ? 9_999 : 3);
  });
  after(() => database.end());

  /** Stores sessions and records of the audit trail of a box, older ones after newer ones. */
  async function store(box: string, count: number): Promise<void> {
    await database.owner.query(
      `INSERT INTO boxgate.session (id, version, expires_at, bucket, type, box, client)
       SELECT overlay(uuidv7(n * interval '-1 second')::text PLACING lpad(to_hex(d.day - t.day), 3, '0') FROM 16)::uuid,
              config_version, to_timestamp(d.day * 86400), d.day, 'c', box, 'a'
         FROM boxgate.box, generate_series(1, $2::integer) n, (VALUES ($3::integer)) d (day),
              LATERAL (SELECT (extract(epoch FROM now() - n * interval '1 second')::bigint / 86400)::integer) t (day)
        WHERE box = $1`,
      [box, count, Math.floor(now / 86_400_000) + 1],
    );
    await database.owner.query(
      `INSERT INTO boxgate.audit_event (id, version, created_at, day, box, event, result, target)
       SELECT uuidv7(n * interval '-1 second'), config_version, now(), boxgate.audit_day($1), box, 'user.changed', 'success', 'User/' || n
         FROM boxgate.box, generate_series(1, $2::integer) n WHERE box = $1`,
      [box, count],
    );
  }

  function find<Row, Filters extends object>(
    searched: Searchable<Row, Filters>,
    query: string,
    box = 'default',
  ): Promise<SearchResult<Row>> {
    const services = { pool: database.pool, now: () => now };
    return searched.find(services, box, readSearch(new URLSearchParams(query), searched));
  }

  /** Everything of a result that a caller sees. */
  function shown({ rows, ...result }: SearchResult<{ readonly id: string }>): readonly unknown[] {
    const links = linksOf('https://box.example/Session', new URLSearchParams('_count=10'), { rows, ...result });
    return [rows, result.total, links];
  }

  type Found = Promise<SearchResult<{ readonly id: string }>>;

  const lists: readonly (readonly [string, (query: string, box?: string) => Found])[] = [
    ['sessions', (query, box) => find(session.search, query, box)],
    ['records of the audit trail', (query, box) => find(auditEvent.search, query, box)],
  ];
  for (const [name, searched] of lists) {
    it(`finds the ${name}, with links that lead through all of them`, async () => {
      const all = await searched('_count=1000');
      const ids: string[] = [];
      let page = '';
      for (let nth = 0; nth < 5; nth += 1) {
        const result = await searched(`_count=10${page}`);
        ids.push(...result.rows.map(({ id }) => id));
        const before = await searched(`_count=10&_page=${result.previous ?? '1'}`);
        expect(before.rows.map(({ id }) => id)).to.deep.equal(ids.slice(nth === 0 ? 0 : -20, nth === 0 ? 10 : -10));
        page = `&_page=${result.next ?? ''}`;
      }
      expect(ids).to.deep.equal(all.rows.slice(0, 50).map(({ id }) => id));
      expect(shown(await searched('_count=10'))).to.deep.equal(shown(await searched('_count=10&_page=1')));
      expect(shown(await searched('_count=10', 'other'))).to.deep.equal(
        shown(await searched('_count=10&_page=1', 'other')),
      );
      const oldest = all.rows.at(-1)?.id;
      expect((await searched('_count=10&_sort=created_at')).rows[0]?.id).not.to.equal(oldest);
      const own = await searched(`_count=10&id=${oldest ?? ''}`);
      expect([own.rows.map(({ id }) => id), own.total]).to.deep.equal([[oldest], 1]);
      const beyond = await searched(`_count=10&_page=${page.slice(7)}`, 'other');
      expect([beyond.rows.length, beyond.total]).to.deep.equal([0, 3]);
    });
  }

  it('tells totals up to 10,000, and none or the exact one beyond, on every page', async () => {
    const totals = async (): Promise<readonly unknown[]> => {
      const found: unknown[] = [];
      for (const [, searched] of lists) {
        const first = await searched('_count=10');
        const second = await searched(`_count=10&_page=${first.next ?? ''}`);
        expect(second.total).to.equal(first.total);
        found.push(first.total);
      }
      return [...new Set(found)];
    };
    expect(await totals()).to.deep.equal([9_999]);
    await store('default', 1);
    expect(await totals()).to.deep.equal([10_000]);
    await store('default', 1);
    expect(await totals()).to.deep.equal([undefined]);
    expect((await find(session.search, '_count=10&_total=none')).total).to.equal(undefined);
    expect((await find(session.search, '_count=10&_total=accurate')).total).to.equal(10_001);
    expect((await find(auditEvent.search, '_count=10&_total=accurate')).total).to.equal(10_001);
    expect((await find(session.search, '_count=10', 'other')).total).to.equal(3);
    expect((await find(session.search, '_count=2&_total=none', 'other')).total).to.equal(undefined);
  });
});
