import { expect } from 'chai';
import { sentences } from './box-api.ts';
import type { BoxApi, Reply } from './box-api.ts';
import { onRestClients, plain } from './rest-clients.ts';

describe('concurrent changes over REST', () => {
  let api: BoxApi;
  const { fresh, put } = onRestClients((set) => (api = set));

  describe('C-07: versions', () => {
    it('one of two concurrent creations is 201, the other 409', async () => {
      const id = fresh();
      const replies = await Promise.all(
        [1, 2, 3, 4].map(() => patiently(() => api.call('POST', '/Client', { body: { ...plain, id } }))),
      );
      expect(replies.map(({ status }) => status).toSorted((left, right) => left - right)).to.deep.equal([
        201, 409, 409, 409,
      ]);
    });

    it('one of several concurrent writers of one version wins', async () => {
      const id = fresh();
      const etag = (await put(id, plain)).headers.get('etag') ?? '';
      const names = ['a', 'b', 'c', 'd'];
      const replies = await Promise.all(
        names.map((name) => patiently(() => put(id, { ...plain, name }, { 'If-Match': etag }))),
      );
      expect(replies.map(({ status }) => status).toSorted((left, right) => left - right)).to.deep.equal([
        200, 412, 412, 412,
      ]);
    });

    it('a stale If-Match is 412 and says the version there is', async () => {
      const id = fresh();
      const first = (await put(id, plain)).headers.get('etag') ?? '';
      const second = (await put(id, { ...plain, name: 'n' }, { 'If-Match': first })).headers.get('etag') ?? '';
      expect(second).to.not.equal(first);
      for (const method of ['PUT', 'PATCH', 'DELETE']) {
        const body = method === 'DELETE' ? undefined : plain;
        const reply = await api.call(method, `/Client/${id}`, { body, headers: { 'If-Match': first } });
        expect(reply.status, method).to.equal(412);
        expect(sentences(reply)[0]).to.include(second);
      }
      expect((await put(id, plain, { 'If-None-Match': '*' })).status).to.equal(412);
      expect((await put(fresh(), plain, { 'If-None-Match': '*' })).status).to.equal(201);
      expect((await put(fresh(), plain, { 'If-Match': '*' })).status).to.equal(412);
      expect((await put(id, plain, { 'If-Match': '17' })).status).to.equal(400);
      // E-33: an empty list of tags was 400; it matches nothing.
      const other = fresh();
      expect((await put(other, plain, { 'If-None-Match': '' })).status).to.equal(201);
      expect((await put(other, plain, { 'If-None-Match': ' , "999999",' })).status).to.equal(200);
      expect((await put(other, plain, { 'If-Match': '' })).status).to.equal(412);
      for (const path of ['/Client/nobody', '/Client/no%20body', '/Session/nobody']) {
        expect((await api.call('DELETE', path, { headers: { 'If-Match': '*' } })).status, path).to.equal(412);
      }
      expect((await api.call('DELETE', `/Client/${id}`, { headers: { 'If-Match': second } })).status).to.equal(200);
    });

    it('stays when nothing changes', async () => {
      const id = fresh();
      const { secret: _secret, ...without } = plain;
      const first = (await put(id, plain)).headers.get('etag');
      const second = await put(id, { grant_types: without.grant_types, id, resourceType: 'Client' });
      expect([second.status, second.headers.get('etag')]).to.deep.equal([200, first]);
    });

    it('many patches of one client at once are all kept', async () => {
      const id = fresh();
      await put(id, plain);
      const keys = Array.from({ length: 12 }, (_, index) => `k${String(index)}`);
      const replies = await Promise.all(
        keys.map((key) => patiently(() => api.call('PATCH', `/Client/${id}`, { body: { details: { [key]: 1 } } }))),
      );
      expect(new Set(replies.map(({ status }) => status))).to.deep.equal(new Set([200]));
      expect((await api.call('GET', `/Client/${id}`)).body)
        .to.have.nested.property('details')
        .that.has.all.keys(keys);
    });
  });

  it('R-48 gives JSON and YAML tags of their own, and a write takes either', async () => {
    const json = await api.call('GET', '/Client/admin');
    const yaml = await api.call('GET', '/Client/admin', { accept: 'application/yaml' });
    const [one, other] = [json.headers.get('etag') ?? '', yaml.headers.get('etag') ?? ''];
    expect(one).not.to.equal(other);
    const read = async (accept: string, tag: string) =>
      (await api.call('GET', '/Client/admin', { accept, headers: { 'If-None-Match': tag } })).status;
    expect(await read('application/json', one)).to.equal(304);
    expect(await read('application/yaml', other)).to.equal(304);
    expect(await read('application/json', other)).to.equal(200);
    expect(await read('application/yaml', one)).to.equal(200);
    expect(await read('application/yaml', `${one}, W/${other}`)).to.equal(304);
    await api.call('POST', '/AccessPolicy', { body: { id: 'tagged', engine: 'allow' } });
    for (const accept of ['application/json', 'application/yaml']) {
      const tag = (await api.call('GET', '/AccessPolicy/tagged', { accept })).headers.get('etag') ?? '';
      const body = { engine: 'allow', description: accept };
      const write = () => api.call('PUT', '/AccessPolicy/tagged', { body, headers: { 'If-Match': tag } });
      expect([(await write()).status, (await write()).status], accept).to.deep.equal([200, 412]);
    }
  });
});

/** Changes of a box come one after the other: who is sent away by a machine that is too busy tries again. */
async function patiently(call: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await call();
    if (reply.status !== 503) return reply;
  }
}
