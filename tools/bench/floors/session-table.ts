import type { Pool } from 'pg';

/** Makes the table of the floors: one row a session, a primary key, nothing else. */
export async function createSessionTable(pool: Pool): Promise<void> {
  await pool.query(
    `create table if not exists session (
       id uuid primary key, token text not null, client text not null, expires_at timestamptz not null)`,
  );
}
