// The naive floor of issuing a token: express, a form, one row in a batch of inserts.
import { randomBytes, randomUUID } from 'node:crypto';
import express from 'express';
import pg from 'pg';
import { announce, createSessionTable, floorSettings, microBatch } from './floor.ts';

type Row = { id: string; token: string; client: string; expires: Date };

const settings = floorSettings();
const pool = new pg.Pool({ connectionString: settings.databaseUrl, max: settings.pool });
await createSessionTable(pool);

const insert = microBatch(settings, async (rows: Row[]) => {
  await pool.query(
    `insert into session (id, token, client, expires_at)
     select * from unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[])`,
    [
      rows.map(({ id }) => id),
      rows.map(({ token }) => token),
      rows.map(({ client }) => client),
      rows.map(({ expires }) => expires),
    ],
  );
  return rows;
});

const app = express();
app.post('/auth/token', express.urlencoded({ extended: false }), async (_request, response) => {
  const token = randomBytes(32).toString('base64url');
  await insert({ id: randomUUID(), token, client: 'bench', expires: new Date(Date.now() + 3_600_000) });
  response.json({ token_type: 'Bearer', access_token: token });
});
announce(app.listen(0, '127.0.0.1'));
