// The naive floor of a token check: express, a form, one row in a batch of reads by primary key.
import express from 'express';
import pg from 'pg';
import { announce, createSessionTable, floorSettings, microBatch } from './floor.ts';

type Session = { id: string; client: string; expires_at: Date };

const settings = floorSettings();
const pool = new pg.Pool({ connectionString: settings.databaseUrl, max: settings.pool });
await createSessionTable(pool);

const find = microBatch(settings, async (ids: string[]) => {
  const { rows } = await pool.query<Session>('select id, client, expires_at from session where id = any($1::uuid[])', [
    ids,
  ]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
});

const app = express();
app.post('/auth/introspect', express.urlencoded({ extended: false }), async (request, response) => {
  const session = await find(tokenOf(request.body));
  if (session === undefined) response.json({ active: false });
  else {
    const exp = Math.floor(session.expires_at.getTime() / 1000);
    response.json({ active: true, client_id: session.client, token_type: 'Bearer', exp });
  }
});
announce(app.listen(0, '127.0.0.1'));

function tokenOf(body: unknown): string {
  return typeof body === 'object' && body !== null && 'token' in body ? String(body.token) : '';
}
