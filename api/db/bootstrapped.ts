import type { Connection } from './transaction.ts';

/** The normal form of the email that the first admin of a box was last made for; undefined: for none. */
export async function readBootstrapped(connection: Connection, box: string): Promise<string | undefined> {
  const { rows } = await connection.query<{ bootstrapped: string | null }>(
    'SELECT bootstrapped FROM boxgate.box WHERE box = $1',
    [box],
  );
  return rows[0]?.bootstrapped ?? undefined;
}

/** Remembers for whom the first admin of a box was made. */
export async function writeBootstrapped(connection: Connection, box: string, emailKey: string): Promise<void> {
  await connection.query('UPDATE boxgate.box SET bootstrapped = $2 WHERE box = $1', [box, emailKey]);
}
