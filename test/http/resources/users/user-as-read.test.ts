import { expect } from 'chai';
import { isObject } from '../../../../crds/path.ts';
import { ownerQuery } from '../../../support/owner-query.ts';
import { NO_STORED_FORMS, STORED_FORMS } from '../../../support/stored-forms.ts';
import { userTokens } from '../../../support/user-token.ts';
import { startBoxApi } from '../box-api.ts';
import type { BoxApi } from '../box-api.ts';
import { member } from '../../../support/member.ts';
import { fieldsAtFault, userRequests } from './user-requests.ts';

describe('R-16 a user as it was read', () => {
  let api: BoxApi;
  const { anEmail, create, post } = userRequests(() => api);

  before(async () => {
    api = await startBoxApi();
  });
  after(() => api.stop());

  const shown = async (id: string): Promise<Record<string, unknown>> => {
    const { body } = await api.call('GET', `/users/${id}`);
    return isObject(body) ? { ...body } : {};
  };
  const stored = async (id: string): Promise<unknown> =>
    (await ownerQuery(api, 'SELECT password, sessions_from FROM boxgate.user WHERE id = $1', [id]))[0];
  const put = (id: string, body: object) => api.call('PUT', `/users/${id}`, { body });

  it('R-16 a PUT of the record as GET returned it changes no password and ends no session', async () => {
    const id = await create({ data: '{"a": 1}' });
    const { access } = await userTokens(api.database.ownerUrl, 'default', 'admin', Number(id));
    const [before, user] = [await stored(id), await shown(id)];
    const reply = await put(id, user);
    expect(reply.status, reply.text).to.equal(200);
    expect(await stored(id)).to.deep.equal(before);
    const mine = await api.call('DELETE', '/Session', { token: access });
    expect(mine.status, 'the session of the user').to.equal(200);
  });

  it('R-16 a PUT of the stored hash changes the other fields that are given', async () => {
    const id = await create();
    const [before, { password: hash }] = [await stored(id), await shown(id)];
    const email = anEmail();
    expect(member((await put(id, { password: hash, email })).body, 'email')).to.equal(email);
    expect(await stored(id)).to.deep.equal(before);
  });

  it('R-16 a read-only field that differs from the stored one is 422', async () => {
    const id = await create();
    const user = await shown(id);
    const other = { id: 999_999, groups: [{ id: 1, name: 'admins' }], created_at: '2020-01-01T00:00:00.000Z' };
    const reply = await put(id, { ...user, ...other });
    expect(reply.status).to.equal(422);
    expect(fieldsAtFault(reply)).to.have.members(Object.keys(other));
  });

  const salt = 'c29tZXNhbHRzb21lc2FsdA';
  const hashes = [
    `$argon2id$v=19$m=19456,t=2,p=1$${salt}$${'A'.repeat(43)}`,
    `$argon2i$v=19$m=65536,t=3,p=4$${salt}$${'B'.repeat(43)}`,
    // E-12: most of these became the password.
    ...Object.values(STORED_FORMS),
  ];
  for (const hash of hashes) {
    it(`R-16 another password in PHC format is 422 in a PUT and in a POST: ${hash.slice(0, 12)}…`, async () => {
      const id = await create();
      const before = await stored(id);
      for (const reply of [await put(id, { password: hash }), await post({ email: anEmail(), password: hash })]) {
        expect([reply.status, fieldsAtFault(reply)]).to.deep.equal([422, ['password']]);
        expect(reply.text).to.contain('leave it out');
        expect(reply.text).not.to.contain(hash);
      }
      expect(await stored(id)).to.deep.equal(before);
    });
  }

  it('R-16 the hash of another user is 422', async () => {
    const [id, other] = [await create(), await create()];
    const { password: hash } = await shown(other);
    expect(fieldsAtFault(await put(id, { password: hash }))).to.deep.equal(['password']);
  });

  it('R-16 a password that only looks similar is taken', async () => {
    const id = await create();
    for (const password of NO_STORED_FORMS) {
      const text = password.padEnd(12, '.');
      expect((await put(id, { password: text })).status, text).to.equal(200);
    }
  });
});
