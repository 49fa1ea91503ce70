import type { Server } from 'node:http';
import type { Pool } from 'pg';

/** Settings that a floor shares with the product, so that neither wins by a larger pool or batch. */
export type FloorSettings = { databaseUrl: string; pool: number; statements: number; batch: number };

/** Reads `FLOOR_DATABASE_URL`, `FLOOR_POOL`, `FLOOR_STATEMENTS` and `FLOOR_BATCH`. */
export function floorSettings(): FloorSettings {
  return {
    databaseUrl: process.env['FLOOR_DATABASE_URL'] ?? '',
    pool: Number(process.env['FLOOR_POOL'] ?? 4),
    statements: Number(process.env['FLOOR_STATEMENTS'] ?? 2),
    batch: Number(process.env['FLOOR_BATCH'] ?? 256),
  };
}

/** Says on standard output where this server listens, in the form the product's own log line has. */
export function announce(server: Server): void {
  server.on('listening', () => {
    const address = server.address();
    if (address !== null && typeof address === 'object') {
      process.stdout.write(`${JSON.stringify({ msg: 'listening', port: address.port })}\n`);
    }
  });
}

/** Makes the table of the floors: one row a session, a primary key, nothing else. */
export async function createSessionTable(pool: Pool): Promise<void> {
  await pool.query(
    `create table if not exists session (
       id uuid primary key, token text not null, client text not null, expires_at timestamptz not null)`,
  );
}

/** Limits of concurrent statements, and of items in each. */
export type BatchLimits = { statements: number; batch: number };

/**
 * The plain micro-batch: items that arrive while statements are under way share the next one. `run` gets the items of
 * one statement and answers them in order.
 */
export function microBatch<Item, Answer>(
  limits: BatchLimits,
  run: (items: Item[]) => Promise<Answer[]>,
): (item: Item) => Promise<Answer> {
  const waiting: { item: Item; resolve: (answer: Answer) => void; reject: (reason: unknown) => void }[] = [];
  let underWay = 0;
  const flush = async (): Promise<void> => {
    if (underWay >= limits.statements || waiting.length === 0) return;
    const taken = waiting.splice(0, limits.batch);
    underWay += 1;
    try {
      const answers = await run(taken.map(({ item }) => item));
      answers.forEach((answer, place) => taken[place]?.resolve(answer));
    } catch (error) {
      taken.forEach(({ reject }) => reject(error));
    }
    underWay -= 1;
    void flush();
  };
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      void flush();
    });
}
