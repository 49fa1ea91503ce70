import { expect } from 'chai';
import type { StoredGrant } from '../../../api/db/grant.ts';
import { readSearch } from '../../../api/records/search/parameters.ts';
import type { SearchResult } from '../../../api/records/search/search.ts';
import { grant } from '../../../api/records/grant.ts';
import { boxDatabase } from '../../records/box-database.ts';
import type { BoxDatabase } from '../../records/box-database.ts';

const count = 10_001;

describe('a search for grants in a box with more than 10,000', () => {
  let database: BoxDatabase;
  let find: (query: string) => Promise<SearchResult<StoredGrant>>;

  before(async () => {
    database = await boxDatabase();
    await database.owner.query(
      `INSERT INTO boxgate.user (box, id, email, email_key, password, pepper)
       SELECT 'default', n, n, n, '', '' FROM generate_series(1, $1::integer) n`,
      [count],
    );
    await database.owner.query(
      `INSERT INTO boxgate.resource (box, kind, id, version, sessions_from, body) VALUES ('default', 'Client', 'app', 1, 1, '{}')`,
    );
    await database.owner.query(
      `INSERT INTO boxgate.consent (box, user_id, client, scopes, version, created_at)
       SELECT 'default', n, 'app', '{}', 1, now() FROM generate_series(1, $1::integer) n`,
      [count],
    );
    const services = { pool: database.pool, now: Date.now };
    find = (query) => grant.search.find(services, 'default', readSearch(new URLSearchParams(query), grant.search));
  });
  after(() => database.end());

  const usersOf = ({ rows }: SearchResult<StoredGrant>): readonly number[] => rows.map(({ user }) => user);

  it('tells the total only if it is to be accurate, on each page', async () => {
    for (const page of ['', `&_page=${(await find('_count=5')).next ?? ''}`]) {
      const totals = ['', '&_total=estimate', '&_total=none', '&_total=accurate'].map(
        async (total) => (await find(`_count=5${total}${page}`)).total,
      );
      expect(await Promise.all(totals)).to.deep.equal([undefined, undefined, undefined, count]);
    }
    expect((await find('_count=5&user=7')).total).to.equal(1);
  });

  it('leads through all of them by `next`, and back', async () => {
    const users: number[] = [];
    let page = await find('_count=100');
    for (;;) {
      users.push(...usersOf(page));
      if (page.next === undefined) break;
      page = await find(`_count=100&_page=${page.next}`);
    }
    expect(users).to.deep.equal(Array.from({ length: count }, (_, nth) => nth + 1));
    expect(usersOf(await find(`_count=2&_page=${page.previous ?? ''}`))).to.deep.equal([count - 2, count - 1]);
    expect(usersOf(await find('_count=2&_sort=-id'))).to.deep.equal([count, count - 1]);
  });
});
