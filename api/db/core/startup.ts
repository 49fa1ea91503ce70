import { readMigrations, schemaNumber } from './migrate.ts';
import { Outage } from './outage.ts';
import type { Connections } from './pool.ts';
import type { Connection } from './transaction.ts';
import { requestLimit, withConnection } from './with-connection.ts';

/**
 * Checks that the API can and may serve on this database: the schema is this release's or newer, the server is
 * writable, and the role is bound by row-level security. Throws an Error of one sentence; Outage if that may change while
 * the program runs: Postgres cannot answer, or the schema is too old.
 */
export function checkDatabase(pool: Connections): Promise<void> {
  return withConnection(pool, requestLimit, async (connection) => {
    await checkRole(connection);
    const [needed, found] = await Promise.all([readMigrations(), schemaOf(connection)]);
    if (found < needed.length) {
      const schema = `The database is at schema ${String(found)}, this release needs ${String(needed.length)}`;
      throw new Outage(`${schema}: run boxgate migrate`);
    }
  });
}

async function schemaOf(connection: Connection): Promise<number> {
  try {
    return await schemaNumber(connection);
  } catch (error) {
    // Undefined table or schema, or no right to it: no migration has run yet.
    if (error instanceof Error && 'code' in error && /^(42P01|3F000|42501)$/.test(String(error.code))) return 0;
    throw error;
  }
}

interface Role {
  readonly name: string;
  readonly unbound: boolean;
  readonly owner: boolean;
  readonly read_only: string;
}

/** Checks the role: row-level security does not bind a superuser, a role with BYPASSRLS or the owner of the tables. */
async function checkRole(connection: Connection): Promise<void> {
  const { rows } = await connection.query<Role>(
    `SELECT r.rolname AS name, r.rolsuper OR r.rolbypassrls AS unbound, current_setting('transaction_read_only') AS read_only,
            EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                     WHERE n.nspname = 'boxgate' AND pg_has_role(r.oid, c.relowner, 'MEMBER')) AS owner
       FROM pg_roles r WHERE r.rolname = current_user`,
  );
  const [role] = rows;
  if (role === undefined) throw new Error('The database does not know its own role');
  if (role.unbound || role.owner) {
    const why = role.unbound ? 'a superuser or has BYPASSRLS' : 'an owner of the tables';
    throw new Error(
      `The role ${role.name} is ${why}, which row-level security does not bind: use a role of the API's own`,
    );
  }
  if (role.read_only === 'on') throw new Outage('Postgres is read-only');
}
