import { expect } from 'chai';
import { startBoxApi } from '../box-api.ts';
import type { BoxApi } from '../box-api.ts';
import { member } from '../../../support/member.ts';
import { fieldsAtFault, password, userRequests } from './user-requests.ts';

describe('a box that is strict', () => {
  let api: BoxApi;
  const { anEmail, create, post } = userRequests(() => api);

  before(async () => {
    api = await startBoxApi();
  });
  after(() => api.stop());

  const strict = (compatibility: object) => api.declare('default', [{ kind: 'Box', id: 'default', compatibility }]);

  it('takes no token from the query, shows no hash, and wants the old password for a new one', async () => {
    const id = await create();
    await strict({ profile: 'strict' });
    expect((await fetch(`${api.base}/users?access_token=${api.adminToken}`)).status).to.equal(400);
    expect((await api.call('GET', `/users/${id}`)).body).not.to.have.any.keys('password');
    const put = (body: object) => api.call('PUT', `/users/${id}`, { body });
    expect(fieldsAtFault(await put({ password: 'another horse' }))).to.deep.equal(['old_password']);
    const wrong = await put({ password: 'another horse', old_password: 'wrong horse' });
    expect([wrong.status, fieldsAtFault(wrong)]).to.deep.equal([422, ['old_password']]);
    expect((await put({ password: 'another horse', old_password: password })).status).to.equal(200);
    expect((await put({ data: '1' })).status).to.equal(200);
  });

  it('X-16 holds back who guesses the present password', async () => {
    const id = await create();
    await strict({ profile: 'strict' });
    const put = async (old_password: string): Promise<number> =>
      (await api.call('PUT', `/users/${id}`, { body: { password: 'another horse', old_password } })).status;
    const statuses: number[] = [];
    for (let nth = 0; nth < 21; nth += 1) statuses.push(await put('wrong horse'));
    expect(statuses).to.deep.equal([...Array.from({ length: 20 }, () => 422), 429]);
    expect(await put(password)).to.equal(429);
  });

  it('may switch each of them on again', async () => {
    const id = await create();
    await strict({ profile: 'strict', query_token: true, password_hash: true, password_change_without_old: true });
    expect((await fetch(`${api.base}/users?access_token=${api.adminToken}`)).status).to.equal(200);
    const reply = await api.call('PUT', `/users/${id}`, { body: { password: 'another horse' } });
    expect([reply.status, typeof member(reply.body, 'password')]).to.deep.equal([200, 'string']);
  });

  it('R-16 wants no old password for the stored hash that is sent back', async () => {
    const id = await create();
    const hash = member((await api.call('GET', `/users/${id}`)).body, 'password');
    await strict({ password_change_without_old: false });
    expect((await api.call('PUT', `/users/${id}`, { body: { password: hash } })).status).to.equal(200);
  });

  it('says how long a password must be', async () => {
    await api.declare('default', [{ kind: 'Box', id: 'default', password: { min_length: 15 } }]);
    const short = await post({ email: anEmail(), password: 'correct horse' });
    expect([short.status, short.text.includes('15')]).to.deep.equal([422, true]);
    expect((await post({ email: anEmail(), password: 'correct horse 2' })).status).to.equal(201);
  });
});
