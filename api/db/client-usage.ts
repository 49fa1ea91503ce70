import type pg from 'pg';
import { outsideBoxes } from './transaction.ts';

/** That a client was used, and when; times in milliseconds since 1970. */
export interface ClientUse {
  readonly box: string;
  readonly client: string;
  /** When it last got a token. */
  readonly token: number | undefined;
  /** When it last authenticated with its previous secret, and the stored form of that one. */
  readonly previous: { readonly stored: string; readonly at: number } | undefined;
}

/** Milliseconds: thousands of clients are one statement. */
const noteLimit = 10_000;

/** Writes uses of clients of any boxes, in one statement; clients that are not there any more are passed over. Throws Outage. */
export function noteUsage(pool: pg.Pool, uses: readonly ClientUse[]): Promise<void> {
  const values = [
    uses.map(({ box }) => box),
    uses.map(({ client }) => client),
    uses.map(({ token }) => token ?? null),
    uses.map(({ previous }) => previous?.stored ?? null),
    uses.map(({ previous }) => previous?.at ?? null),
  ];
  const note = 'SELECT boxgate.note_usage($1::text[], $2::text[], $3::bigint[], $4::text[], $5::bigint[])';
  return outsideBoxes(
    pool,
    async (connection) => {
      await connection.query(note, values);
    },
    noteLimit,
  );
}
