import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { joinInstallation } from '../../api/db/core/installation.ts';
import { migrate } from '../../api/db/core/migrate.ts';
import { upkeepAuditDays } from '../../api/db/audit/audit-days.ts';
import { upkeepBuckets } from '../../api/db/session/bucket.ts';

/**
 * A database of a test's own, migrated: the owner's URL, the API role's URL, and its end. Its owner is no
 * superuser and may create neither roles nor databases, as that of CloudNativePG or of a managed server.
 */
export interface TestDatabase {
  readonly ownerUrl: string;
  readonly apiUrl: string;
  drop(): Promise<void>;
}

const apiRole = 'boxgate_api';
const apiPassword = 'api-role-of-tests';
/** E-01: who owns every database of a test. */
const ownerRole = 'boxgate_owner';
const ownerPassword = 'owner-of-tests';
const template = 'boxgate_template';
/** In the order of a language, as most databases are: where the order of bytes is meant, statements must say so. */
const ofALanguage = `TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`;

/** Postgres has it from 18 on; statements of tests find it before this one. */
const uuidv7 = `
  CREATE FUNCTION public.uuidv7(shift interval DEFAULT '0') RETURNS uuid LANGUAGE sql VOLATILE AS $$
    SELECT encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) PLACING
             substring(int8send((extract(epoch FROM clock_timestamp() + shift) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
             52, 1), 53, 1), 'hex')::uuid
  $$`;

/** Makes both roles and the migrated database that {@link freshDatabase} copies. */
export async function makeTemplate(): Promise<void> {
  await asOwner('postgres', async (client) => {
    await client.query(`CREATE ROLE ${apiRole} LOGIN PASSWORD '${apiPassword}'`);
    await client.query(
      `CREATE ROLE ${ownerRole} LOGIN NOSUPERUSER NOCREATEROLE NOCREATEDB PASSWORD '${ownerPassword}'`,
    );
    // Tests look at the connections of the API, and cut them.
    await client.query(`GRANT pg_read_all_stats, pg_signal_backend TO ${ownerRole}`);
    await client.query(`CREATE DATABASE ${template} OWNER ${ownerRole} ${ofALanguage}`);
  });
  await asOwner(template, (client) =>
    client.query(
      `${uuidv7}; REVOKE ALL ON FUNCTION public.uuidv7 FROM PUBLIC; GRANT EXECUTE ON FUNCTION public.uuidv7 TO ${ownerRole}`,
    ),
  );
  await migrate(ownerUrlOf(template), apiRole);
  const pool = new pg.Pool({ connectionString: ownerUrlOf(template), max: 1 });
  await upkeepBuckets(pool, new Date());
  await upkeepAuditDays(pool);
  await pool.end();
  await asOwner('postgres', (client) => connectionsClosed(client, template));
}

/** Makes a migrated, empty database; drop it when done (`after(() => database.drop())`). */
export function freshDatabase(): Promise<TestDatabase> {
  return createDatabase(`TEMPLATE ${template} STRATEGY FILE_COPY`);
}

/** Makes a database that no migration has seen. */
export function bareDatabase(): Promise<TestDatabase> {
  return createDatabase('');
}

async function createDatabase(like: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asOwner('postgres', (client) => client.query(`CREATE DATABASE ${name} OWNER ${ownerRole} ${like}`));
  const database = {
    ownerUrl: ownerUrlOf(name),
    apiUrl: databaseUrl(name, apiRole, apiPassword),
    async drop() {
      await (await homes.get(database))?.drop();
      await asOwner('postgres', (client) => dropDatabase(client, name));
    },
  };
  return database;
}

/** Home databases of the installations that {@link homeOf} has made. */
const homes = new WeakMap<TestDatabase, Promise<TestDatabase>>();

/** Returns the home database of an installation whose other database, `eu`, is the given one; always the same. */
export function homeOf(database: TestDatabase): Promise<TestDatabase> {
  const home = homes.get(database) ?? joinedHome(database);
  homes.set(database, home);
  return home;
}

async function joinedHome({ ownerUrl }: TestDatabase): Promise<TestDatabase> {
  const home = await freshDatabase();
  await joinInstallation([
    { name: 'home', ownerUrl: home.ownerUrl },
    { name: 'eu', ownerUrl },
  ]);
  return home;
}

const closingTime = 5_000;

async function dropDatabase(client: pg.Client, name: string): Promise<void> {
  await connectionsClosed(client, name);
  await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
}

/**
 * A pool that was ended closes its sockets a moment later: who still listens on one would hear of a forced drop, or of
 * the end of the server.
 */
async function connectionsClosed(client: pg.Client, name: string): Promise<void> {
  const deadline = performance.now() + closingTime;
  while ((await connectionsTo(client, name)) > 0 && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function connectionsTo(client: pg.Client, name: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM pg_stat_activity WHERE datname = $1',
    [name],
  );
  return rows[0]?.count ?? 0;
}

/** Runs work on one connection of the server's superuser to a database. */
export async function asOwner<T>(database: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: superuserUrl(database) });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function ownerUrlOf(database: string): string {
  return databaseUrl(database, ownerRole, ownerPassword);
}

function databaseUrl(database: string, role: string, password: string): string {
  const url = new URL(superuserUrl(database));
  url.username = role;
  url.password = password;
  return url.href;
}

/** Returns the URL of a database for the server's superuser. */
export function superuserUrl(database: string): string {
  const base = process.env['BOXGATE_TEST_POSTGRES'];
  if (base === undefined) throw new Error('no test Postgres: run through mocha, whose global setup starts it');
  const url = new URL(base);
  url.pathname = `/${database}`;
  return url.href;
}
