// One INSERT a request: what one caller alone waits for, at least.
import { randomBytes, randomUUID } from 'node:crypto';
import express from 'express';
import pg from 'pg';
import { announce } from './announce.ts';
import { createSessionTable } from './session-table.ts';
import { floorSettings } from './settings.ts';

const settings = floorSettings();
const pool = new pg.Pool({ connectionString: settings.databaseUrl, max: settings.pool });
await createSessionTable(pool);

const app = express();
app.post('/auth/token', express.urlencoded({ extended: false }), async (_request, response) => {
  const token = randomBytes(32).toString('base64url');
  await pool.query('insert into session (id, token, client, expires_at) values ($1, $2, $3, $4)', [
    randomUUID(),
    token,
    'bench',
    new Date(Date.now() + 3_600_000),
  ]);
  response.json({ token_type: 'Bearer', access_token: token });
});
announce(app.listen(0, '127.0.0.1'));
