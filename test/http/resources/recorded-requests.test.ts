import { expect } from 'chai';
import { isList, isObject } from '../../../crds/path.ts';
import { eventually } from '../../support/eventually.ts';
import { member } from '../../support/member.ts';
import { ownerQuery } from '../../support/owner-query.ts';
import { startBoxApi, stringIn } from './box-api.ts';
import type { BoxApi, Shown } from './box-api.ts';

const secret = 'a secret of the client';
const link = [{ resourceType: 'Client', id: 'reader' }];

describe('the record of requests', () => {
  let api: BoxApi;
  let token: string;

  before(async () => {
    api = await startBoxApi();
    await api.declare('default', [
      { kind: 'Client', id: 'reader', grant_types: ['client_credentials'], secret },
      { kind: 'AccessPolicy', id: 'read-clients', engine: 'matcho', link, matcho: { uri: '#^/Client' } },
      { kind: 'AccessPolicy', id: 'orders', engine: 'allow', link, apps: ['orders'] },
      { kind: 'AccessPolicy', id: 'never-used', engine: 'allow', link, apps: ['nothing'] },
    ]);
    token = stringIn(await api.requestToken('reader', secret), 'access_token');
  });
  after(() => api.stop());

  const recorded = async (): Promise<readonly Shown[]> => {
    const { body } = await api.call('GET', '/AccessPolicy/$requests');
    return isList(body) ? body.filter(isObject) : [];
  };
  const ofReader = async (): Promise<readonly Shown[]> =>
    (await recorded())
      .filter(({ client }) => client === 'reader')
      .map(({ first_seen_at: _first, last_seen_at: _last, requests: _requests, ...request }) => request);
  const record = async (method: string, path: string): Promise<Shown | undefined> =>
    (await ofReader()).find((one) => one['method'] === method && one['path'] === path);

  it('shows what a client was allowed, by which policy, without the names of records and queries', async () => {
    await api.call('GET', '/Client/reader?_elements=id', { token });
    await eventually('the request is recorded', async () => (await record('GET', '/Client/{id}')) !== undefined);
    expect(await record('GET', '/Client/{id}')).to.deep.equal({
      client: 'reader',
      as: 'client',
      method: 'GET',
      path: '/Client/{id}',
      granted: true,
      policy: 'read-clients',
    });
  });

  it('shows what a client was refused, and requests to apps behind a gateway', async () => {
    await api.call('DELETE', '/users/7', { token });
    const headers = { 'X-Original-Method': 'GET', 'X-Original-URI': '/orders/4711/ann@mail.example?q=secret' };
    await api.call('GET', '/auth/check?app=orders', { token, headers });
    await eventually('both are recorded', async () => (await ofReader()).length >= 3);
    expect(await record('DELETE', '/users/{number}')).to.include({ granted: false, policy: null });
    expect(await record('GET', '/orders/{number}/{id}')).to.include({ app: 'orders', policy: 'orders' });
    expect(JSON.stringify(await recorded())).not.to.match(/ann@|4711|secret/);
  });

  it('counts requests of one shape together', async () => {
    for (const id of ['a', 'b', 'c']) await api.call('PUT', `/Client/${id}`, { token, body: {} });
    await eventually('they are recorded', async () => (await record('PUT', '/Client/{id}')) !== undefined);
    expect((await ofReader()).filter(({ method }) => method === 'PUT')).to.have.length(1);
  });

  it('tells when each policy was last used, and that others never were', async () => {
    const { body } = await api.call('GET', '/AccessPolicy/$usage');
    const { policies, recorded_since } = isObject(body) ? body : {};
    expect(Date.parse(String(recorded_since))).to.be.lessThan(Date.now());
    const used = new Map(
      (isList(policies) ? policies : []).filter(isObject).map((one) => [one['id'], one['last_used_at']]),
    );
    expect([...used.keys()]).to.have.members(['admin', 'never-used', 'orders', 'read-clients']);
    expect(used.get('never-used')).to.equal(null);
    expect(Date.parse(String(used.get('orders')))).to.be.greaterThan(Date.parse(String(recorded_since)));
  });

  it('tells who declares each client, and when it last got a token', async () => {
    await api.call('PUT', '/Client/own', { body: { grant_types: [] } });
    const at = Date.parse('2026-02-01T12:00:00Z');
    const note = 'SELECT boxgate.note_usage($1::text[], $2::text[], $3::bigint[], $4::text[], $5::bigint[])';
    await ownerQuery(api, note, [['default'], ['reader'], [at], [null], [null]]);
    const { body } = await api.call('GET', '/Client/$usage');
    const none = { last_token_at: null, previous_secret_last_used: null };
    expect(member(body, 'clients')).to.deep.include.members([
      { ...none, id: 'reader', managed_by: 'default/reader', last_token_at: new Date(at).toISOString() },
      { ...none, id: 'own', managed_by: null },
    ]);
    const asked = { subject: { client: 'reader' }, request: { 'request-method': 'get', uri: '/Client/$usage' } };
    expect((await api.call('POST', '/AccessPolicy/$explain', { body: asked })).body).to.include({ granted: true });
  });

  it('forgets the requests of a client, and the use of a policy, that are deleted', async () => {
    await api.remove('default', [
      { kind: 'Client', id: 'reader' },
      { kind: 'AccessPolicy', id: 'orders' },
    ]);
    expect(await ofReader()).to.deep.equal([]);
    await api.declare('default', [{ kind: 'AccessPolicy', id: 'orders', engine: 'allow', link, apps: ['orders'] }]);
    const { text } = await api.call('GET', '/AccessPolicy/$usage');
    expect(text)
      .to.contain('{"id":"orders"')
      .and.to.match(/"id":"orders","created_at":"[^"]*","last_used_at":null/);
  });
});
