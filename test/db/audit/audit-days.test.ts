import { expect } from 'chai';
import type pg from 'pg';
import { newAuditId } from '../../../api/audit/audit-trail.ts';
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
    return (await ownerQuery(api, 'SELECT day FROM boxgate.audit_day', [])).map(({ day }) => Number(day));
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
      await ownerQuery(api, 'DELETE FROM boxgate.audit_day WHERE day = $1', [day]);
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
      await ownerQuery(api, 'INSERT INTO boxgate.audit_day VALUES ($1)', [day]);
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

  async function expectRefused(statement: string, message: string): Promise<void> {
    const error = await pool.query(statement).then(
      () => 'worked',
      (reason: unknown) => String(reason),
    );
    expect(error).to.contain(message);
  }
});
