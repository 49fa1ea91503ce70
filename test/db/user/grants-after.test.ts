import { expect } from 'chai';
import { BUILT_IN_CLIENTS } from '../../../crds/reserved-ids.ts';
import type { CountedPage } from '../../../api/db/core/page-statement.ts';
import { inBox } from '../../../api/db/core/transaction.ts';
import { createShortPages } from '../../../api/db/short-pages.ts';
import type { ShortPages } from '../../../api/db/short-pages.ts';
import { grantListing } from '../../../api/db/user/grant.ts';
import type { StoredGrant } from '../../../api/db/user/grant.ts';
import { boxDatabase } from '../../resources/box-database.ts';
import type { BoxDatabase } from '../../resources/box-database.ts';

describe('grants that are read together', () => {
  let database: BoxDatabase;
  let pages: ShortPages;

  before(async () => {
    database = await boxDatabase();
    pages = createShortPages(database.pool, Date.now);
    await database.owner.query(`INSERT INTO boxgate.box (box) VALUES ('empty'), ('many'), ('hidden')`);
    await database.owner.query(
      `INSERT INTO boxgate.user (box, id, email, email_key, password, pepper)
       SELECT b.box, n, n || b.box, n || b.box, '', '' FROM boxgate.box b, generate_series(1, 6000) n;`,
    );
    await database.owner.query(
      `INSERT INTO boxgate.resource (box, kind, id, version, sessions_from, body)
       SELECT b.box, 'Client', c, 5, 5, '{}' FROM boxgate.box b, (VALUES ('app'), ('other-app')) v (c)`,
    );
    await consent('default', 'app', 1, 30);
    await consent('default', 'other-app', 25, 40);
    await consent('default', 'deleted', 1, 40);
    await consent('default', BUILT_IN_CLIENTS[0], 3, 4);
    await consent('other', 'app', 1, 5);
    await database.owner.query(
      `INSERT INTO boxgate.consent_target (box, user_id, client, scopes, version, created_at, target, redirect_uri, audience)
       SELECT c.box, c.user_id, c.client, '{read}', v, now(), sha256(v::text::bytea), 'https://' || c.box || '.example/' || v,
              CASE v WHEN 5 THEN 'https://api.example' END
         FROM boxgate.consent c, generate_series(4, 6) v WHERE c.user_id % 3 = 0`,
    );
  });
  after(() => database.end());

  /** Stores consents of users to a client, under a version. */
  async function consent(box: string, client: string, from: number, to: number, version = 5): Promise<void> {
    await database.owner.query(
      `INSERT INTO boxgate.consent (box, user_id, client, scopes, version, created_at)
       SELECT $1, n, $2, ARRAY['read', 'of ' || n], $5, now() FROM generate_series($3::integer, $4::integer) n`,
      [box, client, from, to, version],
    );
  }

  function alone(box: string, limit: number, from?: readonly string[]): Promise<CountedPage<StoredGrant>> {
    return inBox(database.pool, box, 'snapshot', async (connection) => {
      const span = { limit, offset: 0, descending: false, backward: false, from };
      const page = await grantListing.read(connection, { box, filters: {} }, grantListing.orders['id'] ?? [], span);
      return { ...page, total: await grantListing.count(connection, { box, filters: {} }) };
    });
  }

  const read = (box: string, limit = 10, after?: readonly string[]) =>
    pages.grants({ box, limit, after, isCounted: true });

  /** Deletes consents of the box `many`. */
  async function forget(condition: string): Promise<void> {
    await database.owner.query(`DELETE FROM boxgate.consent WHERE box = 'many' AND ${condition}`);
  }

  it('are those that a transaction of the box reads, on each page and with its total', async () => {
    const keys = [undefined, ['3', 'app'], ['3', 'zzz'], ['12', 'deleted'], ['25', 'app'], ['39', 'a"\\']];
    const searches = ['default', 'other', 'empty', 'none'].flatMap((box) =>
      [1, 10, 100].flatMap((limit) => keys.map((after) => ({ box, limit, after }))),
    );
    const found = await Promise.all(searches.map((search) => pages.grants({ ...search, isCounted: true })));
    for (const [nth, { box, limit, after }] of searches.entries()) {
      const expected = await alone(box, limit, after);
      // Beyond the last grant no row has the total.
      const isBeyond = expected.rows.length === 0 && after !== undefined;
      expect(found[nth], JSON.stringify(searches[nth])).to.deep.equal(isBeyond ? 'large' : expected);
    }
    const page = await read('default', 100);
    expect(page).to.include({ total: 48 });
    const shown = page === 'large' ? [] : page.rows;
    expect(shown.filter(({ user }) => user === 3).map(({ client, targets }) => [client, targets.length])).to.deep.equal(
      [
        ['app', 2],
        [BUILT_IN_CLIENTS[0], 3],
      ],
    );
    expect(shown.map(({ client }) => client)).not.to.include('deleted');
  });

  it('show no grant to an earlier client, whatever lies between them, and count none', async () => {
    await consent('many', 'app', 1, 40);
    await consent('many', 'app', 41, 140, 4);
    await consent('many', 'app', 141, 145);
    expect(await read('many', 100)).to.deep.equal(await alone('many', 100));
    expect(await read('many', 10, ['40', 'app'])).to.deep.equal(await alone('many', 10, ['40', 'app']));
    expect(await read('many')).to.include({ total: 45 });
    // One hidden grant more than a page passes over.
    await consent('many', 'other-app', 50, 56, 4);
    expect(await read('many', 10, ['40', 'app'])).to.equal('large');
    expect(await read('many', 10, ['41', 'app'])).to.deep.equal(await alone('many', 10, ['41', 'app']));
    await forget('user_id <= 140');
    await consent('many', 'deleted', 1, 111);
    await forget('user_id > 140');
    expect(await read('many')).to.deep.equal({ rows: [], more: false, total: 0 });
    await consent('many', 'deleted', 112, 112);
    expect(await read('many')).to.equal('large');
    await forget('true');
  });

  it('leave a box to a transaction that has consents to more than a hundred clients', async () => {
    for (let nth = 0; nth < 100; nth += 1) await consent('many', `c-${String(nth)}`, 1, 1);
    expect(await read('many')).to.include({ total: 0 });
    await consent('many', 'app', 1, 1);
    expect(await read('many')).to.equal('large');
    await forget('true');
  });

  /** Entries of the indexes of consents that a statement with eight pages of a box reads, and its total. */
  async function readEight(box: string, most: number): Promise<{ readonly entries: number; readonly total: number }> {
    const connection = await database.owner.connect();
    const entries = async (): Promise<number> => {
      const { rows } = await connection.query<{ entries: number }>(
        `SELECT sum(pg_stat_get_xact_tuples_returned(x.indexrelid))::integer AS entries
           FROM pg_index x WHERE x.indrelid = 'boxgate.consent'::regclass`,
      );
      return rows[0]?.entries ?? 0;
    };
    try {
      await connection.query('BEGIN');
      const before = await entries();
      const { rows } = await connection.query<{ total: string }>(
        `SELECT total FROM boxgate.grant_pages(array_fill($2::text, '{8}'), array_fill(0::bigint, '{8}'), array_fill(''::text, '{8}'),
                                               array_fill(10, '{8}'), ARRAY[1,1,1,1,1,1,1,$1::integer], '{boxgate.ui}')`,
        [most, box],
      );
      const found = { entries: (await entries()) - before, total: Number(rows[0]?.total) };
      await connection.query('ROLLBACK');
      return found;
    } finally {
      connection.release();
    }
  }

  it('read no more rows than they show, and count a box once for all of its pages, within a bound', async () => {
    await consent('many', 'app', 1, 6_000);
    await database.owner.query('VACUUM boxgate.consent');
    // Beside the rows are entries of some that were deleted.
    const shown = await readEight('many', 1);
    expect(shown.entries).to.be.within(8 * 11, 4 * 8 * 11);
    const counted = await readEight('many', 10_000);
    expect(counted).to.include({ total: 6_000 });
    expect(counted.entries).to.be.within(6_000, 6_000 + 4 * 8 * 11);
    await forget('true');
    // All but the last are of an earlier client; of those, a count of a hundred reads few.
    await consent('hidden', 'app', 1, 5_990, 4);
    await consent('hidden', 'app', 5_991, 6_000);
    const hidden = await readEight('hidden', 100);
    expect(hidden).to.include({ total: 101 });
    expect(hidden.entries).to.be.below(1_000);
  });

  it('have the same state as long as no grant is removed or hidden, whoever gives one', async () => {
    const state = async (): Promise<string | undefined> => {
      const { rows } = await database.owner.query<{ state: string }>(
        `SELECT state FROM boxgate.grant_pages('{many}', '{0}', '{""}', '{10}', '{0}', '{}') LIMIT 1`,
      );
      return rows[0]?.state;
    };
    await consent('many', 'app', 1, 20);
    const first = await state();
    await consent('many', 'other-app', 1, 20);
    await consent('other', 'app', 100, 110);
    await database.owner.query(`DELETE FROM boxgate.consent WHERE box = 'other' AND user_id >= 100`);
    expect(await state()).to.equal(first);
    await forget('user_id = 3');
    expect(await state()).not.to.equal(first);
    await forget('true');
  });

  it('count up to 10,000 grants, and tell no total of more until one is removed, a user, or a client', async () => {
    const total = async (pageOf = pages): Promise<unknown> => {
      const page = await pageOf.grants({ box: 'many', limit: 10, after: undefined, isCounted: true });
      return page === 'large' ? page : page.total;
    };
    await consent('many', 'app', 1, 1_000);
    expect(await total()).to.equal(1_000);
    await consent('many', 'app', 1_001, 6_000);
    await consent('many', 'other-app', 1, 4_000);
    expect(await total()).to.equal(10_000);
    await consent('many', 'other-app', 4_001, 4_002);
    expect([await total(), await total()]).to.deep.equal([undefined, undefined]);
    await forget('user_id = 77');
    expect(await total()).to.equal(10_000);
    await consent('many', 'app', 77, 77);
    expect(await total()).to.equal(undefined);
    await database.owner.query(`DELETE FROM boxgate.user WHERE box = 'many' AND id = 78`);
    expect(await total()).to.equal(9_999);
    await consent('many', 'other-app', 4_003, 4_010);
    expect(await total()).to.equal(undefined);
    // As a client is deleted: under a new config version.
    await database.owner.query(
      `WITH changed AS (UPDATE boxgate.box SET config_version = config_version + 1 WHERE box = 'many')
       DELETE FROM boxgate.resource WHERE box = 'many' AND id = 'other-app'`,
    );
    expect(await total()).to.equal(5_999);
    // 14,000 hidden ones, then more than twice the highest total.
    await consent('many', 'deleted', 79, 6_000);
    await consent('many', 'another', 79, 4_147);
    expect([await total(), await total(createShortPages(database.pool, Date.now))]).to.deep.equal([5_999, 5_999]);
    await consent('many', 'another', 4_148, 4_200);
    expect(await total()).to.equal('large');
    await forget('true');
  });

  it('leave a page to a transaction whose grants have many or large targets, and no shorter one of the list', async () => {
    await consent('many', 'app', 1, 40);
    const target = async (user: number, count: number, uri: string) =>
      database.owner.query(
        `INSERT INTO boxgate.consent_target (box, user_id, client, scopes, version, created_at, target, redirect_uri)
         SELECT 'many', $1, 'app', '{}', 5, now(), sha256((n || $3::text)::bytea), $3 FROM generate_series(1, $2::integer) n`,
        [user, count, uri],
      );
    await target(20, 50, 'https://many.example');
    expect(await read('many', 10)).to.include({ total: 40 });
    expect(await read('many', 10, ['12', 'app'])).to.include({ total: 40 });
    await target(20, 1, 'https://one-more.example');
    expect(await read('many', 10, ['12', 'app'])).to.equal('large');
    expect(await read('many', 10)).to.include({ total: 40 });
    await target(5, 12, `https://large.example/${'u'.repeat(1_300)}`);
    expect(await read('many', 10)).to.equal('large');
    expect(await read('many', 3)).to.include({ total: 40 });
  });
});
