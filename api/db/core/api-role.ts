import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';

/**
 * Creates the role that the API connects as, or sets its password if it exists. Rights on rows come with the
 * migrations. Throws an Error of one sentence if the owner of the database cannot be reached, or may not do so: then it
 * has the statement, without the password.
 */
export async function ensureApiRole(ownerUrl: string, role: string, password: string): Promise<void> {
  const client = new pg.Client({
    connectionString: ownerUrl,
    application_name: 'boxgate-role',
    connectionTimeoutMillis: 10_000,
    statement_timeout: 30_000,
  });
  client.on('error', () => undefined);
  let statement: string | undefined;
  try {
    await client.connect();
    const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [role]);
    statement = `${rowCount === 0 ? 'CREATE' : 'ALTER'} ROLE ${client.escapeIdentifier(role)} LOGIN PASSWORD`;
    await client.query(`${statement} '${scramVerifier(password)}'`);
  } catch (cause) {
    const isForbidden = cause instanceof Error && 'code' in cause && cause.code === '42501';
    if (isForbidden && statement !== undefined) {
      const urls = '--api-database-url, or BOXGATE_DATABASE_URL without BOXGATE_CREATE_API_ROLE';
      throw new Error(
        `The owner of the database may not create the API's role: have somebody run ${statement} '…', then give its URL (${urls})`,
        { cause },
      );
    }
    const reason = cause instanceof Error ? cause.message : 'unknown';
    throw new Error(`The role ${role} cannot be created in this database: ${reason}`, { cause });
  } finally {
    await client.end();
  }
}

const iterations = 4096;

/** Returns the form of a password that Postgres stores (RFC 5802 §3, pg_authid): no statement or log contains it. */
function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const key = (label: string): Buffer => createHmac('sha256', salted).update(label).digest();
  const storedKey = createHash('sha256').update(key('Client Key')).digest('base64');
  const serverKey = key('Server Key').toString('base64');
  return `SCRAM-SHA-256$${String(iterations)}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
