import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import pg from 'pg';

/** One version of the schema: schema.sql is the first, and each numbered file next to it a later one. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the text, hexadecimal: an applied version never changes. */
  readonly hash: string;
}

const ownFolder = new URL('../', import.meta.url);

/** Reads schema.sql and the numbered files of a folder, in their order. Throws if a number is missing or used twice. */
export async function readMigrations(folder = ownFolder): Promise<readonly Migration[]> {
  const later = (await readdir(folder)).filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name)).sort();
  later.forEach((name, index) => {
    if (Number(name.slice(0, 4)) !== index + 2) throw new Error(`migration ${name} is out of order`);
  });
  return Promise.all(['schema.sql', ...later].map((name, index) => readMigration(folder, name, index + 1)));
}

async function readMigration(folder: URL, name: string, number: number): Promise<Migration> {
  const sql = await readFile(new URL(name, folder), 'utf8');
  return { number, name, sql, hash: createHash('sha256').update(sql).digest('hex') };
}

/** Result of a migration run. */
export interface MigrationReport {
  readonly applied: readonly string[];
  /** The newest version of the schema. */
  readonly schema: number;
}

/**
 * Brings a database to the newest schema, as its owner, and gives the API's role its rights; each version in its own
 * transaction, one run at a time (advisory lock). Throws an Error of one sentence if the server or a role does not meet
 * the requirements, an applied version was changed, or the database is newer than this release, or was made before the
 * first one; with `leaveNewer`, a newer one is left as it is.
 */
export async function migrate(
  ownerUrl: string,
  apiRole: string,
  leaveNewer = false,
  folder = ownFolder,
): Promise<MigrationReport> {
  const migrations = await readMigrations(folder);
  const client = new pg.Client({
    connectionString: ownerUrl,
    application_name: 'boxgate-migrate',
    connectionTimeoutMillis: 10_000,
    lock_timeout: turnTimeout,
    keepAlive: true,
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await takeTurn(client);
    await checkServer(client, apiRole);
    await refuseUnreleased(client);
    const found = await appliedMigrations(client);
    const newest = Math.max(0, ...found.keys());
    if (leaveNewer && newest > migrations.length) return { applied: [], schema: newest };
    verify(migrations, found);
    const missing = migrations.filter((migration) => !found.has(migration.number));
    for (const migration of missing) await apply(client, migration);
    await grant(client, apiRole);
    return { applied: missing.map((migration) => migration.name), schema: migrations.length };
  } finally {
    await client.end();
  }
}

/** Milliseconds to wait for another run, and for a table: a waiting lock request blocks all later ones. */
const turnTimeout = 60_000;
const tableTimeout = 2_000;

/** Takes the lock that allows one run at a time; it ends with the connection. */
async function takeTurn(client: pg.Client): Promise<void> {
  try {
    await client.query("SELECT pg_advisory_lock(hashtext('boxgate.migrate'))");
  } catch (cause) {
    throw new Error('Another migration run holds the database; try again when it has ended', { cause });
  }
  await client.query(`SET lock_timeout = ${String(tableTimeout)}`);
}

/** Checks what the migrations need of the server, the database and both roles, before anything is created. */
async function checkServer(client: pg.Client, apiRole: string): Promise<void> {
  const role = client.escapeIdentifier(apiRole);
  const { rows } = await client.query<{ fault: string | null }>(
    `SELECT CASE
       WHEN current_setting('server_version_num')::integer < ${String(OLDEST_SERVER)}0000
         THEN format('Postgres %s is too old: use ${String(OLDEST_SERVER)} or newer', current_setting('server_version'))
       WHEN pg_is_in_recovery() THEN 'Postgres is a read-only standby: use the address of the primary'
       WHEN current_setting('server_encoding') <> 'UTF8'
         THEN format('The encoding of the database is %s: use one with UTF8', current_setting('server_encoding'))
       WHEN n.nspowner IS NULL AND NOT has_database_privilege(current_database(), 'CREATE')
         THEN format('%I may create no schema in this database: make it the owner (ALTER DATABASE %I OWNER TO %1$I)',
                     current_user, current_database())
       WHEN NOT pg_has_role(n.nspowner, 'USAGE')
         THEN format('%I is no member of %I, which owns the schema boxgate: migrate as %2$I', current_user,
                     pg_get_userbyid(n.nspowner))
       WHEN r.rolname IS NULL
         THEN format('There is no role %s: create it (CREATE ROLE %1$s LOGIN) and migrate again', $2::text)
       WHEN r.rolsuper OR r.rolbypassrls OR pg_has_role(r.oid, current_user, 'MEMBER')
         THEN format('Row-level security does not bind %s, which owns the tables, is a superuser or has BYPASSRLS: use a role of the API''s own',
                     $2::text)
     END AS fault
       FROM (SELECT) AS one LEFT JOIN pg_namespace n ON n.nspname = 'boxgate' LEFT JOIN pg_roles r ON r.rolname = $1`,
    [apiRole, role],
  );
  const fault = rows[0]?.fault ?? undefined;
  if (fault !== undefined) throw new Error(fault);
}

/** The oldest major version of Postgres that the migrations run on. */
const OLDEST_SERVER = 15;

/** Refuses a database that was made before the first release: it has another table of versions. */
export async function refuseUnreleased(connection: Pick<pg.ClientBase, 'query'>): Promise<void> {
  const { rowCount } = await connection.query(
    "SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = 'boxgate' AND relname = 'migration'",
  );
  if (rowCount !== 0) throw new Error('The database was made before the first release of Boxgate: use an empty one');
}

async function appliedMigrations(client: pg.Client): Promise<Map<number, string>> {
  await client.query(`
    CREATE SCHEMA IF NOT EXISTS boxgate;
    CREATE TABLE IF NOT EXISTS boxgate.schema_version (
      number integer PRIMARY KEY, name text NOT NULL, hash text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
    )`);
  const { rows } = await client.query<{ number: number; hash: string }>(
    'SELECT number, hash FROM boxgate.schema_version',
  );
  return new Map(rows.map((row) => [row.number, row.hash]));
}

function verify(migrations: readonly Migration[], found: ReadonlyMap<number, string>): void {
  const newest = Math.max(0, ...found.keys());
  if (newest > migrations.length) {
    throw new Error(
      `The database is at schema ${String(newest)}, newer than this release (${String(migrations.length)})`,
    );
  }
  for (const migration of migrations) {
    const hash = found.get(migration.number);
    if (hash !== undefined && migration.hash !== hash) {
      throw new Error(
        `Migration ${migration.name} was changed after this database applied it: restore its text, or use an empty database`,
      );
    }
  }
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(migration.sql);
    await client.query('INSERT INTO boxgate.schema_version (number, name, hash) VALUES ($1, $2, $3)', [
      migration.number,
      migration.name,
      migration.hash,
    ]);
    await client.query('COMMIT');
  } catch (cause) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw new Error(`Migration ${migration.name} failed and changed nothing: ${String(cause)}`, { cause });
  }
}

