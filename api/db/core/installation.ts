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
      const client = new pg.Client({ connectionString: ownerUrl, application_name: 'boxgate-migrate' });
      client.on('error', () => undefined);
      clients.push(client);
      await client.connect();
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
