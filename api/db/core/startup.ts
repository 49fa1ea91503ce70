import { appliedSchema, readMigrations, refuseUnreleased } from './migrate.ts';
import type { AppliedSchema } from './migrate.ts';
import { Outage } from './outage.ts';
import type { Connections } from './pool.ts';
import type { Connection } from './transaction.ts';
import { requestLimit, withConnection } from './with-connection.ts';

/**
 * Checks that the API can and may serve on this database: the schema is this release's, or a newer one that serves it
 * too, the server is a primary, which may be read-only, and the role is bound by row-level security. Throws an Error of
 * one sentence; Outage if that may change while the program runs: Postgres cannot answer, or the schema is too old or
 * too new.
 */
export function checkDatabase(pool: Connections): Promise<void> {
  return withConnection(pool, requestLimit, async (connection) => {
    await checkRole(connection);
    await refuseUnreleased(connection);
    const [{ length: known }, found] = await Promise.all([readMigrations(), schemaOf(connection)]);
    const schema = `The database is at schema ${String(found.number)}`;
    if (found.number < known) {
      throw new Outage(`${schema}, this release needs ${String(known)}: run boxgate migrate`);
    }
    if (found.servesFrom > known) {
      const release = `which serves releases from schema ${String(found.servesFrom)}; this one has ${String(known)}`;
      throw new Outage(`${schema}, ${release}: run a newer release, or restore a backup`);
    }
  });
}

async function schemaOf(connection: Connection): Promise<AppliedSchema> {
  try {
    return await appliedSchema(connection);
  } catch (error) {
    // Undefined table or schema, or no right to it: no migration has run yet.
    const isMissing = error instanceof Error && 'code' in error && /^(42P01|3F000|42501)$/.test(String(error.code));
    if (isMissing) return { number: 0, servesFrom: 0 };
    throw error;
  }
}

interface Role {
  readonly name: string;
  readonly unbound: boolean;
  readonly owner: boolean;
}

/** Checks the role: row-level security does not bind a superuser, a role with BYPASSRLS or the owner of the tables. */
async function checkRole(connection: Connection): Promise<void> {
  const { rows } = await connection.query<Role>(
    `SELECT r.rolname AS name, r.rolsuper OR r.rolbypassrls AS unbound,
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
}
