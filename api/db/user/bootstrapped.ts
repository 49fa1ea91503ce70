import type { Connection } from '../core/transaction.ts';

/** Reads the normal form of the email for which the first admin of a box was last created; undefined if none. */
export async function readBootstrapped(connection: Connection, box: string): Promise<string | undefined> {
  const { rows } = await connection.query<{ bootstrapped: string | null }>(
    'SELECT bootstrapped FROM boxgate.box WHERE box = $1',
    [box],
  );
  return rows[0]?.bootstrapped ?? undefined;
}

/** Stores the normal form of the email for which the first admin of a box was created. */
export async function writeBootstrapped(connection: Connection, box: string, emailKey: string): Promise<void> {
  await connection.query('UPDATE boxgate.box SET bootstrapped = $2 WHERE box = $1', [box, emailKey]);
}
