import { expect } from 'chai';
import { adminSecret, startBoxApi } from './box-api.ts';
import type { BoxApi } from './box-api.ts';

/** Resources by the path that they are created at. */
const resources: Readonly<Record<string, object>> = {
  '/Client': {
    resourceType: 'Client',
    id: 'printer',
    secret: 'a chosen secret',
    grant_types: ['client_credentials', 'authorization_code'],
    auth: { authorization_code: { redirect_uri: 'https://printer.example/back' } },
    scope: ['read'],
    details: { floor: 3 },
  },
  '/AccessPolicy': { resourceType: 'AccessPolicy', id: 'printers', engine: 'matcho', matcho: { uri: '/Client' } },
  '/Group': { name: 'printers', description: 'They print' },
  '/users': { email: 'ann@mail.example', password: 'correct horse', data: '{"floor": 3}', status: 'active' },
};

describe('a resource as it was read', () => {
  let api: BoxApi;

  before(async () => {
    api = await startBoxApi();
  });
  after(() => api.stop());

  for (const [path, resource] of Object.entries(resources)) {
    it(`R-16 a PUT of what GET ${path}/<id> returned changes nothing`, async () => {
      const { body: created } = await api.call('POST', path, { body: resource });
      const place = `${path}/${String(Reflect.get(Object(created), 'id'))}`;
      const { body } = await api.call('GET', place);
      const reply = await api.call('PUT', place, { body });
      expect(reply.status, reply.text).to.equal(200);
      const unchanged = (await api.call('GET', place)).body;
      expect({ ...Object(unchanged), updated_at: undefined }).to.deep.equal({ ...Object(body), updated_at: undefined });
    });
  }

  it('R-16 a client that is sent back keeps its secret', async () => {
    const { body } = await api.call('GET', '/Client/printer');
    expect(body).not.to.have.property('secret');
    await api.call('PUT', '/Client/printer', { body });
    expect((await api.requestToken('printer', 'a chosen secret')).status).to.equal(200);
    expect((await api.requestToken('admin', adminSecret)).status).to.equal(200);
  });
});
