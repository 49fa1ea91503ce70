import { expect } from 'chai';
import { isObject } from '../../../crds/path.ts';
import { startBoxApi } from '../resources/box-api.ts';
import type { BoxApi } from '../resources/box-api.ts';

const open = { engine: 'allow', subjects: 'anyone' } as const;

describe('a box that is disabled', () => {
  let api: BoxApi;

  before(async () => {
    api = await startBoxApi();
    await api.declare('default', [
      { kind: 'AccessPolicy', id: 'open', ...open },
      { kind: 'AccessPolicy', id: 'open-apps', ...open, apps: ['*'] },
    ]);
  });
  after(() => api.stop());

  const question = { request: { 'request-method': 'get', uri: '/Client' } };
  const checked = { 'X-Original-Method': 'GET', 'X-Original-URI': '/orders' };

  /** Statuses of requests without a token, and of a gateway's question with one. */
  async function statuses(): Promise<readonly number[]> {
    const read = await api.call('GET', '/Client', { token: null });
    const written = await api.call('PUT', '/AccessPolicy/open', { token: null, body: open });
    const explained = await api.call('POST', '/AccessPolicy/$explain', { token: null, body: question });
    const planned = await api.call('POST', '/$plan', { token: null, type: 'application/x-ndjson', body: '' });
    const asked = await api.call('GET', '/auth/check?app=orders', { headers: checked });
    return [read, written, explained, planned, asked].map(({ status }) => status);
  }

  it('R-59 grants nothing to anyone, as its plan says', async () => {
    expect(await statuses()).to.deep.equal([200, 409, 200, 200, 200]);
    const object = (kind: string, id: string, fields: object) =>
      JSON.stringify({ object: { kind, id, name: id, resource: { resourceType: kind, id, ...fields } } });
    const asked = JSON.stringify({ request: { subject: {}, ...question } });
    const desired = [object('AccessPolicy', 'open', open), object('Box', 'default', { active: false }), asked];
    const { body } = await api.call('POST', '/$plan', { type: 'application/x-ndjson', body: desired.join('\n') });
    const decisions: unknown = isObject(body) ? body['decisions'] : undefined;
    const given = (Array.isArray(decisions) ? decisions : []).filter((one) => isObject(one) && one['from'] === 'given');
    expect(given.map((one: unknown) => isObject(one) && one['effect'])).to.deep.equal(['lost']);
    await api.declare('default', [{ kind: 'Box', id: 'default', active: false }]);
    expect(await statuses()).to.deep.equal([401, 401, 401, 401, 401]);
    const refused = await api.call('GET', '/Client', { token: null });
    expect(refused.headers.get('www-authenticate')).to.equal('Bearer realm="default"');
    await api.declare('default', [{ kind: 'Box', id: 'default', active: true }]);
    expect((await statuses())[0]).to.equal(200);
  });
});
