import { expect } from 'chai';
import { userTokens } from '../../../support/user-token.ts';
import { startBoxApi } from '../box-api.ts';
import type { BoxApi } from '../box-api.ts';
import { member } from '../../../support/member.ts';
import { fieldsAtFault, password, userRequests } from './user-requests.ts';

describe('the data of a user', () => {
  let api: BoxApi;
  const { anEmail, create, post } = userRequests(() => api);

  before(async () => {
    api = await startBoxApi();
  });
  after(() => api.stop());

  const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

  for (const data of [
    '{"a": 1, "a": 2}',
    '{"__proto__": {"admin": true}, "constructor": 1}',
    '"\\u0000 \\ud800"',
    '[12345678901234567890.12345678901234567890, 1e999, -0, 1.0]',
    ' { "b" : [ 1 , 2 ] }\n',
    `[${'0,'.repeat(30_000)}0]`,
    deep(64),
  ]) {
    it(`U-03 keeps the data ${JSON.stringify(data.slice(0, 40))} byte for byte`, async () => {
      const made = await post({ email: anEmail(), password, data });
      expect([made.status, member(made.body, 'data')]).to.deep.equal([201, data]);
      const id = await create();
      expect((await api.call('PUT', `/users/${id}`, { body: { data } })).status).to.equal(200);
      expect(member((await api.call('GET', `/users/${id}`)).body, 'data')).to.equal(data);
      const email = String(member((await api.call('GET', `/users/${id}`)).body, 'email'));
      const listedUsers = (await api.call('GET', `/users?email=${encodeURIComponent(email)}`)).body;
      expect(member(member(listedUsers, '0'), 'data')).to.equal(data);
    });
  }

  const anyJson: Record<string, string> = {
    'an integer of 20 digits': '{"n": 12345678901234567890}',
    'a fraction with zeros': ' [1.10, 1e5, -0.0] ',
    'equal names': '{"a": 1, "a": 2}',
    'names of a prototype': '{"__proto__": 1, "constructor": {"prototype": 2}}',
    'an escaped NUL': '"\\u0000"',
    'half of a surrogate pair': '"\\ud800"',
    'a thousand levels': deep(1_000),
  };
  for (const [what, data] of Object.entries(anyJson)) {
    it(`R-41 keeps data with ${what} byte for byte, and a token of that user works`, async () => {
      const id = await create({ data });
      expect(member((await api.call('GET', `/users/${id}`)).body, 'data')).to.equal(data);
      expect((await api.call('PUT', `/users/${id}`, { body: { data } })).status).to.equal(200);
      const auth = { authorization_code: { redirect_uri: 'https://app.example/cb' } };
      await api.call('PUT', '/Client/reader', { body: { grant_types: ['authorization_code'], auth } });
      const link = [{ resourceType: 'Client', id: 'reader' }];
      await api.call('PUT', '/AccessPolicy/reader', { body: { engine: 'cel', expression: 'user.data != ""', link } });
      const { access } = await userTokens(api.database.ownerUrl, 'default', 'reader', Number(id));
      expect((await api.call('GET', '/Group', { token: access })).status).to.equal(200);
    });
  }

  it('R-41 bounds the depth of data at a thousand levels, and its size', async () => {
    for (const data of [deep(1_001), `"${'x'.repeat(65_535)}"`]) {
      const reply = await post({ email: anEmail(), password, data });
      expect([reply.status, fieldsAtFault(reply)]).to.deep.equal([422, ['data']]);
    }
  });

  it('U-03 data gives no rights by names that reach a prototype, in any engine', async () => {
    const id = await create({ data: '{"__proto__": {"admin": true}, "x": {"__proto__": {"admin": true}}}' });
    const auth = { authorization_code: { redirect_uri: 'https://app.example/back' } };
    await api.declare('default', [{ kind: 'Client', id: 'walker', grant_types: ['authorization_code'], auth }]);
    const { access } = await userTokens(api.database.ownerUrl, 'default', 'walker', Number(id));
    const link = [{ resourceType: 'User', id }];
    const admin = { type: 'object', properties: { admin: { const: true } }, required: ['admin'] };
    const data = { type: 'object', properties: { data: admin }, required: ['data'] };
    const schema = { type: 'object', properties: { user: data }, required: ['user'] };
    for (const rule of [
      { engine: 'cel', expression: 'user.data.admin == true' },
      { engine: 'cel', expression: 'user.data.x.admin == true' },
      { engine: 'matcho', matcho: { user: { data: { admin: true } } } },
      { engine: 'matcho', matcho: { user: { data: { x: { admin: true } } } } },
      { engine: 'json-schema', schema },
    ]) {
      const put = await api.call('PUT', '/AccessPolicy/by-data', { body: { ...rule, link } });
      expect(put.status, put.text).to.be.lessThan(300);
      expect((await api.call('GET', '/Group', { token: access })).status, JSON.stringify(rule)).to.equal(403);
    }
    expect((await api.call('PUT', `/users/${id}`, { body: { data: '{"admin": true}' } })).status).to.equal(200);
    expect((await api.call('GET', '/Group', { token: access })).status, 'the same with true data').to.equal(200);
    await api.call('DELETE', '/AccessPolicy/by-data');
  });

  it('an object or array as data becomes its JSON text', async () => {
    const data = { a: [1, 'x'] };
    const reply = await post({ email: anEmail(), password, data });
    expect(member(reply.body, 'data')).to.equal('{"a":[1,"x"]}');
  });
});
