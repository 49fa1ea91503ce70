import { expect } from 'chai';
import { createdAt } from '../../support/created-at.ts';
import { complaints } from './box-api.ts';
import type { BoxApi } from './box-api.ts';
import { onRestClients, plain } from './rest-clients.ts';

describe('patches over REST', () => {
  let api: BoxApi;
  const { fresh, put } = onRestClients((set) => (api = set));

  describe('PATCH', () => {
    it('merges, also in YAML and as plain JSON', async () => {
      const id = fresh();
      const created = await put(id, { ...plain, name: 'one', description: 'text', details: { a: 1, b: 2 } });
      for (const [type, body] of [
        ['application/merge-patch+json', '{"name":"two","details":{"a":null}}'],
        ['application/json', '{"description":null}'],
        ['application/yaml', 'first_party: false\n'],
      ] as const) {
        expect((await api.call('PATCH', `/Client/${id}`, { body, type })).status, type).to.equal(200);
      }
      expect((await api.call('GET', `/Client/${id}`)).body).to.deep.equal({
        resourceType: 'Client',
        id,
        grant_types: ['client_credentials'],
        name: 'two',
        details: { b: 2 },
        first_party: false,
        created_at: createdAt(created.body),
      });
    });

    it('applies operations, all of them or none', async () => {
      const id = fresh();
      const type = 'application/json-patch+json';
      const created = await put(id, { ...plain, name: 'one' });
      const good = [
        { op: 'test', path: '/name', value: 'one' },
        { op: 'add', path: '/scope', value: ['read'] },
        { op: 'add', path: '/scope/-', value: 'write' },
        { op: 'remove', path: '/name' },
      ];
      const reply = await api.call('PATCH', `/Client/${id}`, { body: good, type });
      expect([reply.status, reply.body]).to.deep.equal([
        200,
        {
          resourceType: 'Client',
          id,
          grant_types: ['client_credentials'],
          scope: ['read', 'write'],
          created_at: createdAt(created.body),
        },
      ]);
      const half = [
        { op: 'remove', path: '/scope' },
        { op: 'remove', path: '/name' },
      ];
      expect((await api.call('PATCH', `/Client/${id}`, { body: half, type })).status).to.equal(409);
      expect((await api.call('GET', `/Client/${id}`)).body).to.deep.include({ scope: ['read', 'write'] });
    });

    it('changes and removes a secret that it cannot see', async () => {
      const id = fresh();
      const type = 'application/json-patch+json';
      const implicit = { auth: { implicit: { redirect_uri: 'https://a.example/cb' } } };
      await put(id, { ...plain, grant_types: ['client_credentials', 'implicit'], ...implicit });
      await api.call('PATCH', `/Client/${id}`, { body: { secret: 'second' } });
      expect((await api.requestToken(id, 'second')).status).to.equal(200);
      await api.call('PATCH', `/Client/${id}`, { body: [{ op: 'replace', path: '/secret', value: 'third' }], type });
      expect((await api.requestToken(id, 'second')).status).to.equal(401);
      expect((await api.requestToken(id, 'third')).status).to.equal(200);
      const test = [{ op: 'test', path: '/secret', value: 'third' }];
      expect((await api.call('PATCH', `/Client/${id}`, { body: test, type })).status).to.equal(409);
      expect((await api.call('PATCH', `/Client/${id}`, { body: { secret: null } })).status).to.equal(422);
      const removal = [
        { op: 'remove', path: '/grant_types/0' },
        { op: 'remove', path: '/secret' },
      ];
      expect((await api.call('PATCH', `/Client/${id}`, { body: removal, type })).status).to.equal(200);
      expect((await api.requestToken(id, 'third')).status).to.equal(401);
    });

    it('refuses what the result may not be', async () => {
      const id = fresh();
      await put(id, plain);
      const patch = (body: unknown, type?: string) =>
        api.call('PATCH', `/Client/${id}`, { body, ...(type && { type }) });
      const json = 'application/json-patch+json';
      expect(complaints(await patch({ id: 'other' }))).to.deep.equal(['id']);
      expect(complaints(await patch({ grant_types: 'x' }))).to.deep.equal(['grant_types']);
      expect(complaints(await patch([{ op: 'add', path: '/__proto__', value: {} }], json))).to.deep.equal([
        '__proto__',
      ]);
      expect((await patch([{ op: 'replace', path: '', value: [] }], json)).status).to.equal(422);
      expect((await patch([{ op: 'x' }], json)).status).to.equal(400);
      expect((await patch({}, json)).status).to.equal(400);
      expect((await patch('{}', 'text/plain')).status).to.equal(415);
      expect((await api.call('PATCH', '/Client/nobody', { body: {} })).status).to.equal(404);
      const wrong = await api.call('PUT', `/Client/${id}`, { body: plain, type: 'application/merge-patch+json' });
      expect(wrong.status).to.equal(415);
    });
  });

  it('R-48 a 415 of PATCH lists what may be sent (RFC 5789 section 2.2), one of PUT does not', async () => {
    const patched = await api.call('PATCH', '/Client/admin', { body: '<x/>', type: 'application/xml' });
    const types = patched.headers.get('accept-patch') ?? '';
    expect([patched.status, types.split(', ').includes('application/json-patch+json')]).to.deep.equal([415, true]);
    const put = await api.call('PUT', '/Client/x', { body: '<x/>', type: 'application/xml' });
    expect([put.status, put.headers.get('accept-patch')]).to.deep.equal([415, null]);
    const packed = await api.call('PUT', '/Client/x', { body: '{}', headers: { 'Content-Encoding': 'gzip' } });
    expect([packed.status, packed.headers.get('accept-encoding')]).to.deep.equal([415, 'identity']);
  });
});
