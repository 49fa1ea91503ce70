import type pg from 'pg';

/** Tables that a replica keeps in memory, and the epochs that fence leaders; sessions are left out. */
const tables = ['box', 'box_version', 'resource', 'tombstone', 'revocation', 'signing_key', 'operator_epoch'];

/** Keeps a copy of the tables as they are; the returned function puts it back, as a restored backup does. */
export async function backUp(owner: pg.Pool): Promise<() => Promise<void>> {
  const each = (statement: (table: string) => string) => tables.map(statement).join('; ');
  await owner.query('DROP SCHEMA IF EXISTS backup CASCADE; CREATE SCHEMA backup');
  await owner.query(each((table) => `CREATE TABLE backup.${table} AS TABLE boxgate.${table}`));
  return async () => {
    const emptied = `TRUNCATE ${tables.map((table) => `boxgate.${table}`).join(', ')} CASCADE`;
    const filled = each((table) => `INSERT INTO boxgate.${table} SELECT * FROM backup.${table}`);
    await owner.query(`BEGIN; ${emptied}; ${filled}; COMMIT`);
  };
}
