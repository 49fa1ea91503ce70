import { expect } from 'chai';
import { startBoxApi } from '../box-api.ts';
import type { BoxApi } from '../box-api.ts';
import { member } from '../../../support/member.ts';
import { userRequests } from './user-requests.ts';

describe('the list of users', () => {
  let api: BoxApi;
  const { create, listed } = userRequests(() => api);

  before(async () => {
    api = await startBoxApi();
    for (const name of ['zoe', 'zack', 'zed']) await create({ email: `${name}@list.example` });
    await create({ email: 'Zora@list.example', status: 'inactive' });
  });
  after(() => api.stop());

  it('is filtered by email, its beginning and the status', async () => {
    expect(await listed('email=ZED@list.example')).to.deep.equal(['zed@list.example']);
    expect(await listed('email=none')).to.deep.equal([]);
    expect(await listed('q=z')).to.deep.equal([
      'zack@list.example',
      'zed@list.example',
      'zoe@list.example',
      'zora@list.example',
    ]);
    expect(await listed('q=zo&status=active')).to.deep.equal(['zoe@list.example']);
    expect(await listed('status=inactive')).to.deep.equal(['zora@list.example']);
    expect(await listed('q=%25')).to.deep.equal([]);
  });

  it('U-10 is paged by links, with the total', async () => {
    const seen: string[] = [];
    let next: string | undefined = `${api.base}/users?q=z&_count=3`;
    while (next !== undefined) {
      const response: Response = await fetch(next, { headers: { Authorization: `Bearer ${api.adminToken}` } });
      expect(response.headers.get('x-total-count')).to.equal('4');
      const page: unknown = await response.json();
      if (Array.isArray(page)) seen.push(...page.map((user) => String(member(user, 'email'))));
      const [, url] = /<[^>]*?\/users([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? [];
      next = url === undefined ? undefined : `${api.base}/users${url}`;
    }
    expect(seen).to.have.length(4);
    expect(await listed('q=z&_count=3&_page=2')).to.deep.equal(['zora@list.example']);
    expect(await listed('q=z&_count=3&_page=last')).to.deep.equal(['zora@list.example']);
  });

  for (const query of ['_sort=id', '_elements=id', '_result=array', 'name=x', 'status=none', '_count=0', '_page=x']) {
    it(`?${query} is 400`, async () => {
      expect((await api.call('GET', `/users?${query}`)).status).to.equal(400);
    });
  }

  it('no other request takes parameters', async () => {
    const id = await create();
    expect((await api.call('GET', `/users/${id}?x=1`)).status).to.equal(400);
    expect((await api.call('DELETE', `/users/${id}?_count=1`)).status).to.equal(400);
    expect((await api.call('POST', '/users?x=1', { body: {} })).status).to.equal(400);
  });
});
