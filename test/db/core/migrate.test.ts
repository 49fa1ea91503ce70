import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { wantedBuckets } from '../../../api/db/session/bucket.ts';
import { appliedSchema, migrate, readMigrations } from '../../../api/db/core/migrate.ts';
import { eventually } from '../../support/eventually.ts';
import { asOwner, bareDatabase, freshDatabase } from '../../support/postgres.ts';
import type { TestDatabase } from '../../support/postgres.ts';
import { schemaText } from '../schema-text.ts';

const apiRole = 'boxgate_api';

describe('the migrations', () => {
  it('that are frozen are as they were frozen: a database out there has applied them', async () => {
    const lines = (await readFile(new URL('frozen-migrations.txt', import.meta.url), 'utf8')).trim().split('\n');
    const frozen = lines.map((line) => line.split(/\s+/));
    const found = (await readMigrations()).slice(0, frozen.length).map(({ hash, name }) => [hash, name]);
    expect(found).to.deep.equal(frozen);
  });

  it('are numbered without a gap, and every one is applied', async () => {
    const migrations = await readMigrations();
    expect(migrations.map(({ number }) => number)).to.deep.equal(migrations.map((_, index) => index + 1));
  });

  it('that older releases cannot serve on name an earlier migration, from which on releases can', async () => {
    for (const { number, name } of await readMigrations()) {
      const [, from] = /_from_(\w+)\.sql$/.exec(name) ?? [];
      if (from !== undefined) expect(Number(from), name).to.be.within(1, number);
    }
  });
});

