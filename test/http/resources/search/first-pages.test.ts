import { isObject } from '../../../../crds/path.ts';
import { expect } from 'chai';
import { entries, linkOf, startBoxApi } from '../box-api.ts';
import type { BoxApi, Reply } from '../box-api.ts';

describe('the first page of a list over REST', () => {
  let api: BoxApi;

  before(async () => {
    api = await startBoxApi();
    for (const id of ['ab', 'aa', 'ac']) {
      const body = { name: `name of ${id}`, grant_types: ['client_credentials'], secret: 'x' };
      await api.call('PUT', `/Client/${id}`, { body });
      await api.call('PUT', `/AccessPolicy/${id}`, {
        body: { engine: 'allow', link: [{ resourceType: 'Client', id }] },
      });
      await api.call('POST', '/Group', { body: { name: `group-${id}` } });
    }
  });
  after(() => api.stop());

  const totalOf = ({ body }: Reply): unknown => (isObject(body) ? body['total'] : undefined);

  /** The IDs and the total of a page. */
  async function found(path: string): Promise<readonly unknown[]> {
    const reply = await api.call('GET', path);
    return [entries(reply).map(({ id }) => id), totalOf(reply)];
  }

  it('has the records in the order of their ids, the total and the way to the next page', async () => {
    const reply = await api.call('GET', '/Client?_count=2');
    const [all, total] = await found('/Client?_count=1000');
    expect([entries(reply).map(({ id }) => id), totalOf(reply)]).to.deep.equal([['aa', 'ab'], total]);
    const next = await api.call('GET', linkOf(reply, 'next') ?? '');
    const ids = [...entries(reply), ...entries(next)].map(({ id }) => id);
    expect(all).to.have.length.greaterThan(2).and.to.include.members(ids);
    expect(linkOf(reply, 'previous')).to.equal(undefined);
    expect(await found('/Client?_count=2&_total=none')).to.deep.equal([['aa', 'ab'], undefined]);
    expect(await found('/Client?_count=2&_total=accurate')).to.deep.equal([['aa', 'ab'], total]);
    expect(await found('/Client?_count=2&_page=1')).to.deep.equal([['aa', 'ab'], total]);
  });

  it('has only what a filter lets through, in the requested order', async () => {
    expect(await found('/Client?name=name+of+ab')).to.deep.equal([['ab'], 1]);
    expect(await found('/Client?id=ac')).to.deep.equal([['ac'], 1]);
    expect(await found('/AccessPolicy?link=Client/ab')).to.deep.equal([['ab'], 1]);
    const groups = await api.call('GET', '/Group?name=group-aa');
    expect(entries(groups).map(({ name }) => name)).to.deep.equal(['group-aa']);
    const [first] = entries(await api.call('GET', '/Client?_sort=-id&_count=1'));
    expect(first?.['id']).not.to.equal('aa');
    const created = entries(await api.call('GET', '/Group?_sort=-name&_count=2'));
    expect(created.map(({ name }) => name)).to.deep.equal(['group-ac', 'group-ab']);
    expect(entries(await api.call('GET', '/users?email=nobody@shop.example'))).to.deep.equal([]);
  });

  it('has large records whole', async () => {
    const details = { text: 'é'.repeat(5_000) };
    const body = { name: 'large', grant_types: ['client_credentials'], details };
    expect((await api.call('PUT', '/Client/aa', { body })).status).to.equal(200);
    const [first, second] = entries(await api.call('GET', '/Client?_count=2'));
    expect([first?.['id'], first?.['details'], second?.['id']]).to.deep.equal(['aa', details, 'ab']);
  });
});
