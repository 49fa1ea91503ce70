// The naive floor of storing a client: express, JSON, and one transaction with the statements that a change consists
// of, each by hand: lock, read, count, number, store, count again, record, commit. Nobody is authenticated, nothing is
// checked, hashed or logged.
import { randomUUID } from 'node:crypto';
import express from 'express';
import pg from 'pg';
import { announce } from './announce.ts';
import { floorSettings } from './settings.ts';

/** Boxes, and the clients that each has at first. */
const boxes = { few: 10, many: 10_000 } as const;

const settings = floorSettings();
const pool = new pg.Pool({ connectionString: settings.databaseUrl, max: settings.pool });
await createTables();

const app = express();
app.put('/boxes/:box/Client/:id', express.json(), async (request, response) => {
  const { box, id } = request.params;
  response.json(await store(box, id, JSON.stringify(request.body)));
});
announce(app.listen(0, '127.0.0.1'));

async function store(box: string, id: string, body: string): Promise<unknown> {
  const connection = await pool.connect();
  const run = (text: string, ...values: unknown[]) => connection.query<Record<string, unknown>>(text, values);
  try {
    await run('begin');
    await run('select version from box where box = $1 for update', box);
    await run('select version, body from client where box = $1 and id = $2', box, id);
    await run('select clients, bytes from box_use where box = $1', box);
    const numbered = await run(
      `with next as (update box set version = version + 1 where box = $1 returning box, version)
       insert into box_version (box, version) select box, version from next returning version`,
      box,
    );
    const version = numbered.rows[0]?.['version'];
    const stored = await run(
      `insert into client as c (box, id, version, body) values ($1, $2, $3, $4)
       on conflict (box, id) do update set version = excluded.version, body = excluded.body returning c.body`,
      ...[box, id, version, body],
    );
    await run('update box_use set bytes = bytes + 1 where box = $1 returning clients, bytes', box);
    await run(
      `insert into audit_event (id, box, event, target, created_at) values ($1, $2, 'client.changed', $3, now())`,
      ...[randomUUID(), box, id],
    );
    await run('commit');
    return stored.rows[0]?.['body'];
  } finally {
    connection.release();
  }
}

async function createTables(): Promise<void> {
  await pool.query(
    `create table box (box text primary key, version bigint not null);
     create table box_version (box text, version bigint, primary key (box, version));
     create table box_use (box text primary key, clients bigint not null, bytes bigint not null);
     create table client (box text, id text, version bigint not null, body jsonb not null, primary key (box, id));
     create table audit_event (id uuid primary key, box text not null, event text not null, target text not null,
                               created_at timestamptz not null)`,
  );
  for (const [box, clients] of Object.entries(boxes)) {
    await pool.query('insert into box values ($1, 1)', [box]);
    await pool.query('insert into box_use values ($1, $2, 0)', [box, clients]);
    await pool.query(
      `insert into client select $1, 'client-' || nth, 1, '{}' from generate_series(0, $2::int - 1) as nth`,
      [box, clients],
    );
  }
}
