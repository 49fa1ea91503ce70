import { expect } from 'chai';
import { startBoxApi } from '../box-api.ts';
import type { BoxApi } from '../box-api.ts';
import { member } from '../../../support/member.ts';
import { errorsIn, fieldsAtFault, password, userRequests } from './user-requests.ts';

describe('the users API', () => {
  let api: BoxApi;
  const { anEmail, create, post } = userRequests(() => api);

  before(async () => {
    api = await startBoxApi();
  });
  after(() => api.stop());

  const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  const faulty: Record<string, readonly [body: object, fields: readonly string[]]> = {
    'U-03 nothing': [{}, ['email', 'password']],
    'U-03 nulls': [{ email: null, password: null }, ['email', 'password']],
    'U-03 an email that is none': [{ email: 'ann', password }, ['email']],
    'U-03 an email with a blank behind it': [{ email: 'x@mail.example ', password }, ['email']],
    'U-03 a number as email': [{ email: 1, password }, ['email']],
    'U-03 a short password': [{ email: 'x@mail.example', password: 'abcdefg' }, ['password']],
    'U-03 one of the most used passwords': [{ email: 'x@mail.example', password: 'Password1' }, ['password']],
    'U-03 a password of a megabyte': [{ email: 'x@mail.example', password: 'x'.repeat(900_000) }, ['password']],
    'U-03 data that is no JSON': [{ email: 'x@mail.example', password, data: '{a: 1}' }, ['data']],
    'U-03 data that is empty': [{ email: 'x@mail.example', password, data: '' }, ['data']],
    'U-03 data of a megabyte': [{ email: 'x@mail.example', password, data: `"${'x'.repeat(900_000)}"` }, ['data']],
    'U-03 data that nests deep': [{ email: 'x@mail.example', password, data: deep(10_000) }, ['data']],
    'U-03 a number as data': [{ email: 'x@mail.example', password, data: 1 }, ['data']],
    'a status that there is not': [{ email: 'x@mail.example', password, status: 'banned' }, ['status']],
    'groups that are not there': [{ email: 'x@mail.example', password, 'group-ids': [99] }, ['group-ids']],
    'groups that are no ids': [{ email: 'x@mail.example', password, 'group-ids': ['1'] }, ['group-ids']],
    'groups that no id is': [{ email: 'x@mail.example', password, 'group-ids': [0] }, ['group-ids']],
    'thousands of groups that no id is': [
      { email: 'x@mail.example', password, 'group-ids': Array.from({ length: 10_000 }, () => 0) },
      ['group-ids'],
    ],
    'all of it at once': [
      { email: 'x', password: 'x', data: 'x', status: 'x', 'group-ids': 'x', id: 1 },
      ['id', 'email', 'password', 'data', 'status', 'group-ids'],
    ],
  };
  for (const name of ['id', 'groups', 'box', 'password_hash', 'is_admin', 'updated', 'sessions_from', 'old_password']) {
    faulty[`U-04 the field ${name}`] = [{ email: 'x@mail.example', password, [name]: 1 }, [name]];
  }
  for (const [what, [body, fields]] of Object.entries(faulty)) {
    it(`${what}: 422 with every fault, the submitted fields and no password`, async () => {
      const reply = await post(body);
      expect(reply.status, reply.text).to.equal(422);
      expect(reply.body).to.have.all.keys('entity', 'errors');
      expect(fieldsAtFault(reply)).to.have.members([...fields]);
      for (const messages of Object.values(errorsIn(reply.body))) {
        expect(messages).to.be.an('array').that.is.not.empty;
      }
      const given = Object.entries(body).filter(([name]) => ['email', 'data', 'status', 'group-ids'].includes(name));
      expect(member(reply.body, 'entity')).to.deep.equal(Object.fromEntries(given));
      const id = await create();
      const { email: _, password: __, ...change } = { email: '', password: '', ...body };
      if (Object.keys(change).length === 0) return;
      const changed = await api.call('PUT', `/users/${id}`, { body: change });
      expect(changed.status, changed.text).to.equal(422);
    });
  }

  it('E-20 ignores the fields that the service sets in a new user, and refuses others of them in a change', async () => {
    const set = { created_at: '2020-01-01T00:00:00.000Z', updated_at: 1, meta: { versionId: '7' } };
    const id = await create(set);
    expect(member((await api.call('GET', `/users/${id}`)).body, 'created_at')).not.to.equal(set.created_at);
    const changed = await api.call('PUT', `/users/${id}`, { body: set });
    expect([changed.status, fieldsAtFault(changed)]).to.deep.equal([422, Object.keys(set)]);
  });

  it('tells faults of the box together with those of the text', async () => {
    const email = anEmail();
    await create({ email });
    const reply = await post({ email, password: 'x', 'group-ids': [7] });
    expect(fieldsAtFault(reply)).to.have.members(['email', 'password', 'group-ids']);
  });

  it('U-02 repeats no password, also under a misspelt name', async () => {
    for (const name of ['password', 'passwrod', 'old_password', 'Password']) {
      const reply = await post({ email: 'x', [name]: 'canary' });
      expect([reply.status, reply.text.includes('canary')]).to.deep.equal([422, false]);
    }
  });

  it('U-02 tells a body that cannot be stored in the same form', async () => {
    const reply = await api.call('POST', '/users', { body: '{"email": "a", "email": "canary"}' });
    expect([reply.status, fieldsAtFault(reply)]).to.deep.equal([422, ['email']]);
    const large = await api.call('POST', '/users', { body: '{"group-ids": [9223372036854775808]}' });
    expect([large.status, fieldsAtFault(large)]).to.deep.equal([422, ['group-ids']]);
    expect((await api.call('POST', '/users', { body: '{"email": ' })).status).to.equal(400);
    expect((await api.call('POST', '/users', { body: '[]' })).status).to.equal(400);
  });

  const ids = { 0: 404, '-1': 404, 1.5: 404, abc: 400, 99999999999: 404, '1;drop': 400, '%31%00': 400, '1e3': 400 };
  for (const [id, status] of Object.entries({ ...ids, ['9'.repeat(30)]: 404 })) {
    it(`U-06 /users/${id} is ${String(status)}`, async () => {
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const reply = await api.call(method, `/users/${id}`, method === 'PUT' ? { body: { data: null } } : {});
        expect(reply.status, `${method} ${reply.text}`).to.equal(status);
      }
    });
  }
});
