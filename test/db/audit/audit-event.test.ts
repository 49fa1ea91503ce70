import { expect } from 'chai';
import type pg from 'pg';
import { newAuditId } from '../../../api/audit/audit-trail.ts';
import { readFilledDays } from '../../../api/db/audit/audit-days.ts';
import { auditListing, storeCountedEvents } from '../../../api/db/audit/audit-event.ts';
import type { AuditEventOfBox, AuditFilters } from '../../../api/db/audit/audit-event.ts';
import { deleteRecords, endBoxData } from '../../../api/db/box/box-data.ts';
import { bumpVersion } from '../../../api/db/box/box.ts';
import { createPool, defaultLimits } from '../../../api/db/core/pool.ts';
import { inBox } from '../../../api/db/core/transaction.ts';
import { entries, startBoxApi } from '../../http/resources/box-api.ts';
import type { BoxApi } from '../../http/resources/box-api.ts';
import { costOf } from '../../records/statement-cost.ts';
import { ownerQuery } from '../../support/owner-query.ts';

describe('records of the audit trail in the database', () => {
  let api: BoxApi;
  let pool: pg.Pool;

  before(async () => {
    api = await startBoxApi();
    pool = createPool(api.database.apiUrl, defaultLimits, 'audit-event-test', () => undefined);
  });
  after(async () => {
    await pool.end();
    await api.stop();
  });

  const counted = (box: string, target: string, time = Date.now()): AuditEventOfBox => ({
    ...{ id: newAuditId(time), box, event: 'user.deleted', result: 'success', target, count: 3 },
    ...{ client: undefined, user: undefined, remoteAddr: undefined, operator: undefined, session: undefined },
    ...{ requestId: undefined, member: undefined, changed: undefined, reason: undefined, sent: undefined },
  });

  async function targets(box: string): Promise<readonly unknown[]> {
    const statement = 'SELECT target FROM boxgate.audit_event WHERE box = $1 ORDER BY id';
    return (await ownerQuery(api, statement, [box])).map(({ target }) => target);
  }

  it('are stored for many boxes at once, each in its own, and none for a box that is not there', async () => {
    await storeCountedEvents(pool, [
      counted('default', 'User/1'),
      counted('other', 'User/2'),
      counted('none', 'User/3'),
    ]);
    expect(await targets('default'))
      .to.include('User/1')
      .and.not.include('User/2');
    expect(await targets('other'))
      .to.include('User/2')
      .and.not.include('User/1');
    expect(await targets('none')).to.deep.equal([]);
  });

  it('are found by an index of each filter that narrows a search', async () => {
    await ownerQuery(
      api,
      `INSERT INTO boxgate.audit_event (id, version, created_at, day, box, event, result, client, user_id, remote_addr,
                                        session, target, member)
       SELECT gen_random_uuid(), b.config_version, now(), boxgate.audit_day('many'), 'many', 'user.deleted', 'success',
              'c' || n, n, '192.0.2.' || n, gen_random_uuid(), 'User/' || n, n
         FROM generate_series(1, 5000) n, boxgate.box b WHERE b.box = 'default'`,
      [],
    );
    await ownerQuery(api, 'ANALYZE boxgate.audit_event', []);
    const session = '0197a0a0-0000-7000-8000-000000000001';
    const filters: readonly AuditFilters[] = [
      ...[{ client: 'c7' }, { user: 7 }, { remoteAddr: '192.0.2.7' }, { target: 'User/7' }, { member: 7 }],
      { session },
    ];
    for (const one of filters) {
      const { buffers, scans } = await inBox(pool, 'many', 'snapshot', async (connection) => {
        const days = await readFilledDays(connection);
        const search = { box: 'many', filters: { ...one, days } };
        return costOf(connection, (noting) => auditListing.count(noting, search));
      });
      const ofRecords = scans.filter(({ table }) => table.startsWith('audit_event'));
      expect(
        ofRecords.map(({ type }) => type),
        JSON.stringify(one),
      ).not.to.include('Seq Scan');
      expect(buffers, JSON.stringify(one)).to.be.lessThan(30);
    }
  });

  it('cannot be changed or deleted by the API, even in their box', async () => {
    for (const statement of [
      "UPDATE boxgate.audit_event SET event = 'user.created'",
      'DELETE FROM boxgate.audit_event',
      'TRUNCATE boxgate.audit_event',
    ]) {
      const error = await inBox(pool, 'default', 'write', (connection) => connection.query(statement)).then(
        () => 'worked',
        (reason: unknown) => String(reason),
      );
      expect(error, statement).to.contain('permission denied');
    }
  });

  it('are hidden at once when the data of their box is discarded, and then deleted', async () => {
    const noted = Date.now() - 1000;
    await storeCountedEvents(pool, [counted('default', 'User/9'), counted('other', 'User/10')]);
    await inBox(pool, 'default', 'write', async (connection) => {
      await endBoxData(connection, 'default', await bumpVersion(connection, 'default'), 'unowned');
    });
    await inBox(pool, 'default', 'write', async (connection) => {
      await connection.query('UPDATE boxgate.box SET config_version = config_version + 1 WHERE box = $1', ['default']);
    });
    const token = (await api.requestToken('admin', 'admin-secret')).body;
    const access = typeof token === 'object' && token !== null && 'access_token' in token ? token.access_token : '';
    const shown = entries(await api.call('GET', '/AuditEvent', { token: String(access) }));
    expect(shown).to.deep.equal([]);
    expect(await targets('default')).to.include('User/9');
    // A replica had noted this before, and writes it now.
    await storeCountedEvents(pool, [
      counted('default', 'User/11', noted),
      counted('default', 'User/12', Date.now() + 1000),
    ]);
    expect(await inBox(pool, 'default', 'write', (connection) => deleteRecords(connection, 'default'))).to.equal(true);
    expect(await targets('default')).to.deep.equal(['User/12']);
    expect(await targets('other')).to.include('User/10');
  });
});
