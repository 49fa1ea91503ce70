// E-16: one click, in six ways, locked everybody out.
import { expect } from 'chai';
import { meanwhile } from '../../support/meanwhile.ts';
import { member } from '../../support/member.ts';
import { startBoxApi } from './box-api.ts';
import type { BoxApi, Reply } from './box-api.ts';
import { userRequests } from './users/user-requests.ts';

describe('the last administrator of a box', () => {
  let api: BoxApi;
  let user: string;
  let group: string;
  const { create } = userRequests(() => api);

  before(async () => {
    api = await startBoxApi();
    const made = await api.call('POST', '/Group', { body: { name: 'bosses' } });
    group = String(member(made.body, 'id'));
    user = await create({ 'group-ids': [Number(group)] });
    // As long as there is none, nothing is refused.
    await putPolicy({ link: [{ resourceType: 'User', id: await create({ status: 'inactive' }) }] });
    await putPolicy({ link: [{ resourceType: 'Group', id: group }] });
  });
  after(() => api.stop());

  async function putPolicy(fields: object): Promise<void> {
    const reply = await api.call('PUT', '/AccessPolicy/bosses', { body: { engine: 'allow', ...fields } });
    expect(reply.status, reply.text).to.be.oneOf([200, 201]);
  }

  const link = () => [{ resourceType: 'Group', id: group }];
  const put = (path: string, body: object) => api.call('PUT', path, { body });
  const ways: Readonly<Record<string, () => Promise<Reply>>> = {
    'is disabled': () => put(`/users/${user}`, { status: 'inactive' }),
    'is deleted': () => api.call('DELETE', `/users/${user}`),
    'leaves the group': () => put(`/users/${user}`, { 'group-ids': [] }),
    'loses the group': () => api.call('DELETE', `/Group/${group}`),
    'loses the policy': () => api.call('DELETE', '/AccessPolicy/bosses'),
    'is unlinked': () => put('/AccessPolicy/bosses', { engine: 'allow', link: [] }),
    'gets a policy of another engine': () =>
      put('/AccessPolicy/bosses', { engine: 'cel', expression: 'true', link: link() }),
    'gets a policy for apps': () => put('/AccessPolicy/bosses', { engine: 'allow', apps: ['*'], link: link() }),
  };
  for (const [what, change] of Object.entries(ways)) {
    it(`never ${what}: 409, and nothing is changed`, async () => {
      const reply = await change();
      expect(reply.status, reply.text).to.equal(409);
      const text = what === 'loses the group' ? 'AccessPolicy bosses' : 'the last administrator of the box';
      expect(reply.text).to.contain(text);
      expect(member((await api.call('GET', `/Group/${group}`)).body, 'members')).to.equal(1);
    });
  }

  it('is not lost by a group that is linked by its name and renamed: 409 names the policy', async () => {
    await putPolicy({ link: [{ resourceType: 'Group', id: 'bosses' }] });
    const reply = await put(`/Group/${group}`, { name: 'chiefs' });
    expect(reply.status, reply.text).to.equal(409);
    expect(reply.text).to.contain('AccessPolicy bosses');
    await putPolicy({ link: link() });
    expect((await put(`/Group/${group}`, { name: 'chiefs' })).status).to.equal(200);
  });

  it('may change anything else', async () => {
    for (const body of [{ data: '{}' }, { password: 'another horse' }, { email: 'boss@mail.example' }]) {
      expect((await put(`/users/${user}`, body)).status).to.equal(200);
    }
  });

  it('is changed beside another change of the box, unless rights or sessions end', async () => {
    const box = ['SELECT FROM boxgate.box WHERE box = $1 FOR NO KEY UPDATE', ['default']] as const;
    const waiting = async (): Promise<Reply> => {
      expect((await put(`/users/${user}`, { data: '1' })).status).to.equal(200);
      return put(`/users/${user}`, { data: '2', 'group-ids': [Number(group)] });
    };
    expect((await meanwhile(api, [box], waiting)).status).to.equal(200);
  });

  it('is one of two who disable each other at the same time', async () => {
    const other = await create({ 'group-ids': [Number(group)] });
    const replies = await Promise.all([user, other].map((id) => put(`/users/${id}`, { status: 'inactive' })));
    expect(replies.map(({ status }) => status).toSorted()).to.deep.equal([200, 409]);
  });

  it('is refused nothing once another user is an administrator, by a link of the user', async () => {
    const other = await create();
    await putPolicy({ link: [{ resourceType: 'User', id: other }] });
    expect((await api.call('DELETE', `/users/${user}`)).status).to.equal(200);
    expect((await api.call('DELETE', `/users/${other}`)).status).to.equal(409);
  });
});
