import { whole } from '../figures.ts';
import { formRequest } from '../load/requests.ts';
import type { BenchContext } from '../context.ts';
import { verdictOf, type Scenario } from '../scenario.ts';

const sessions = 200_000;

/** Size of a client's live session on disk, with every index, and in the write-ahead log. */
export const storage: Scenario = {
  name: 'storage',
  async run(context) {
    const boxgate = await context.boxgate('storage');
    const request = formRequest(
      boxgate.path('/auth/token'),
      { grant_type: 'client_credentials' },
      boxgate.clients.opaque,
    );
    await context.postgres.query(boxgate.database, 'CHECKPOINT');
    const before = await sizes(context, boxgate.database);
    const plan = { port: boxgate.port, connections: 64, requests: [request], limit: sessions };
    const report = await context.load.run({ ...plan, seconds: 300, warmupSeconds: 0 });
    const after = await sizes(context, boxgate.database);
    const stored = after.rows - before.rows;
    if (stored !== report.requests) throw new Error(`${report.requests} tokens, but ${stored} rows`);
    const bytes = (after.bytes - before.bytes) / stored;
    return [
      {
        what: 'bytes a live session of client credentials, all indexes included',
        goal: '<= 250 B',
        figure: `${whole(bytes)} B (${whole(stored)} sessions)`,
        verdict: verdictOf(bytes <= 250),
      },
      {
        what: 'write-ahead log for one token, full-page images included',
        goal: 'reported',
        figure: `${whole((after.wal - before.wal) / stored)} B`,
        verdict: 'reported',
      },
    ];
  },
};

interface Sizes {
  readonly rows: number;
  readonly bytes: number;
  readonly wal: number;
}

async function sizes(context: BenchContext, database: string): Promise<Sizes> {
  const [row] = await context.postgres.query<{ rows: string; bytes: string; wal: string }>(
    database,
    `SELECT (SELECT count(*) FROM boxgate.session) AS rows,
            (SELECT sum(pg_total_relation_size(inhrelid))
               FROM pg_inherits WHERE inhparent = 'boxgate.session'::regclass) AS bytes,
            pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS wal`,
  );
  return { rows: Number(row?.rows), bytes: Number(row?.bytes), wal: Number(row?.wal) };
}
