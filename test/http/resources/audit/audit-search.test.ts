import { expect } from 'chai';
import { parse } from 'yaml';
import { isObject } from '../../../../crds/path.ts';
import { blocksOf } from '../../../support/page-block.ts';
import { auditRecords } from './audit-records.ts';
import type { AuditRecords } from './audit-records.ts';
import { addUser } from '../../pages/browser.ts';
import { adminSecret, complaints, entries, startBoxApi, stringIn } from '../box-api.ts';
import type { BoxApi, Shown } from '../box-api.ts';

describe('a search in the audit trail', () => {
  let api: BoxApi;
  let trail: AuditRecords;

  before(async () => {
    api = await startBoxApi({ BOXGATE_TRUSTED_PROXIES: '127.0.0.1' });
    trail = auditRecords(api);
  });
  after(() => api.stop());

  it('reads one record, which no request changes or deletes', async () => {
    await trail.change('POST', '/Group', { body: { name: 'read-one' } });
    const [newest] = await trail.found('_count=1');
    const path = `/AuditEvent/${String(newest?.['id'])}`;
    const read = await api.call('GET', path);
    expect(read.status).to.equal(200);
    expect(read.body).to.deep.equal(newest);
    for (const method of ['PUT', 'PATCH', 'DELETE', 'POST']) {
      const { status } = await api.call(method, method === 'POST' ? '/AuditEvent' : path, { body: {} });
      expect(status, method).to.equal(405);
    }
  });

  it('answers only with a policy that allows it', async () => {
    await api.declare('default', [
      { kind: 'Client', id: 'stranger', grant_types: ['client_credentials'], secret: 'stranger-secret' },
    ]);
    const token = stringIn(await api.requestToken('stranger', 'stranger-secret'), 'access_token');
    expect((await api.call('GET', '/AuditEvent', { token })).status).to.equal(403);
    expect((await api.call('GET', '/AuditEvent', { token: null })).status).to.equal(401);
    const [block = ''] = blocksOf('reference/audit.md', 'Read it', 'yaml');
    const manifest: unknown = parse(block);
    const spec = isObject(manifest) && isObject(manifest['spec']) ? manifest['spec'] : {};
    const link = [{ resourceType: 'Client', id: 'auditor' }];
    await api.declare('default', [
      { kind: 'Client', id: 'auditor', grant_types: ['client_credentials'], secret: 'auditor-secret' },
      { kind: 'AccessPolicy', id: 'auditors', ...spec, link },
    ]);
    const auditor = stringIn(await api.requestToken('auditor', 'auditor-secret'), 'access_token');
    expect((await api.call('GET', '/AuditEvent', { token: auditor })).status).to.equal(200);
    expect((await api.call('GET', '/Client', { token: auditor })).status).to.equal(403);
  });

  it('finds records by event, user, client, target, result and time, and pages through them', async () => {
    const target = 'Client/searched';
    await api.call('PUT', '/Client/searched', { body: { grant_types: ['client_credentials'], secret: 'one' } });
    for (const name of ['a', 'b', 'c'])
      await api.call('PATCH', '/Client/searched', { body: { name }, type: 'application/merge-patch+json' });
    expect(await trail.found(`target=${target}`)).to.have.length(4);
    expect(await trail.found(`target=${target}&event=client.changed&client=admin&result=success`)).to.have.length(3);
    expect(await trail.found(`target=${target}&result=denied`)).to.have.length(0);
    expect(await trail.found(`target=${target}&user=7`)).to.have.length(0);
    expect(await trail.found(`target=${target}&created_at=lt2020-01-01`)).to.have.length(0);
    expect(await trail.found(`target=${target}&created_at=ge2020-01-01`)).to.have.length(4);
    const first = await api.call('GET', `/AuditEvent?target=${target}&_count=3`);
    expect(entries(first).map(({ changed }) => changed)).to.deep.equal([['name'], ['name'], ['name']]);
    const next = /"next","url":"[^"]*(\/AuditEvent[^"]*)"/.exec(first.text)?.[1] ?? '';
    expect(entries(await api.call('GET', next)).map(({ event }) => event)).to.deep.equal(['client.created']);
    for (const query of ['event=unheard.of', 'target=7', 'result=maybe', 'user=ann', 'id=7', 'colour=red']) {
      expect((await api.call('GET', `/AuditEvent?${query}`)).status, query).to.equal(400);
    }
  });

  it('shows a box only its own records', async () => {
    const ours = await trail.found('_count=1000');
    const theirs = await trail.found('_count=1000', 'other');
    expect(theirs.map(({ box }) => box)).to.satisfy((names: unknown[]) => names.every((name) => name === 'other'));
    expect(theirs).to.have.length.greaterThan(0);
    const other = ours[0];
    const token = stringIn(await api.requestToken('admin', 'admin-secret', 'other'), 'access_token');
    const headers = { Authorization: `Bearer ${token}` };
    const read = await fetch(`${api.url}/boxes/other/AuditEvent/${String(other?.['id'])}`, { headers });
    expect(read.status).to.equal(404);
  });

  /** The ids of the records that a search finds, sorted. */
  const ids = async (query: string): Promise<readonly unknown[]> =>
    (await trail.found(query)).map(({ id }) => id).toSorted();

  const sorted = (records: readonly Shown[]) => records.map(({ id }) => id).toSorted();

  it('finds who was added to a group, and who left it, by the member', async () => {
    const group = (await api.call('POST', '/Group', { body: { name: 'searched' } })).body;
    const groupId = isObject(group) ? Number(group['id']) : 0;
    const [ann, ben] = [
      await addUser(api, 'ann@shop.example', 'a long one'),
      await addUser(api, 'ben@shop.example', 'a long one'),
    ];
    const joined = await trail.change('PUT', `/users/${String(ann)}`, { body: { 'group-ids': [groupId] } });
    await trail.change('PUT', `/users/${String(ben)}`, { body: { 'group-ids': [groupId] } });
    const left = await trail.change('PUT', `/users/${String(ann)}`, { body: { 'group-ids': [] } });
    const ofGroup = [...joined, ...left].filter(({ member }) => member !== undefined);
    expect(ofGroup.map(({ event }) => event)).to.deep.equal(['group.member_added', 'group.member_removed']);
    expect(await ids(`member=User/${String(ann)}`)).to.deep.equal(sorted(ofGroup));
    expect(await ids(`member=${String(ann)}`)).to.deep.equal(sorted(ofGroup));
    const added = await trail.found(`event=group.member_added&target=Group/${String(groupId)}`);
    expect(added.map(({ member }) => member)).to.deep.equal([
      { resourceType: 'User', id: String(ben) },
      { resourceType: 'User', id: String(ann) },
    ]);
  });

  it('finds what a session did, and the records of one request', async () => {
    const token = stringIn(await api.requestToken('admin', adminSecret), 'access_token');
    const first = await trail.change('POST', '/Group', { body: { name: 'by session' }, token });
    const session = String(first[0]?.['session']);
    expect(await ids(`session=${session}`)).to.deep.equal(sorted(first));
    const second = await trail.change('PATCH', `/Group/${targetId(first)}`, {
      body: { description: 'again' },
      type: 'application/merge-patch+json',
      token,
    });
    expect(second).to.have.length(1);
    expect(await ids(`session=${session}`)).to.deep.equal(sorted([...first, ...second]));
    expect(await ids(`request_id=${String(second[0]?.['request_id'])}`)).to.deep.equal(sorted(second));
    expect(await ids(`session=${session}&event=group.created`)).to.deep.equal(sorted(first));
  });

  const targetId = ([first]: readonly Shown[]): string => {
    const target = first?.['target'];
    return isObject(target) ? String(target['id']) : '';
  };

  it('finds what came from an address, in any spelling of it', async () => {
    const from = (address: string) => ({ 'X-Forwarded-For': address });
    const [four, six] = [from('192.0.2.7'), from('2001:db8::7')];
    const first = await trail.change('POST', '/Group', { body: { name: 'from 4' }, headers: four });
    const second = await trail.change('POST', '/Group', { body: { name: 'from 6' }, headers: six });
    expect(first).to.have.length(1);
    for (const [query, expected] of [
      ['192.0.2.7', first],
      ['::ffff:192.0.2.7', first],
      ['2001:db8::7', second],
      ['2001:DB8:0:0::0007', second],
      ['192.0.2.70', []],
    ] as const) {
      expect(await ids(`remote_addr=${query}`), query).to.deep.equal(sorted(expected));
    }
  });

  for (const [query, sentence] of [
    ['member=ann', 'member'],
    ['session=7', 'session'],
    ['remote_addr=example.org', 'remote_addr'],
    ['remote_addr=192.0.2.0/24', 'remote_addr'],
    ['request_id=', 'request_id'],
    ['client=%00', 'client'],
    ['target=User/%00', 'target'],
    ['client=', 'client'],
  ] as const) {
    it(`refuses a value that no record can have, and names the parameter: ${query}`, async () => {
      const reply = await api.call('GET', `/AuditEvent?${query}`);
      expect([reply.status, complaints(reply)]).to.deep.equal([400, [sentence]]);
      expect(reply.text).not.to.contain('is not a known parameter');
    });
  }
});