async function grant(client: pg.Client, apiRole: string): Promise<void> {
  const role = client.escapeIdentifier(apiRole);
  const sql = await readFile(new URL('grants.sql', ownFolder), 'utf8');
  // A right on a table cannot change while an API creates its first partitions.
  await client.query(`
    BEGIN; SET LOCAL lock_timeout = ${String(turnTimeout)};
    LOCK TABLE boxgate.bucket, boxgate.audit_day IN SHARE MODE; SET LOCAL lock_timeout = ${String(tableTimeout)};
    ${sql.replaceAll(':role', () => role)};
    COMMIT`);
}

/** The schema of a database. */
export interface AppliedSchema {
  /** The number of its newest migration; 0 if there is none. */
  readonly number: number;
  /** The oldest release that it serves, by the number of that release's newest migration. */
  readonly servesFrom: number;
}

/**
 * Reads the schema of a database. A migration that older releases cannot serve on says so in its name:
 * `0060_drop_notes_from_0058.sql` serves releases that have migration 58.
 */
export async function appliedSchema(connection: Pick<pg.Pool, 'query'>): Promise<AppliedSchema> {
  const { rows } = await connection.query<{ number: number; serves_from: number }>(
    `SELECT coalesce(max(number), 0)::integer AS number,
            coalesce(max(substring(name FROM '_from_(\\d{4})\\.sql$')::integer), 0) AS serves_from
       FROM boxgate.schema_version`,
  );
  return { number: rows[0]?.number ?? 0, servesFrom: rows[0]?.serves_from ?? 0 };
}
