import { expect } from 'chai';
import pg from 'pg';
import { freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';

/** Tables of the installation, which every database has. */
const ofEveryDatabase = [
  ...['audit_day', 'bucket', 'cluster_settings', 'database', 'identity', 'lease', 'operator_epoch', 'schema_version'],
];

/** The only unique key of a box that does not begin with the box: a host leads to its box before that is known. */
const ofHome = ['boxgate.box_host_pkey'];

/** Words by which a statement would decide by the catalog of one server, or by the place of a row in it. */
const byCatalog = /\b(ctid|xmin|xmax|pg_inherits|pg_class|pg_stat\w*|tableoid|reltuples)\b/;

/** The functions that read sizes: only to leave partitions without rows out of a plan. */
const bySize = ['filled_buckets', 'filled_days'];

describe('the schema, so that boxes can be placed on several databases', () => {
  let database: TestDatabase;
  let owner: pg.Pool;

  before(async () => {
    database = await freshDatabase();
    owner = new pg.Pool({ connectionString: database.ownerUrl });
  });
  after(async () => {
    await owner.end();
    await database.drop();
  });

  async function rowsOf<Row extends pg.QueryResultRow>(text: string): Promise<readonly Row[]> {
    return (await owner.query<Row>(text)).rows;
  }

  /** The tables of the schema without their partitions. */
  const tables = `SELECT c.oid, c.relname AS name FROM pg_class c
    WHERE c.relnamespace = 'boxgate'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition`;

  /** The first column of an array of column numbers, by name and type. */
  const first = (table: string, columns: string): string =>
    `(SELECT a.attname || ' ' || format_type(a.atttypid, NULL) FROM pg_attribute a
       WHERE a.attrelid = ${table} AND a.attnum = (${columns}))`;

  it('has tables of two kinds: of a box, and of the installation', async () => {
    const found = await rowsOf<{ name: string }>(
      `SELECT t.name FROM (${tables}) t WHERE NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attname = 'box')
        ORDER BY t.name COLLATE "C"`,
    );
    expect(found.map(({ name }) => name)).to.deep.equal(ofEveryDatabase);
  });

  it('begins every primary key and unique index of a box with the box, under the same name and type', async () => {
    const found = await rowsOf<{ index: string; table: string; first: string }>(
      `SELECT i.indexrelid::regclass::text AS index, t.name AS table, ${first('t.oid', 'i.indkey[0]')} AS first
         FROM (${tables}) t JOIN pg_index i ON i.indrelid = t.oid AND i.indisunique ORDER BY 1`,
    );
    const others = found.filter(({ table, first }) => first !== 'box text' && !ofEveryDatabase.includes(table));
    expect(others.map(({ index }) => index)).to.deep.equal(ofHome);
    expect(found.length - others.length).to.be.greaterThan(30);
  });

  it('begins every foreign key with the box on both sides, so that none leaves a box', async () => {
    const found = await rowsOf<{ name: string; from: string; to: string }>(
      `SELECT k.conname AS name, ${first('k.conrelid', 'k.conkey[1]')} AS from, ${first('k.confrelid', 'k.confkey[1]')} AS to
         FROM pg_constraint k WHERE k.contype = 'f' AND k.connamespace = 'boxgate'::regnamespace`,
    );
    expect(found.filter(({ from, to }) => from !== 'box text' || to !== 'box text')).to.deep.equal([]);
    expect(found.length).to.be.greaterThan(20);
  });

  it('copies every table of a box when the box is moved, each after those that it refers to', async () => {
    const ofBoxes = await rowsOf<{ name: string; refers: string[] }>(
      `SELECT t.name, ARRAY(SELECT r.relname::text FROM pg_constraint k JOIN pg_class r ON r.oid = k.confrelid
                             WHERE k.conrelid = t.oid AND k.contype = 'f') AS refers
         FROM (${tables}) t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attname = 'box'`,
    );
    const [{ copied } = { copied: [] }] = await rowsOf<{ copied: string[] }>(
      'SELECT boxgate.tables_of_box() AS copied',
    );
    // The directory, and the hosts of all boxes, are of the home database.
    expect([...copied, 'box_host', 'placement']).to.have.members(ofBoxes.map(({ name }) => name));
    for (const { name, refers } of ofBoxes.filter((table) => copied.includes(table.name))) {
      expect(copied.slice(0, copied.indexOf(name)), name).to.include.members(refers.filter((table) => table !== name));
    }
  });

  it('has no sequence, and no column that counts by itself', async () => {
    const found = await rowsOf(
      `SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'boxgate'::regnamespace AND c.relkind = 'S'`,
    );
    expect(found).to.deep.equal([]);
  });

  it('has no trigger that runs on an insert: a copy of a box would count twice', async () => {
    const found = await rowsOf<{ name: string }>(
      `SELECT g.tgname AS name FROM pg_trigger g JOIN (${tables}) t ON t.oid = g.tgrelid
        WHERE NOT g.tgisinternal AND g.tgtype & 4 <> 0`,
    );
    expect(found.map(({ name }) => name)).to.deep.equal([]);
  });

  it('has no function that takes or returns the row of a table', async () => {
    const found = await rowsOf<{ name: string }>(
      `SELECT DISTINCT p.proname AS name
         FROM pg_proc p CROSS JOIN LATERAL unnest(p.prorettype || coalesce(p.proallargtypes, p.proargtypes::oid[])) AS u (oid)
         JOIN pg_type y ON y.oid = u.oid LEFT JOIN pg_type e ON e.oid = y.typelem
        WHERE p.pronamespace = 'boxgate'::regnamespace AND (y.typrelid <> 0 OR e.typrelid <> 0)`,
    );
    expect(found).to.deep.equal([]);
  });

  it('decides nothing in a function by the catalog, by the place of a row, or by a digest of content', async () => {
    const found = await rowsOf<{ name: string; text: string }>(
      `SELECT p.proname AS name, p.prosrc AS text FROM pg_proc p WHERE p.pronamespace = 'boxgate'::regnamespace`,
    );
    expect(found.length).to.be.greaterThan(30);
    expect(found.filter(({ text }) => byCatalog.test(text)).map(({ name }) => name)).to.deep.equal([]);
    expect(found.filter(({ text }) => /\b(md5|sha\d+|digest)\(/.test(text)).map(({ name }) => name)).to.deep.equal([]);
    const measured = found.filter(({ text }) => /\bpg_\w*size\b|\bto_regclass\b/.test(text));
    expect(measured.map(({ name }) => name).toSorted()).to.deep.equal(bySize);
  });

  it('has a row for every partition, and for each day of sessions one function and no other', async () => {
    for (const [table, list, column] of [
      ['session', 'bucket', 'bucket'],
      ['audit_event', 'audit_day', 'day'],
    ] as const) {
      const listed = await rowsOf<{ name: string }>(
        `SELECT '${table}_' || ${column} AS name FROM boxgate.${list} ORDER BY 1`,
      );
      const partitions = await rowsOf<{ name: string }>(
        `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
          WHERE i.inhparent = 'boxgate.${table}'::regclass ORDER BY 1`,
      );
      expect(listed).to.deep.equal(partitions).and.to.not.be.empty;
    }
    const days = await rowsOf(
      `SELECT 'check_sessions_' || bucket AS name FROM boxgate.bucket WHERE bucket < 1000000 ORDER BY 1`,
    );
    const functions = await rowsOf(
      `SELECT proname AS name FROM pg_proc WHERE pronamespace = 'boxgate'::regnamespace AND proname ~ '[0-9]$' ORDER BY 1`,
    );
    expect(functions).to.deep.equal(days);
  });
});
