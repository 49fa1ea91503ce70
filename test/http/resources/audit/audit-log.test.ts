import { expect } from 'chai';
import { ownerQuery } from '../../../support/owner-query.ts';
import { eventually } from '../../../support/eventually.ts';
import { newBrowser } from '../../pages/browser.ts';
import { auditRecords, loggedRecords, record } from './audit-records.ts';
import type { AuditRecords } from './audit-records.ts';
import { startBoxApi } from '../box-api.ts';
import type { BoxApi } from '../box-api.ts';

describe('the audit trail', () => {
  let api: BoxApi;
  let trail: AuditRecords;

  before(async () => {
    api = await startBoxApi();
    trail = auditRecords(api);
  });
  after(() => api.stop());

  it('stores nothing of what was typed for an unknown account or client', async () => {
    const typed = 'my-pass-word-in-the-wrong-field@shop.example';
    await newBrowser(api).submit('/auth/signin', { email: typed, password: 'wrong' });
    await api.requestToken('unknown-client-name', 'wrong-secret');
    await api.requestToken('admin', 'wrong-secret');
    expect(await trail.written('event=client.authentication_failed&target=Client/admin')).to.include({
      result: 'failure',
    });
    for (const event of ['user.sign_in_failed', 'client.authentication_failed']) {
      await eventually(`${event} is recorded without a target`, async () => {
        return (await trail.found(`event=${event}`)).some(({ target }) => target === undefined);
      });
    }
    const everything = JSON.stringify(await ownerQuery(api, 'SELECT * FROM boxgate.audit_event', []));
    for (const text of [typed, 'unknown-client-name', 'wrong-secret']) {
      expect(everything).not.to.contain(text);
      expect(api.logLines.filter((line) => line.includes('"audit event"')).join()).not.to.contain(text);
    }
  });

  it('begins no line of its own with text from a request', async () => {
    const forged = '"}\n{"level":"info","audit":{"event":"forged.event"}}\r\n\u2028';
    const headers = { 'User-Agent': 'a"}{"audit":{}}', 'X-Forwarded-For': '1.2.3.4", "x": "' };
    await newBrowser(api).submit('/auth/signin', { email: forged, password: forged }, headers);
    await api.requestToken(forged, forged);
    await api.call('GET', `/Client/${encodeURIComponent(forged)}`, { token: api.adminToken });
    const { body } = await api.call('POST', '/Group', { body: { name: 'an honest one' } });
    expect(body).to.include({ name: 'an honest one' });
    expect(loggedRecords(api).map(({ event }) => event)).not.to.include('forged.event');
  });

  it('writes a line of the log for each record, with the same record', async () => {
    const records = await trail.change('POST', '/Group', { body: { name: 'logged' } });
    const logged = loggedRecords(api);
    for (const one of logged) expect([...record.Errors(one)], JSON.stringify(one)).to.deep.equal([]);
    expect(logged).to.deep.include(records[0]);
    await eventually('all that is logged is stored', async () => {
      const databases = new Set(['default', 'other'].map((box) => api.databaseOf(box)));
      const stored = await Promise.all(
        [...databases].map((database) => ownerQuery({ database }, 'SELECT FROM boxgate.audit_event', [])),
      );
      return stored.flat().length === loggedRecords(api).length;
    });
  });
});
