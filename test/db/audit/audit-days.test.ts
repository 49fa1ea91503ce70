import { expect } from 'chai';
import type pg from 'pg';
import { newAuditId } from '../../../api/audit/audit-id.ts';
import { upkeepAuditDays } from '../../../api/db/audit/audit-days.ts';
import { createPool, defaultLimits } from '../../../api/db/core/pool.ts';
import { entries, startBoxApi } from '../../http/resources/box-api.ts';
import type { BoxApi } from '../../http/resources/box-api.ts';
import { ownerQuery } from '../../support/owner-query.ts';

describe('the days of the audit trail', () => {
  let api: BoxApi;
  let pool: pg.Pool;

  before(async () => {
    api = await startBoxApi();
    pool = createPool(api.database.apiUrl, defaultLimits, 'audit-days-test', () => undefined);
  });
  after(async () => {
    await pool.end();
    await api.stop();
  });

  const today = (): Promise<number> => numberOf('SELECT floor(extract(epoch FROM now()) / 86400)::int AS number');

  async function numberOf(statement: string): Promise<number> {
    const [row] = await ownerQuery(api, statement, []);
    return Number(row?.['number']);
  }

  async function days(): Promise<readonly number[]> {
    return (await ownerQuery(api, 'SELECT day FROM boxgate.audit_days()', [])).map(({ day }) => Number(day));
  }

  /** Makes a record and returns the day on which it expires. */
  async function expiryOf(name: string): Promise<number> {
    const { status } = await api.call('POST', '/Group', { body: { name } });
    expect(status).to.equal(201);
    return numberOf('SELECT day AS number FROM boxgate.audit_event ORDER BY id DESC LIMIT 1');
  }

  it('keeps a record for as many days as the Box says', async () => {
    const expected = await today();
    expect(await expiryOf('by default')).to.be.within(expected + 90, expected + 91);
    for (const retention of [1, 30, 400]) {
      await api.declare('default', [{ kind: 'Box', id: 'default', audit: { retention } }]);
      expect(await expiryOf(`for ${String(retention)}`)).to.be.within(expected + retention, expected + retention + 1);
    }
    await api.remove('default', [{ kind: 'Box', id: 'default' }]);
    expect(await expiryOf('by default again')).to.be.within(expected + 90, expected + 91);
  });

  it('are created ahead for each retention that a Box has, until the day after tomorrow', async () => {
    await api.declare('other', [{ kind: 'Box', id: 'other', audit: { retention: 7 } }]);
    for (const day of await days()) {
      if (day > (await today()) + 80) continue;
      await ownerQuery(api, `DROP TABLE boxgate.audit_event_${String(day)}`, []);
    }
    expect(await upkeepAuditDays(pool)).to.deep.equal({ made: 3, dropped: 0 });
    const first = (await today()) + 7;
    expect(await days()).to.include.members([first, first + 1, first + 2]);
    expect(await upkeepAuditDays(pool)).to.deep.equal({ made: 0, dropped: 0 });
  });

  it('are dropped with their records once they are over, and not before', async () => {
    const now = await today();
    for (const day of [now - 1, now]) {
      const [from, to] = [String(day), String(day + 1)];
      const values = `FOR VALUES FROM (${from}) TO (${to})`;
      await ownerQuery(api, `CREATE TABLE boxgate.audit_event_${from} PARTITION OF boxgate.audit_event ${values}`, []);
      await ownerQuery(
        api,
        `INSERT INTO boxgate.audit_event (id, version, created_at, day, box, event, result)
         VALUES ($1, 1, now(), ${from}, 'default', 'user.deleted', 'success')`,
        [newAuditId(Date.now())],
      );
    }
    const found = async () => entries(await api.call('GET', '/AuditEvent?event=user.deleted')).length;
    expect(await found()).to.equal(2);
    expect(await upkeepAuditDays(pool)).to.deep.equal({ made: 0, dropped: 1 });
    expect(await found()).to.equal(1);
    await expectRefused(`SELECT boxgate.drop_audit_day(${String(now)})`, 'is not over');
    await expectRefused('SELECT boxgate.make_audit_days(401)', 'no retention');
    await expectRefused('SELECT boxgate.make_audit_days(0)', 'no retention');
  });

  it('each have a function that reads their pages, which goes with them', async () => {
    const readers = async (): Promise<readonly number[]> => {
      const statement = `SELECT substring(proname FROM '[0-9]+$')::integer AS day FROM pg_proc
                          WHERE pronamespace = 'boxgate'::regnamespace AND proname ~ '^audit_rows_[0-9]+$'`;
      return (await ownerQuery(api, statement, [])).map(({ day }) => Number(day));
    };
    await ownerQuery(api, 'SELECT boxgate.make_audit_days(200)', []);
    const last = (await today()) + 202;
    expect(await readers()).to.include(last);
    const over = (await today()) - 1;
    const values = `FOR VALUES FROM (${String(over)}) TO (${String(over + 1)})`;
    await ownerQuery(
      api,
      `CREATE TABLE boxgate.audit_event_${String(over)} PARTITION OF boxgate.audit_event ${values}`,
      [],
    );
    await ownerQuery(api, 'SELECT boxgate.make_audit_reads($1)', [over]);
    expect(await readers()).to.include(over);
    expect(await upkeepAuditDays(pool)).to.deep.include({ dropped: 1 });
    expect(await readers()).not.to.include(over);
  });

  it('get the function that a release before left out, which would cost each page a transaction', async () => {
    await ownerQuery(api, 'SELECT boxgate.make_audit_days(20)', []);
    const day = (await today()) + 22;
    const hasReader = async (): Promise<boolean> => {
      const [row] = await ownerQuery(api, 'SELECT to_regproc($1) IS NOT NULL AS made', [
        `boxgate.audit_rows_${String(day)}`,
      ]);
      return row?.['made'] === true;
    };
    await ownerQuery(api, `DROP FUNCTION boxgate.audit_rows_${String(day)}`, []);
    expect(await hasReader()).to.equal(false);
    expect(await numberOf('SELECT boxgate.make_audit_days(20) AS number')).to.equal(0);
    expect(await hasReader()).to.equal(true);
  });

  it('have pages whose plans, kept since the day was empty, probe the primary key', async () => {
    const day = (await today()) + 200;
    const table = `boxgate.audit_event_${String(day)}`;
    const connection = await pool.connect();
    const read = (before: string) =>
      connection.query(`SELECT FROM boxgate.audit_events_before('{default}', $1, '{10}', '{0}')`, [[before]]);
    const newest = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
    try {
      await ownerQuery(api, `ALTER TABLE ${table} SET (autovacuum_enabled = off)`, []);
      // Other tests create days without it.
      await ownerQuery(api, 'SELECT boxgate.make_audit_reads(day) FROM boxgate.audit_days()', []);
      const fill = (count: number) =>
        ownerQuery(
          api,
          `INSERT INTO boxgate.audit_event (id, version, created_at, day, box, event, result, target)
           SELECT ('ffffff00-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 1, now(), $2, 'default', 'user.changed',
                  'success', 'User/1' FROM generate_series(1, $1::integer) n`,
          [count, day],
        );
      await fill(1);
      for (let nth = 0; nth < 3; nth += 1) await read(newest);
      await ownerQuery(api, `DELETE FROM ${table}`, []);
      await fill(1_000);
      await connection.query('BEGIN');
      expect((await read('ffffff00-0000-7000-8000-000000000900')).rowCount).to.equal(11);
      const { rows } = await connection.query<{ index: string; entries: string }>(
        `SELECT indexrelid::regclass::text AS index, pg_stat_get_xact_tuples_returned(indexrelid) AS entries
           FROM pg_index WHERE indrelid = $1::regclass AND pg_stat_get_xact_numscans(indexrelid) > 0`,
        [table],
      );
      // The page, one more by which it knows that there are some, and what is left of a deleted record.
      expect(rows.map(({ index }) => index)).to.deep.equal([`${table}_pkey`]);
      expect(Number(rows[0]?.entries)).to.be.within(12, 30);
      await connection.query('ROLLBACK');
    } finally {
      connection.release();
    }
  });

  async function expectRefused(statement: string, message: string): Promise<void> {
    const error = await pool.query(statement).then(
      () => 'worked',
      (reason: unknown) => String(reason),
    );
    expect(error).to.contain(message);
  }
});
