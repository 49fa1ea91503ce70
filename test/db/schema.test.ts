import { expect } from 'chai';
import { readFile, writeFile } from 'node:fs/promises';
import pg from 'pg';
import { migrate } from '../../api/db/core/migrate.ts';
import { freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { schemaText } from './schema-text.ts';

const committed = new URL('schema.txt', import.meta.url);
const apiRole = 'boxgate_api';

describe('the schema', () => {
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

  it('is the one of schema.txt, which `make schema` writes and a person reviews', async () => {
    const found = await schemaText(owner, apiRole);
    if (process.env['BOXGATE_WRITE_SCHEMA'] !== undefined) await writeFile(committed, found);
    expect(found).to.equal(await readFile(committed, 'utf8'));
  });

  it('does not change when it is migrated once more', async () => {
    const before = await schemaText(owner, apiRole);
    expect(await migrate(database.ownerUrl, apiRole)).to.deep.include({ applied: [] });
    expect(await schemaText(owner, apiRole)).to.equal(before);
  });

  it('has every partition made like its table: columns, constraints and indexes', async () => {
    const { rows } = await owner.query<{ shapes: string }>(
      `SELECT count(DISTINCT (
                SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || a.attnotnull, ',' ORDER BY a.attnum)
                  FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0)
              || (SELECT string_agg(pg_get_constraintdef(k.oid), ',' ORDER BY pg_get_constraintdef(k.oid))
                    FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype IN ('c', 'p'))
              || (SELECT string_agg(d.index, ',' ORDER BY d.index)
                    FROM pg_index i,
                          LATERAL (SELECT regexp_replace(pg_get_indexdef(i.indexrelid), '^.* USING', '')) AS d (index)
                    WHERE i.indrelid = c.oid)) AS shapes
         FROM pg_class c
        WHERE c.oid = 'boxgate.session'::regclass
           OR c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'boxgate.session'::regclass)`,
    );
    expect(rows).to.deep.equal([{ shapes: '1' }]);
  });

  /** Tables that do not belong to a box, each with its reason. */
  const ofNoBox: Readonly<Record<string, string>> = {
    schema_version: 'what the whole database has been through',
    operator_epoch: 'the fence between leaders of a cluster, which declares many boxes',
    box_host: 'which box a host leads to: asked before any box is known',
    cluster_settings: 'what the API knows of a cluster, which declares many boxes',
    identity: 'which database this is',
    database: 'the databases of the installation',
    placement: 'which database a box is in: asked by those that do not have the box',
    lease: 'work on the whole database that one replica does',
    bucket: 'the partitions of sessions',
    audit_day: 'the partitions of the audit trail',
  };

  it('K-07 begins every primary key with the box, and has row-level security on every table of a box', async () => {
    const { rows } = await owner.query<{ table: string; first: string; secured: boolean; own: string }>(
      `SELECT c.relname AS table, c.relrowsecurity AS secured,
              (SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
                WHERE i.indrelid = c.oid AND i.indisprimary) AS first,
              (SELECT string_agg(p.qual, ' or ') FROM pg_policies p
                WHERE p.schemaname = 'boxgate' AND p.tablename = c.relname) AS own
         FROM pg_class c
        WHERE c.relnamespace = 'boxgate'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition`,
    );
    const own = "(box = current_setting('boxgate.box'::text, true))";
    const ofBoxes = rows.filter(({ table }) => !(table in ofNoBox));
    expect(ofBoxes.map(({ table, ...rest }) => [table, rest])).to.deep.equal(
      ofBoxes.map(({ table }) => [table, { secured: true, first: 'box', own }]),
    );
    expect(rows.map(({ table }) => table)).to.include.members(Object.keys(ofNoBox));
    expect(ofBoxes.length).to.be.at.least(7);
  });

  it('pins the search path of every function that runs as the owner', async () => {
    const { rows } = await owner.query(
      `SELECT proname FROM pg_proc WHERE pronamespace = 'boxgate'::regnamespace AND prosecdef
          AND NOT 'search_path=boxgate, pg_temp' = ANY (COALESCE(proconfig, '{}'))`,
    );
    expect(rows).to.deep.equal([]);
  });
});
