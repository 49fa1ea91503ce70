import pg from 'pg';
import { Outage } from './outage.ts';
import type { Connections } from './pool.ts';
import { requestLimit, withConnection } from './with-connection.ts';

/** A database and its installation; both UUIDs. */
interface Identity {
  readonly id: string;
  readonly installation: string;
}

const readIdentity = 'SELECT id, installation FROM boxgate.identity';
const readDatabase = 'SELECT id FROM boxgate.database WHERE name = $1';

/**
 * Makes migrated databases those of one installation, as their owner: gives each its ID, and enters it in the home
 * database, the first one. Throws an Error of one sentence if one of them is there under two names, is another one than
 * before, or belongs to another installation.
 */
export async function joinInstallation(
  databases: readonly { readonly name: string; readonly ownerUrl: string }[],
): Promise<void> {
  const clients: pg.Client[] = [];
  try {
    for (const { ownerUrl } of databases) {
      clients.push(await connectedAs(ownerUrl));
    }
    const [home] = clients;
    if (home === undefined) return;
    let installation: string | undefined;
    for (const [index, { name }] of databases.entries()) {
      const client = clients[index] ?? home;
      await client.query(
        'INSERT INTO boxgate.identity (installation) VALUES (coalesce($1, gen_random_uuid())) ON CONFLICT DO NOTHING',
        [installation],
      );
      const found = (await client.query<Identity>(readIdentity)).rows[0];
      installation ??= found?.installation;
      if (found?.installation !== installation) {
        throw new Error(`The database ${name} belongs to another installation of Boxgate: use an empty one`);
      }
      await enter(home, name, found?.id);
    }
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

/** Returns a connection as the owner of a database; the caller ends it. */
async function connectedAs(ownerUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: ownerUrl, application_name: 'boxgate-migrate' });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Enters a database in the home database. Throws an Error of one sentence. */
async function enter(home: pg.Client, name: string, id: string | undefined): Promise<void> {
  await home.query('INSERT INTO boxgate.database (name, id) VALUES ($1, $2) ON CONFLICT DO NOTHING', [name, id]);
  const { rows } = await home.query<{ name: string; id: string }>(
    'SELECT name, id FROM boxgate.database WHERE name = $1 OR id = $2',
    [name, id],
  );
  const other = rows.find((row) => row.name !== name || row.id !== id);
  if (other === undefined) return;
  throw new Error(
    other.name === name
      ? `The database ${name} is not the one that had this name before: give it the URL that it had, or another name`
      : `The databases ${other.name} and ${name} are one and the same: leave one of the names out`,
  );
}

/**
 * Enters in the home database, the first one, where the boxes of all the others are, as its owner: it was restored from
 * a backup that may not know. Of two rows of a box the one with the higher version is right. Returns the number of
 * boxes that were entered.
 */
export async function rebuildDirectory([home, ...others]: readonly {
  readonly name: string;
  readonly ownerUrl: string;
}[]): Promise<number> {
  if (home === undefined) return 0;
  const directory = await connectedAs(home.ownerUrl);
  let entered = 0;
  try {
    for (const { name, ownerUrl } of others) {
      const client = await connectedAs(ownerUrl);
      try {
        const { rows } = await client.query<{ boxes: string[]; versions: string[] }>(
          `SELECT coalesce(array_agg(box), '{}') AS boxes, coalesce(array_agg(config_version), '{}') AS versions
             FROM boxgate.box WHERE transit IS NULL OR transit = 'leaving'`,
        );
        const { rowCount } = await directory.query(enterBoxes, [name, rows[0]?.boxes, rows[0]?.versions]);
        entered += rowCount ?? 0;
      } finally {
        await client.end();
      }
    }
  } finally {
    await directory.end();
  }
  return entered;
}

const enterBoxes = `
  WITH found AS (
    SELECT f.box, f.version FROM unnest($2::text[], $3::bigint[]) AS f (box, version)
      LEFT JOIN boxgate.box b ON b.box = f.box AND b.transit IS NULL
     WHERE b.box IS NULL OR b.config_version < f.version
  ), moved AS (
    UPDATE boxgate.box b SET transit = 'moved', counterpart = $1, leaving_until = NULL FROM found f WHERE b.box = f.box
  )
  INSERT INTO boxgate.placement AS p (box, database, version) SELECT f.box, $1, f.version FROM found f
  ON CONFLICT (box) DO UPDATE SET database = excluded.database, version = excluded.version WHERE p.version < excluded.version`;

/**
 * Checks that a database is the one that the home database knows under its name. Throws an Error of one sentence;
 * Outage if one of them cannot answer, or `boxgate migrate` has not entered it yet.
 */
export async function checkIdentity(home: Connections, name: string, pool: Connections): Promise<void> {
  const entered = await withConnection(home, requestLimit, async (connection) => {
    return (await connection.query<{ id: string }>(readDatabase, [name])).rows[0];
  });
  if (entered === undefined) throw new Outage(`The database ${name} is not entered yet: run boxgate migrate`);
  const found = await withConnection(pool, requestLimit, async (connection) => {
    return (await connection.query<Identity>(readIdentity)).rows[0];
  });
  if (found?.id !== entered.id) {
    throw new Error(`The database ${name} is not the one that boxgate migrate entered under this name`);
  }
}
