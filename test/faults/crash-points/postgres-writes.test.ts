import { expect } from 'chai';
import pg from 'pg';
import { bareDatabase, type TestDatabase } from '../../support/postgres.ts';
import { startPostgresWrites } from './postgres-writes.ts';
import { createWriteLog, type Way } from './write-log.ts';

describe('a proxy of Postgres that shows writes', () => {
  let database: TestDatabase;
  const insert = 'SQL INSERT INTO box';
  const commit = 'SQL COMMIT of INSERT INTO box';

  before(async () => {
    database = await bareDatabase();
    await withClient(database.ownerUrl, (client) =>
      client.query('CREATE SCHEMA boxgate; CREATE TABLE boxgate.box (id text)'),
    );
  });
  beforeEach(() => withClient(database.ownerUrl, (client) => client.query('TRUNCATE boxgate.box')));
  after(() => database.drop());

  async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  /** A transaction through the proxy: whether it was acknowledged, what was recorded, and how many rows are there. */
  async function play(plan?: { readonly write: string; readonly way: Way }) {
    const log = createWriteLog();
    log.begin('shop', plan && { ...plan, place: 1 });
    const crashed = Promise.withResolvers<undefined>();
    const url = new URL(database.ownerUrl);
    const proxy = await startPostgresWrites({
      target: Number(url.port),
      writers: new Set(),
      log,
      crash: () => crashed.resolve(undefined),
    });
    url.port = String(proxy.port);
    const acknowledged = await withClient(url.href, async (client) => {
      await client.query("BEGIN; SET LOCAL boxgate.box = 'shop'");
      await client.query('INSERT INTO boxgate.box VALUES ($1)', ['row']);
      await client.query('COMMIT');
      return true;
    }).catch(() => false);
    if (plan !== undefined && plan.way !== 'connection cut') await crashed.promise;
    await proxy.close();
    const { rowCount } = await withClient(database.ownerUrl, (client) => client.query('SELECT FROM boxgate.box'));
    return { acknowledged, rows: rowCount, writes: log.writes };
  }

  it('is not noticed where no plan is', async () => {
    expect(await play()).to.deep.equal({ acknowledged: true, rows: 1, writes: [insert, commit] });
  });

  const table = [
    [insert, 'before', false, 0],
    [insert, 'answer lost', false, 0],
    [commit, 'before', false, 0],
    [commit, 'answer lost', false, 1],
    [commit, 'connection cut', false, 1],
    [insert, 'connection cut', false, 0],
    [commit, 'after', true, 1],
  ] as const;
  for (const [write, way, acknowledged, rows] of table) {
    it(`ends it at ${write}, ${way}: ${String(rows)} rows, ${acknowledged ? '' : 'not '}acknowledged`, async () => {
      const played = await play({ write, way });
      expect({ ...played, writes: 0 }).to.deep.equal({ acknowledged, rows, writes: 0 });
    });
  }
});
