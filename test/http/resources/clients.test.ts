import { expect } from 'chai';
import { createdAt } from '../../support/created-at.ts';
import { complaints, sentences, stringIn } from './box-api.ts';
import type { BoxApi } from './box-api.ts';
import { onRestClients, plain } from './rest-clients.ts';

describe('clients and policies over REST', () => {
  let api: BoxApi;
  const { fresh, put } = onRestClients((set) => (api = set));

  describe('interface.txt §4.4', () => {
    it('PUT /Client/<client_id> with JSON: 201 with the stored Client, then 200', async () => {
      const client = { ...plain, id: 'api-client' };
      const { secret: _secret, ...submitted } = client;
      const created = await put('api-client', client);
      const stored = { ...submitted, created_at: createdAt(created.body) };
      expect([created.status, created.body]).to.deep.equal([201, stored]);
      expect(created.headers.get('location')).to.equal('http://boxgate.test/boxes/default/Client/api-client');
      expect(created.headers.get('content-type')).to.equal('application/json; charset=utf-8');
      const replaced = await put('api-client', { ...client, name: 'new' });
      expect([replaced.status, replaced.body]).to.deep.equal([200, { ...stored, name: 'new' }]);
      expect(replaced.headers.get('location')).to.equal(null);
    });

    for (const type of ['application/yaml', 'text/yaml']) {
      it(`PUT /Client/<client_id> with ${type}, both ways`, async () => {
        const id = fresh();
        const body = `secret: s3cr3t\ngrant_types:\n  - client_credentials\nauth:\n  client_credentials:\n    token_format: jwt\n    access_token_expiration: 600\n`;
        const reply = await api.call('PUT', `/Client/${id}`, { body, type, accept: type });
        expect([reply.status, reply.headers.get('content-type')]).to.deep.equal([201, `${type}; charset=utf-8`]);
        expect(reply.body).to.deep.equal({
          resourceType: 'Client',
          id,
          grant_types: ['client_credentials'],
          auth: { client_credentials: { token_format: 'jwt', access_token_expiration: 600 } },
          created_at: createdAt(reply.body),
        });
        expect((await api.requestToken(id, 's3cr3t')).body).to.include({ token_type: 'Bearer', expires_in: 600 });
      });
    }

    it('PUT /AccessPolicy/<policy_id> grants the linked client', async () => {
      const id = fresh();
      await put(id, plain);
      const token = stringIn(await api.requestToken(id, 's3cr3t'), 'access_token');
      expect((await api.call('GET', '/Client', { token })).status).to.equal(403);
      const policy = { resourceType: 'AccessPolicy', id, engine: 'allow', link: [{ id, resourceType: 'Client' }] };
      const created = await api.call('PUT', `/AccessPolicy/${id}`, { body: policy });
      expect([created.status, created.body]).to.deep.equal([201, { ...policy, created_at: createdAt(created.body) }]);
      expect((await api.call('GET', '/Client', { token })).status).to.equal(200);
      expect((await api.call('DELETE', `/AccessPolicy/${id}`)).status).to.equal(200);
      expect((await api.call('GET', '/Client', { token })).status).to.equal(403);
    });

    it('POST /Client creates a Client whose id is in the body, once', async () => {
      const id = fresh();
      const created = await api.call('POST', '/Client', { body: { ...plain, id } });
      expect([created.status, created.headers.get('location')]).to.deep.equal([
        201,
        `http://boxgate.test/boxes/default/Client/${id}`,
      ]);
      expect(created.headers.get('etag')).to.match(/^"\d+"$/);
      const again = await api.call('POST', '/Client', { body: { ...plain, id } });
      expect([again.status, complaints(again)]).to.deep.equal([409, ['id']]);
    });
  });

  describe('GET one', () => {
    it('answers 200, 404, and 304 to who has the version', async () => {
      const id = fresh();
      const etag = (await put(id, plain)).headers.get('etag') ?? '';
      const read = await api.call('GET', `/Client/${id}`);
      expect([read.status, read.headers.get('etag')]).to.deep.equal([200, etag]);
      const known = await api.call('GET', `/Client/${id}`, { headers: { 'If-None-Match': etag } });
      expect([known.status, known.text, known.headers.get('etag')]).to.deep.equal([304, '', etag]);
      expect((await api.call('GET', `/Client/${id}`, { headers: { 'If-None-Match': '"1"' } })).status).to.equal(200);
      expect((await api.call('GET', '/Client/nobody')).status).to.equal(404);
      expect((await api.call('GET', `/Client/${id}?_elements=grant_types`)).body).to.deep.equal({
        resourceType: 'Client',
        id,
        grant_types: ['client_credentials'],
      });
      expect(complaints(await api.call('GET', `/Client/${id}?elements=x`))).to.deep.equal(['elements']);
    });

    it('answers 406 before it does anything', async () => {
      const id = fresh();
      const reply = await api.call('PUT', `/Client/${id}`, { body: plain, accept: 'text/html' });
      expect(reply.status).to.equal(406);
      expect((await api.call('GET', `/Client/${id}`)).status).to.equal(404);
    });

    for (const id of ['a%2fb', '..%2f..', '%00', "a'%20OR%201=1--", 'x'.repeat(300), '%F0%9F%98%80', '%ed%a0%80']) {
      it(`X-08, X-17: knows no client ${id.slice(0, 20)}`, async () => {
        expect((await api.call('GET', `/Client/${id}`)).status).to.be.oneOf([400, 404]);
        expect((await api.call('DELETE', `/Client/${id}`)).status).to.be.oneOf([204, 400]);
      });
    }
  });

  describe('DELETE', () => {
    it('answers with the deleted resource, then 204, and ends what the client had', async () => {
      const id = fresh();
      const { body: created } = await put(id, plain);
      const token = stringIn(await api.requestToken(id, 's3cr3t'), 'access_token');
      const deleted = await api.call('DELETE', `/Client/${id}`);
      expect([deleted.status, deleted.body]).to.deep.equal([
        200,
        { resourceType: 'Client', id, grant_types: ['client_credentials'], created_at: createdAt(created) },
      ]);
      expect((await api.call('DELETE', `/Client/${id}`)).status).to.equal(204);
      expect((await api.call('GET', '/Session', { token })).status).to.equal(401);
      await put(id, plain);
      expect((await api.call('GET', '/Session', { token })).status).to.equal(401);
      expect((await api.requestToken(id, 's3cr3t')).status).to.equal(200);
    });

    it('disabling refuses every token, also after the client is active again', async () => {
      const id = fresh();
      await put(id, plain);
      const token = stringIn(await api.requestToken(id, 's3cr3t'), 'access_token');
      await api.call('PATCH', `/Client/${id}`, { body: { active: false } });
      expect((await api.call('GET', '/Session', { token })).status).to.equal(401);
      expect((await api.requestToken(id, 's3cr3t')).status).to.equal(401);
      await api.call('PATCH', `/Client/${id}`, { body: { active: true } });
      expect((await api.call('GET', '/Session', { token })).status).to.equal(401);
      expect((await api.requestToken(id, 's3cr3t')).status).to.equal(200);
    });
  });

  describe('managed resources', () => {
    it('answer 409 to a change and name the custom resource', async () => {
      for (const [method, body] of [
        ['PUT', { ...plain }],
        ['PATCH', { name: 'n' }],
        ['DELETE', undefined],
      ] as const) {
        const reply = await api.call(method, '/Client/admin', { body, headers: { 'If-Match': '"1"' } });
        expect(reply.status, method).to.equal(409);
        expect(sentences(reply)[0]).to.include('custom resource default/admin');
      }
      expect((await api.call('POST', '/Client', { body: { ...plain, id: 'admin' } })).status).to.equal(409);
      expect((await api.call('GET', '/Client/admin')).status).to.equal(200);
    });
  });

  describe('the box', () => {
    it('X-18: sees nothing of another box, and another box nothing of it', async () => {
      const id = fresh();
      await put(id, { ...plain, name: 'only-here' });
      const token = stringIn(await api.requestToken('admin', 'admin-secret', 'other'), 'access_token');
      const elsewhere = (path: string) =>
        fetch(`${api.url}/boxes/other${path}`, { headers: { Authorization: `Bearer ${token}` } });
      expect((await elsewhere(`/Client/${id}`)).status).to.equal(404);
      expect(await (await elsewhere('/Client')).text()).to.not.include('only-here');
      expect((await api.call('GET', '/Client', { token })).status).to.equal(401);
    });
  });
});
