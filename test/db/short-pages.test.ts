import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { CountedPage, ShortPage, PageOfBox } from '../../api/db/core/page-statement.ts';
import type { Listing } from '../../api/db/core/listing.ts';
import { createShortPages, longestShortPage } from '../../api/db/short-pages.ts';
import type { ShortPages } from '../../api/db/short-pages.ts';
import { inBox } from '../../api/db/core/transaction.ts';
import { resourceListing } from '../../api/db/resource/search.ts';
import { groupListing } from '../../api/db/user/group-search.ts';
import { userListing } from '../../api/db/user/user-search.ts';
import { boxDatabase } from '../resources/box-database.ts';
import type { BoxDatabase } from '../resources/box-database.ts';

/** Records of each kind in box `default`; box `other` has a tenth. */
const COUNT = 130;

/** Text that Postgres cannot compress; twice as much of it does not fit into a row. */
const random = randomBytes(900).toString('base64url');

const limits = [1, 10, 12, 13, 14, longestShortPage];
const boxes = ['default', 'other', 'empty', 'none'];

describe('pages that are read together', () => {
  let database: BoxDatabase;
  let pages: ShortPages;

  before(async () => {
    database = await boxDatabase();
    pages = createShortPages(database.pool, Date.now);
    await database.owner.query(`INSERT INTO boxgate.box (box) VALUES ('empty'), ('large')`);
    await database.owner.query(
      `INSERT INTO boxgate.resource (box, kind, id, version, body, secrets, owner_cluster, owner_name, owner_uid)
       SELECT b.box, k.kind, 'r-' || n, n, jsonb_build_object('description', b.box || ' ' || k.kind || ' ' || n),
              CASE n % 2 WHEN 0 THEN '{}' ELSE '{secret}'::text[] END,
              CASE n % 3 WHEN 0 THEN 'cluster' END, CASE n % 3 WHEN 0 THEN 'shop/r' END, CASE n % 6 WHEN 0 THEN 'uid' END
         FROM (VALUES ('default', $1::integer), ('other', $1 / 10)) b (box, count),
              (VALUES ('Client'), ('AccessPolicy')) k (kind), generate_series(1, b.count) n`,
      [COUNT],
    );
    await database.owner.query(
      `INSERT INTO boxgate.user (box, id, email, email_key, email_verified, password, pepper, data, status)
       SELECT b.box, n, e, e, CASE n % 3 WHEN 0 THEN true WHEN 1 THEN false END, 'hash of ' || e, 'pepper',
              CASE n % 4 WHEN 0 THEN '{"n":' || n || '}' END, CASE n % 2 WHEN 0 THEN 'inactive' END
         FROM (VALUES ('default', $1::integer), ('other', $1 / 10)) b (box, count), generate_series(1, b.count) n,
              LATERAL (SELECT n || '@' || b.box || '.example') t (e)`,
      [COUNT],
    );
    await database.owner.query(
      `INSERT INTO boxgate.group (box, id, name, description, version, owner_cluster, owner_name)
       SELECT b.box, n, b.box || '-' || n, CASE n % 2 WHEN 0 THEN 'description ' || n END, n,
              CASE n % 3 WHEN 0 THEN 'cluster' END, CASE n % 3 WHEN 0 THEN 'shop/r' END
         FROM (VALUES ('default', $1::integer), ('other', $1 / 10)) b (box, count), generate_series(1, b.count) n`,
      [COUNT],
    );
    await database.owner.query(`
      INSERT INTO boxgate.group_member (box, user_id, group_id)
      SELECT u.box, u.id, g.id FROM boxgate.user u JOIN boxgate.group g USING (box) WHERE u.id % 10 = 0 AND g.id < 4`);
  });
  after(() => database.end());

  /** Reads a page, and its total, in a transaction of the box. */
  function alone<Row, Filters>(
    listing: Listing<Row, Filters>,
    { box, after, limit }: PageOfBox,
  ): Promise<CountedPage<Row>> {
    return inBox(database.pool, box, 'snapshot', async (connection) => {
      const span = { limit, offset: 0, descending: false, backward: false, from: after };
      const page = await listing.read(connection, { box, filters: {} }, listing.orders['id'] ?? [], span);
      return { ...page, total: await listing.count(connection, { box, filters: {} }) };
    });
  }

  /** Returns the page of a read that is not left to a transaction. */
  function pageIn<Row>(result: ShortPage<Row> | undefined): CountedPage<Row> | undefined {
    return result === 'large' ? undefined : result;
  }

  async function expectSame<Row, Filters>(
    listing: Listing<Row, Filters>,
    read: (search: PageOfBox) => Promise<ShortPage<Row>>,
    places: readonly string[],
  ): Promise<void> {
    const searches = [undefined, ...places].flatMap((place) =>
      boxes.flatMap((box) => limits.map((limit) => ({ box, limit, after: place === undefined ? place : [place] }))),
    );
    const found = await Promise.all(searches.map(read));
    for (const [nth, search] of searches.entries()) {
      const page = await alone(listing, search);
      const expected = search.after !== undefined && page.rows.length === 0 ? 'large' : page;
      expect(found[nth], JSON.stringify(search)).to.deep.equal(expected);
    }
    const ofOther = pageIn(found[searches.findIndex(({ box, limit }) => box === 'other' && limit === 12)]);
    expect([ofOther?.rows.length, ofOther?.more, ofOther?.total]).to.deep.equal([12, true, 13]);
  }

  it('are the pages that a transaction of the box reads, whatever boxes share a statement', async () => {
    // In a list, between two of its rows, the last of one box, and after all.
    const ids = ['r-10', 'r-100x', 'r-13', 'r-99', 'z'];
    const numbers = ['1', '10', '13', '129', '130', '999999999999999'];
    for (const kind of ['Client', 'AccessPolicy'] as const) {
      await expectSame(resourceListing(kind), (search) => pages.resources({ ...search, kind }), ids);
    }
    await expectSame(userListing, pages.users, numbers);
    await expectSame(groupListing, pages.groups, numbers);
    const tenth = pageIn(await pages.users({ box: 'default', limit: 10, after: undefined }))?.rows[9];
    expect(tenth?.groups.map(({ name }) => name)).to.deep.equal(['default-1', 'default-2', 'default-3']);
    expect(pageIn(await pages.groups({ box: 'default', limit: 10, after: undefined }))?.rows[0]?.members).to.equal(
      COUNT / 10,
    );
  });

  it('are as the last change before the request left them, with its total', async () => {
    for (let round = 0; round < 5; round += 1) {
      await database.owner.query(
        `INSERT INTO boxgate.resource (box, kind, id, version, body) VALUES ('empty', 'Client', 'c-' || $1, 1, '{}')`,
        [round],
      );
      const added = pageIn(await pages.resources({ box: 'empty', kind: 'Client', limit: 100, after: undefined }));
      expect([added?.rows.length, added?.total]).to.deep.equal([1, 1]);
      await database.owner.query(`DELETE FROM boxgate.resource WHERE box = 'empty'`);
      const removed = pageIn(await pages.resources({ box: 'empty', kind: 'Client', limit: 100, after: undefined }));
      expect([removed?.rows.length, removed?.total]).to.deep.equal([0, 0]);
    }
  });

  it('R-53: leave a page to a transaction if it has a large record, is large, or counts many memberships', async () => {
    const content = [
      ['large', random + random],
      ['compressed', 'é'.repeat(100_000)],
    ] as const;
    for (const [id, text] of content) {
      await database.owner.query(
        `INSERT INTO boxgate.resource (box, kind, id, version, body) VALUES ('large', 'Client', $1, 1, jsonb_build_object('d', $2::text))`,
        [id, text],
      );
      await database.owner.query(
        `INSERT INTO boxgate.user (box, id, email, email_key, password, pepper, data) VALUES ('large', 1, $1, $1, '', '', $2)`,
        [id, text],
      );
      // One row without content tells the API, however many rows the page has.
      const { rows } = await database.owner.query<{ body: string | null }>(
        `SELECT body FROM boxgate.resources_after('{large}', '{Client}', '{""}', '{10}')`,
      );
      expect(rows).to.deep.equal([{ body: null }]);
      expect(await pages.resources({ box: 'large', kind: 'Client', limit: 10, after: undefined }), id).to.equal(
        'large',
      );
      const users = await database.owner.query<{ data: string | null }>(
        `SELECT data FROM boxgate.users_after('{large}', '{0}', '{10}')`,
      );
      expect(users.rows).to.deep.equal([{ data: null }]);
      expect(await pages.users({ box: 'large', limit: 10, after: undefined }), id).to.equal('large');
      await database.owner.query(`DELETE FROM boxgate.resource WHERE box = 'large'`);
      await database.owner.query(`DELETE FROM boxgate.user WHERE box = 'large'`);
    }
  });

  it('R-53: leave a page of more than 32 KB to a transaction, and no shorter one of the same list', async () => {
    await database.owner.query(
      `INSERT INTO boxgate.resource (box, kind, id, version, body)
       SELECT 'large', 'Client', 'r-' || n, 1, jsonb_build_object('d', $1::text) FROM generate_series(10, 49) n`,
      [random],
    );
    await database.owner.query(
      `INSERT INTO boxgate.user (box, id, email, email_key, password, pepper, data)
       SELECT 'large', n, n, n, '', '', $1 FROM generate_series(1, 40) n`,
      [random],
    );
    const resources = async (limit: number) =>
      pageIn(await pages.resources({ box: 'large', kind: 'Client', limit, after: undefined }));
    const users = async (limit: number) => pageIn(await pages.users({ box: 'large', limit, after: undefined }));
    for (const read of [resources, users]) {
      const found = await Promise.all([read(10), read(40)]);
      expect(found.map((page) => page?.rows.length)).to.deep.equal([10, undefined]);
    }
  });

  it('R-53: leave a page to a transaction if a user is in many groups, or a group has many members', async () => {
    await database.owner.query(`
      INSERT INTO boxgate.group (box, id, name, version) SELECT 'large', n, 'g' || n, 1 FROM generate_series(1, 60) n;
      INSERT INTO boxgate.user (box, id, email, email_key, password, pepper)
      SELECT 'large', n, n, n, '', '' FROM generate_series(41, 250) n;
      INSERT INTO boxgate.group_member (box, user_id, group_id) SELECT 'large', n, 1 FROM generate_series(1, 200) n;
      INSERT INTO boxgate.group_member (box, user_id, group_id) SELECT 'large', 2, n FROM generate_series(2, 50) n`);
    const shown = async () => {
      const [users, groups] = await Promise.all([
        pages.users({ box: 'large', limit: 10, after: undefined }),
        pages.groups({ box: 'large', limit: 10, after: undefined }),
      ]);
      return [pageIn(users)?.rows[1]?.groups.length, pageIn(groups)?.rows[0]?.members];
    };
    expect(await shown()).to.deep.equal([50, 200]);
    await database.owner.query(`INSERT INTO boxgate.group_member (box, user_id, group_id) VALUES ('large', 2, 51)`);
    expect(await shown()).to.deep.equal([undefined, 200]);
    await database.owner.query(`INSERT INTO boxgate.group_member (box, user_id, group_id) VALUES ('large', 201, 1)`);
    expect(await shown()).to.deep.equal([undefined, undefined]);
    const description = 'é'.repeat(3_000);
    await database.owner.query(`DELETE FROM boxgate.group_member WHERE box = 'large'`);
    expect(await shown()).to.deep.equal([0, 0]);
    await database.owner.query(`UPDATE boxgate.group SET description = $1 WHERE box = 'large' AND id = 3`, [
      description,
    ]);
    expect(await shown()).to.deep.equal([0, undefined]);
  });
});