describe('a migration run', () => {
  let database: TestDatabase;
  let owner: pg.Pool;

  beforeEach(async () => {
    database = await bareDatabase();
    owner = new pg.Pool({ connectionString: database.ownerUrl });
  });
  afterEach(async () => {
    await owner.end();
    await database.drop();
  });

  function run(role = apiRole): Promise<string> {
    return migrate(database.ownerUrl, role).then(
      ({ applied, schema }) => `schema ${String(schema)}, applied ${String(applied.length)}`,
      (error: unknown) => (error instanceof Error ? error.message : 'no error'),
    );
  }

  async function applyFirst(count: number): Promise<void> {
    const migrations = (await readMigrations()).slice(0, count);
    await owner.query(
      `CREATE SCHEMA boxgate;
       CREATE TABLE boxgate.migration (
         number integer PRIMARY KEY, name text NOT NULL, hash text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
       )`,
    );
    for (const { number, name, sql, hash } of migrations) {
      await owner.query(sql);
      await owner.query('INSERT INTO boxgate.migration VALUES ($1, $2, $3)', [number, name, hash]);
    }
  }

  it('applies what is missing, once, and says what it did', async () => {
    const count = (await readMigrations()).length;
    expect(await run()).to.equal(`schema ${String(count)}, applied ${String(count)}`);
    expect(await run()).to.equal(`schema ${String(count)}, applied 0`);
    expect(await appliedSchema(owner)).to.deep.equal({ number: count, servesFrom: 0 });
  });

  it('gives an older database, whichever it is, the very schema of a new one', async () => {
    const count = (await readMigrations()).length;
    await run();
    const fresh = await schemaText(owner, apiRole);
    for (let first = 0; first < count; first += 1) {
      await owner.query('DROP SCHEMA boxgate CASCADE');
      await applyFirst(first);
      expect(await run()).to.equal(`schema ${String(count)}, applied ${String(count - first)}`);
      expect(await schemaText(owner, apiRole)).to.equal(fresh);
    }
  });

  it('does its work once when many run at the same time', async () => {
    const count = (await readMigrations()).length;
    const said = await Promise.all([run(), run(), run(), run()]);
    expect(said.toSorted()).to.deep.equal([
      ...Array.from({ length: 3 }, () => `schema ${String(count)}, applied 0`),
      `schema ${String(count)}, applied ${String(count)}`,
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
    await api.query('SELECT boxgate.make_first_buckets($1)', [wantedBuckets(new Date())]);
    const said = run();
    await runWaits();
    await api.query('COMMIT');
    api.release();
    expect(await said).to.include('applied 0');
  });

  it('gives a bucket and a day that the release before makes just now the functions of pages', async () => {
    await applyFirst((await readMigrations()).findIndex(({ name }) => name.endsWith('_pages_of_many_partitions.sql')));
    const api = await owner.connect();
    await api.query('BEGIN');
    await api.query('SELECT boxgate.make_first_buckets($1)', [wantedBuckets(new Date())]);
    await api.query('SELECT boxgate.make_audit_days(1)');
    const said = run();
    await runWaits();
    await api.query('COMMIT');
    api.release();
    expect(await said).to.include('applied');
    const { rows } = await owner.query(
      `SELECT name FROM (SELECT 'session_rows_' || bucket FROM boxgate.buckets() UNION ALL
                         SELECT 'audit_rows_' || day FROM boxgate.audit_days()) AS f (name)
        WHERE to_regproc('boxgate.' || name) IS NULL`,
    );
    expect(rows).to.deep.equal([]);
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

  it('refuses a database whose applied migration was changed since, and names it', async () => {
    await run();
    await owner.query("UPDATE boxgate.migration SET hash = 'another' WHERE number = 2");
    expect(await run()).to.match(/^Migration 0002_\w+\.sql was changed after this database applied it/);
  });

  it('refuses a database that is newer than this release', async () => {
    await run();
    const count = (await readMigrations()).length;
    const insert = "INSERT INTO boxgate.migration (number, name, hash) VALUES ($1, 'a', 'b'), ($2, 'c', 'd')";
    await owner.query(insert, [count + 1, count + 2]);
    expect(await run()).to.equal(
      `The database is at schema ${String(count + 2)}, newer than this release (${String(count)})`,
    );
  });

  it('that fails changes nothing, names the migration, and works when the reason is gone', async () => {
    await applyFirst(1);
    // What the second one wants to make is there already.
    await owner.query('CREATE TABLE boxgate.session (mine integer)');
    expect(await run()).to.match(/^Migration 0002_\w+\.sql failed and changed nothing: .*already exists/);
    expect(await appliedSchema(owner)).to.deep.include({ number: 1 });
    expect((await owner.query("SELECT to_regclass('boxgate.refresh_family') AS made")).rows).to.deep.equal([
      { made: null },
    ]);
    await owner.query('DROP TABLE boxgate.session');
    expect(await run()).to.include('applied');
  });

  it('does not wait long for a table that is in use, or everybody would wait behind it', async () => {
    await applyFirst(1);
    const reader = await owner.connect();
    // A foreign key to a table takes a lock that excludes those who write it.
    await reader.query('BEGIN; LOCK TABLE boxgate.box IN ROW EXCLUSIVE MODE');
    expect(await run()).to.include('lock timeout');
    await reader.query('ROLLBACK');
    reader.release();
    expect(await run()).to.include('applied');
  });

  it('R-B1 leaves no token, code or consent with the rights of a user, and no first party that nobody declares', async () => {
    await applyFirst((await readMigrations()).findIndex(({ name }) => name.endsWith('_user_rights.sql')));
    await owner.query(
      `INSERT INTO boxgate.box (box, config_version) VALUES ('default', 5), ('other', 5);
       INSERT INTO boxgate.resource (box, kind, id, version, body, owner_cluster, owner_name)
       SELECT 'default', 'Client', id, 5, jsonb_build_object('first_party', true, 'name', id), cluster, cluster
         FROM (VALUES ('declared', 'c'), ('rest', NULL)) AS v (id, cluster);
       INSERT INTO boxgate.user (box, id, email, email_key, password, pepper) VALUES ('default', 1, 'a', 'a', '', '');
       INSERT INTO boxgate.consent (box, user_id, client, scopes, version, created_at)
       VALUES ('default', 1, 'rest', '{openid,boxgate}', 1, now());
       INSERT INTO boxgate.authorization_answer
         (box, id, client, user_id, version, browser, scope, created_at, expires_at, kept_until)
       VALUES ('default', gen_random_uuid(), 'rest', 1, 1, '', 'boxgate', now(), now(), now());
       INSERT INTO boxgate.refresh_family (box, id, client, user_id, version, family_hash, token_hash, session, scope,
                                           created_at, last_used_at, expires_at, ends_at, sessions_end)
       VALUES ('default', gen_random_uuid(), 'rest', 1, 1, '', '', gen_random_uuid(), 'boxgate openid',
               now(), now(), now(), now(), now());
       CREATE TABLE boxgate.session_any PARTITION OF boxgate.session DEFAULT`,
    );
    for (const user of ['1', 'NULL']) {
      await owner.query(
        `INSERT INTO boxgate.session (id, version, expires_at, bucket, type, box, client, user_id, scope)
         VALUES (gen_random_uuid(), 1, now(), 1, 'a', 'default', 'rest', ${user}, 'read boxgate boxgates')`,
      );
    }
    await run();
    const values = async (sql: string): Promise<unknown[]> =>
      (await owner.query<{ value: unknown }>(sql)).rows.map(({ value }) => value);
    expect(await values('SELECT scope AS value FROM boxgate.session ORDER BY user_id')).to.deep.equal([
      'read boxgates',
      'read boxgate boxgates',
    ]);
    expect(await values('SELECT scope AS value FROM boxgate.authorization_answer')).to.deep.equal([null]);
    expect(await values('SELECT scope AS value FROM boxgate.refresh_family')).to.deep.equal(['openid']);
    expect(await values('SELECT scopes AS value FROM boxgate.consent')).to.deep.equal([['openid']]);
    const rows = await owner.query(
      `SELECT r.id, r.body -> 'first_party' AS trusted, r.version = b.config_version AND b.config_version > 5 AS moved,
              boxgate.row_state(r) = 'intact' AS intact
         FROM boxgate.resource r JOIN boxgate.box b ON b.box = r.box ORDER BY r.id`,
    );
    expect(rows.rows).to.deep.equal([
      { id: 'declared', trusted: true, moved: false, intact: false },
      { id: 'rest', trusted: false, moved: true, intact: true },
    ]);
    expect(await values("SELECT config_version AS value FROM boxgate.box WHERE box = 'other'")).to.deep.equal(['5']);
  });

  it('leaves nothing to a built-in client of a deleted client that had its id', async () => {
    await applyFirst((await readMigrations()).findIndex(({ name }) => name.endsWith('_with_reserved_ids.sql')));
    const boxes = ['session', 'family', 'consent', 'code', 'stored', 'buried', 'unused'];
    await owner.query(
      `INSERT INTO boxgate.box (box, config_version) SELECT box, 5 FROM unnest($1::text[]) AS b (box)`,
      [boxes],
    );
    await owner.query(
      `INSERT INTO boxgate.resource (box, kind, id, version, body) VALUES ('stored', 'Client', 'boxgate.ui', 5, '{}');
       INSERT INTO boxgate.tombstone (box, kind, id, version) VALUES ('buried', 'Client', 'boxgate.ui', 5);
       INSERT INTO boxgate.user (box, id, email, email_key, password, pepper)
       VALUES ('consent', 1, 'a', 'a', '', ''), ('code', 1, 'a', 'a', '', '');
       INSERT INTO boxgate.consent (box, user_id, client, scopes, version, created_at)
       VALUES ('consent', 1, 'boxgate.cli', '{openid}', 1, now());
       INSERT INTO boxgate.authorization_answer
         (box, id, client, user_id, version, browser, created_at, expires_at, kept_until)
       VALUES ('code', gen_random_uuid(), 'boxgate.ui', 1, 1, '', now(), now(), now());
       INSERT INTO boxgate.refresh_family (box, id, client, user_id, version, family_hash, token_hash, session,
                                           created_at, last_used_at, expires_at, ends_at, sessions_end)
       VALUES ('family', gen_random_uuid(), 'boxgate.cli', 1, 1, '', '', gen_random_uuid(),
               now(), now(), now(), now(), now());
       CREATE TABLE boxgate.session_any PARTITION OF boxgate.session DEFAULT;
       INSERT INTO boxgate.session (id, version, expires_at, bucket, type, box, client)
       SELECT gen_random_uuid(), 1, now(), 1, 'a', box, client
         FROM (VALUES ('session', 'boxgate.ui'), ('stored', 'boxgate.ui'), ('buried', 'boxgate.ui'),
                      ('unused', 'boxgate.x')) AS s (box, client)`,
    );
    await run();
    const { rows } = await owner.query(
      `SELECT t.box, t.id FROM boxgate.tombstone t
         JOIN boxgate.box b ON b.box = t.box AND b.config_version = t.version AND t.version > 5
         JOIN boxgate.box_version v ON v.box = t.box AND v.version = t.version
         JOIN boxgate.revocation r ON r.box = t.box AND r.version = t.version AND r.subject = 'client:' || t.id
        WHERE t.kind = 'Client' ORDER BY t.box`,
    );
    expect(rows).to.deep.equal([
      { box: 'code', id: 'boxgate.ui' },
      { box: 'consent', id: 'boxgate.cli' },
      { box: 'family', id: 'boxgate.cli' },
      { box: 'session', id: 'boxgate.ui' },
    ]);
    const still = await owner.query(`SELECT box FROM boxgate.box WHERE config_version = 5 ORDER BY box`);
    expect(still.rows).to.deep.equal([{ box: 'buried' }, { box: 'stored' }, { box: 'unused' }]);
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
      // E-01: on Postgres 15 to 17 it ended with a raw SQL error, after 35 migrations.
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
      expect(await schemaText(owner, role)).to.include('grant select on table migration to api');
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
