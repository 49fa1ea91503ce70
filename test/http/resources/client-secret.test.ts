import argon2 from 'argon2';
import { expect } from 'chai';
import { complaints, sentences, stringIn } from './box-api.ts';
import type { BoxApi } from './box-api.ts';
import { onRestClients, plain } from './rest-clients.ts';

describe('the secret of a client over REST', () => {
  let api: BoxApi;
  const { fresh, put } = onRestClients((set) => (api = set));

  describe('C-06: the secret', () => {
    it('is in no answer', async () => {
      const id = fresh();
      const replies = [
        await put(id, plain),
        await api.call('GET', `/Client/${id}`),
        await api.call('GET', `/Client?id=${id}`),
        await api.call('PATCH', `/Client/${id}`, { body: { secret: 's3cr3t-2' } }),
        await put(id, { ...plain, grant_types: ['x'] }),
        await api.call('POST', '/Client', { body: { ...plain, id } }),
        await api.call('DELETE', `/Client/${id}`),
      ];
      for (const { text } of replies) expect(text).to.not.match(/s3cr3t|argon2|\$sha256/);
      expect(api.logLines.join('\n')).to.not.match(/s3cr3t/);
    });

    it('stays with a PUT that has none, changes with another, goes with null', async () => {
      const id = fresh();
      const { secret: _secret, ...without } = plain;
      await put(id, plain);
      expect((await put(id, { ...without, name: 'n' })).status).to.equal(200);
      expect((await api.requestToken(id, 's3cr3t')).status).to.equal(200);
      await put(id, { ...plain, secret: 'another' });
      expect((await api.requestToken(id, 's3cr3t')).status).to.equal(401);
      expect((await api.requestToken(id, 'another')).status).to.equal(200);
      const needed = await put(id, { ...without, secret: null });
      expect([needed.status, complaints(needed)]).to.deep.equal([422, ['secret']]);
      const implicit = { grant_types: ['implicit'], auth: { implicit: { redirect_uri: 'https://a.example/cb' } } };
      expect((await put(id, { ...implicit, secret: null })).status).to.equal(200);
      expect((await put(id, without)).status).to.equal(422);
    });

    it('leaves living tokens alone when it changes', async () => {
      const id = fresh();
      await put(id, plain);
      const token = stringIn(await api.requestToken(id, 's3cr3t'), 'access_token');
      await put(id, { ...plain, secret: 'another' });
      expect((await api.call('GET', '/Session', { token })).status).to.equal(403);
    });

    it('may be an argon2id hash, within bounds', async () => {
      const id = fresh();
      const hash = await argon2.hash('hidden', {
        type: argon2.argon2id,
        memoryCost: 1024,
        timeCost: 1,
        parallelism: 1,
      });
      expect((await put(id, { ...plain, secret: hash })).status).to.equal(201);
      expect((await api.requestToken(id, 'hidden')).status).to.equal(200);
      expect((await api.requestToken(id, hash)).status).to.equal(401);
      const salted = 'c2FsdHNhbHQ$MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMg';
      for (const costs of ['m=65537,t=1,p=1', 'm=1024,t=6,p=1', 'm=1024,t=1,p=5']) {
        const reply = await put(id, { ...plain, secret: `$argon2id$v=19$${costs}$${salted}` });
        expect([reply.status, complaints(reply)], costs).to.deep.equal([422, ['secret']]);
      }
    });

    it('T-11, C-05: must be a string, and YAML is asked to quote it', async () => {
      const id = fresh();
      for (const secret of [123, { $ne: null }, ['x'], true, '']) {
        expect(complaints(await put(id, { ...plain, secret })), JSON.stringify(secret)).to.deep.equal(['secret']);
      }
      const body = 'grant_types: [client_credentials]\nsecret: 0123\n';
      const reply = await api.call('PUT', `/Client/${id}`, { body, type: 'application/yaml' });
      expect(reply.status).to.equal(422);
      expect(sentences(reply)[0]).to.match(/^secret must be a string: quote it/);
    });
  });
});
