import { expect } from 'chai';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { wantedBuckets } from '../../../api/db/session/bucket.ts';
import { appliedSchema, migrate } from '../../../api/db/core/migrate.ts';
import { eventually } from '../../support/eventually.ts';
import { asOwner, bareDatabase, freshDatabase } from '../../support/postgres.ts';
import type { TestDatabase } from '../../support/postgres.ts';
import { schemaText } from '../schema-text.ts';

const apiRole = 'boxgate_api';

describe('a migration run', () => {
  let database: TestDatabase;
  let owner: pg.Pool;
  let folder: string | undefined;

  beforeEach(async () => {
    database = await bareDatabase();
    owner = new pg.Pool({ connectionString: database.ownerUrl });
  });
  afterEach(async () => {
    if (folder !== undefined) await rm(folder, { recursive: true });
    folder = undefined;
    await owner.end();
    await database.drop();
  });

  function run(role = apiRole): Promise<string> {
    return migrate(database.ownerUrl, role).then(
      ({ applied, schema }) => `schema ${String(schema)}, applied ${String(applied.length)}`,
      (error: unknown) => (error instanceof Error ? error.message : 'no error'),
    );
  }

  /** Returns a folder with schema.sql and later files, each with its text. */
  async function laterFiles(files: Readonly<Record<string, string>>): Promise<URL> {
    folder = await mkdtemp(path.join(tmpdir(), 'boxgate-migrations-'));
    await copyFile('api/db/schema.sql', path.join(folder, 'schema.sql'));
    for (const [name, sql] of Object.entries(files)) await writeFile(path.join(folder, name), sql);
    return pathToFileURL(`${folder}/`);
  }

  it('creates the schema once, and says what it did', async () => {
    expect(await run()).to.equal('schema 1, applied 1');
    expect(await run()).to.equal('schema 1, applied 0');
    expect(await appliedSchema(owner)).to.deep.equal({ number: 1, servesFrom: 0 });
  });

  it('applies the numbered files that are missing, in their order', async () => {
    await run();
    const later = await laterFiles({
      '0003_two_from_0002.sql': 'ALTER TABLE boxgate.note ADD COLUMN two integer',
      '0002_one.sql': 'CREATE TABLE boxgate.note (one integer)',
    });
    const applied = ['0002_one.sql', '0003_two_from_0002.sql'];
    expect(await migrate(database.ownerUrl, apiRole, false, later)).to.deep.equal({ applied, schema: 3 });
    expect(await appliedSchema(owner)).to.deep.equal({ number: 3, servesFrom: 2 });
    expect((await owner.query('SELECT one, two FROM boxgate.note')).rows).to.deep.equal([]);
  });

  it('refuses files with a gap in their numbers', async () => {
    const later = await laterFiles({ '0003_a.sql': 'SELECT' });
    const said = await migrate(database.ownerUrl, apiRole, false, later).catch(String);
    expect(said).to.equal('Error: migration 0003_a.sql is out of order');
  });

  it('does its work once when many run at the same time', async () => {
    const said = await Promise.all([run(), run(), run(), run()]);
    expect(said.toSorted()).to.deep.equal([
      ...Array.from({ length: 3 }, () => 'schema 1, applied 0'),
      'schema 1, applied 1',
    ]);
  });

  it('waits for the one before it', async () => {
    const other = await owner.connect();
    await other.query("SELECT pg_advisory_lock(hashtext('boxgate.migrate'))");
    const said = run();
    await eventually('the run waits', async () => {
      const { rows } = await owner.query(
        `SELECT FROM pg_locks JOIN pg_database d ON d.oid = database
          WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted`,
      );
      return rows.length === 1;
    });
    expect((await owner.query("SELECT to_regnamespace('boxgate') AS schema")).rows).to.deep.equal([{ schema: null }]);
    await other.query("SELECT pg_advisory_unlock(hashtext('boxgate.migrate'))");
    other.release();
    expect(await said).to.include('applied');
  });

  it('waits for the first buckets that an API makes just now', async () => {
    await run();
    const api = await owner.connect();
    await api.query('BEGIN');
    await api.query('SELECT boxgate.make_buckets($1)', [wantedBuckets(new Date())]);
    const said = run();
    await runWaits();
    await api.query('COMMIT');
    api.release();
    expect(await said).to.include('applied 0');
  });

  async function runWaits(): Promise<void> {
    await eventually('the run waits', async () => {
      const { rows } = await owner.query(
        `SELECT FROM pg_stat_activity WHERE application_name = 'boxgate-migrate' AND datname = current_database()
            AND wait_event_type = 'Lock'`,
      );
      return rows.length === 1;
    });
  }

  it('refuses a database whose applied version was changed since, and names it', async () => {
    await run();
    await owner.query("UPDATE boxgate.schema_version SET hash = 'another'");
    expect(await run()).to.equal(
      'Migration schema.sql was changed after this database applied it: restore its text, or use an empty database',
    );
  });

  it('refuses a database that is newer than this release, unless it may leave it', async () => {
    await run();
    await owner.query("INSERT INTO boxgate.schema_version (number, name, hash) VALUES (2, 'a', 'b'), (3, 'c', 'd')");
    expect(await run()).to.equal('The database is at schema 3, newer than this release (1)');
    expect(await migrate(database.ownerUrl, apiRole, true)).to.deep.equal({ applied: [], schema: 3 });
  });

  it('refuses a database that was made before the first release, also where it may leave a newer one', async () => {
    await owner.query(await readFile(new URL('before-the-first-release.sql', import.meta.url), 'utf8'));
    const refusal = 'The database was made before the first release of Boxgate: use an empty one';
    expect(await run()).to.equal(refusal);
    expect(await migrate(database.ownerUrl, apiRole, true).catch(String)).to.equal(`Error: ${refusal}`);
    expect((await owner.query("SELECT to_regclass('boxgate.schema_version') AS made")).rows).to.deep.equal([
      { made: null },
    ]);
  });

  it('that fails changes nothing, names the file, and works when the reason is gone', async () => {
    // What it wants to create exists already.
    await owner.query('CREATE SCHEMA boxgate; CREATE TABLE boxgate.session (mine integer)');
    expect(await run()).to.match(/^Migration schema\.sql failed and changed nothing: .*already exists/);
    expect(await appliedSchema(owner)).to.deep.include({ number: 0 });
    expect((await owner.query("SELECT to_regclass('boxgate.box') AS made")).rows).to.deep.equal([{ made: null }]);
    await owner.query('DROP TABLE boxgate.session');
    expect(await run()).to.include('applied 1');
  });

  it('does not wait long for a table that is in use, or everybody would wait behind it', async () => {
    await run();
    const later = await laterFiles({ '0002_note.sql': 'ALTER TABLE boxgate.box ADD COLUMN note text' });
    const reader = await owner.connect();
    await reader.query('BEGIN; SELECT FROM boxgate.box');
    expect(await migrate(database.ownerUrl, apiRole, false, later).catch(String)).to.include('lock timeout');
    await reader.query('ROLLBACK');
    reader.release();
    expect(await migrate(database.ownerUrl, apiRole, false, later)).to.deep.include({ applied: ['0002_note.sql'] });
  });

  /** Statements of a superuser in the database, and what the run then says. */
  const unfit: Readonly<Record<string, readonly [statements: (name: string) => string, said: RegExp]>> = {
    'a server that is too old': [
      (name) => `CREATE FUNCTION public.current_setting(text) RETURNS text LANGUAGE sql AS $$
                   SELECT CASE $1 WHEN 'server_version_num' THEN '140012' WHEN 'server_version' THEN '14.12'
                          ELSE pg_catalog.current_setting($1) END $$;
                 ALTER DATABASE ${name} SET search_path = public, pg_catalog`,
      /^Postgres 14\.12 is too old: use 15 or newer$/,
    ],
    'a role that may create no schema': [
      (name) => `ALTER DATABASE ${name} OWNER TO postgres`,
      /^boxgate_owner may create no schema in this database: make it the owner \(ALTER DATABASE \w+ OWNER TO boxgate_owner\)$/,
    ],
    'a schema of another owner': [
      () => 'CREATE SCHEMA boxgate',
      /^boxgate_owner is no member of postgres, which owns the schema boxgate: migrate as postgres$/,
    ],
  };
  for (const [what, [statements, said]] of Object.entries(unfit)) {
    it(`refuses ${what} before it creates anything`, async () => {
      // E-01: on Postgres 15 to 17 it ended with a raw SQL error.
      const name = new URL(database.ownerUrl).pathname.slice(1);
      await asOwner(name, (superuser) => superuser.query(statements(name)));
      expect(await run()).to.match(said);
      expect((await owner.query("SELECT FROM pg_tables WHERE schemaname = 'boxgate'")).rowCount).to.equal(0);
    });
  }

  it('says which role to make when there is none of that name, whatever characters it has', async () => {
    const said = await run('no $& "such" role');
    expect(said).to.equal(
      'There is no role "no $& ""such"" role": create it (CREATE ROLE "no $& ""such"" role" LOGIN) and migrate again',
    );
  });

  it('gives the rights to a role of any name', async () => {
    const role = `odd $& "${database.ownerUrl.slice(-6)}" role`;
    await asOwner(new URL(database.ownerUrl).pathname.slice(1), async (superuser) => {
      await superuser.query(`CREATE ROLE ${pg.escapeIdentifier(role)}`);
      expect(await run(role)).to.include('applied');
      expect(await schemaText(owner, role)).to.include('grant select on table schema_version to api');
      await superuser.query(`DROP OWNED BY ${pg.escapeIdentifier(role)}; DROP ROLE ${pg.escapeIdentifier(role)}`);
    });
  });
});

describe('the API’s role', () => {
  it('loses rights that a later release does not give it', async () => {
    const database = await freshDatabase();
    const owner = new pg.Pool({ connectionString: database.ownerUrl, max: 1 });
    await owner.query(`GRANT DELETE ON boxgate.session TO ${apiRole}`);
    await migrate(database.ownerUrl, apiRole);
    const { rows } = await owner.query(`SELECT has_table_privilege('${apiRole}', 'boxgate.session', 'DELETE') AS may`);
    expect(rows).to.deep.equal([{ may: false }]);
    await owner.end();
    await database.drop();
  });
});
