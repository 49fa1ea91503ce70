import { expect } from 'chai';
import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import { eventually } from '../../support/eventually.ts';
import { member } from '../../support/member.ts';
import { unthrottled } from '../../support/unthrottled.ts';
import { startBoxApi } from './box-api.ts';
import type { BoxApi, Reply } from './box-api.ts';

const hour = 3_600_000;
const later = (milliseconds: number): string => new Date(Date.now() + milliseconds).toISOString();

describe('a secret that is rotated over REST', () => {
  let api: BoxApi;
  let nth = 0;
  let id: string;

  before(async () => {
    api = await startBoxApi(unthrottled);
  });
  after(() => api.stop());

  const [first, second, third] = [generateClientSecret(), generateClientSecret(), generateClientSecret()];
  const body = { grant_types: ['client_credentials'], name: 'App' };
  const put = (more: object): Promise<Reply> => api.call('PUT', `/Client/${id}`, { body: { ...body, ...more } });
  const patch = (change: unknown, type = 'application/merge-patch+json'): Promise<Reply> =>
    api.call('PATCH', `/Client/${id}`, { body: change, type });
  const until = async (): Promise<unknown> =>
    member((await api.call('GET', `/Client/${id}`)).body, 'previous_secret_until');
  const statuses = (...secrets: readonly string[]): Promise<number[]> =>
    Promise.all(secrets.map(async (secret) => (await api.requestToken(id, secret)).status));

  beforeEach(async () => {
    id = `app-${String((nth += 1))}`;
    expect((await put({ secret: first })).status).to.equal(201);
  });

  it('is replaced at once, unless the request says until when it stays valid', async () => {
    await put({ secret: second });
    expect(await statuses(first, second)).to.deep.equal([401, 200]);
    expect(await until()).to.equal(undefined);
  });

  for (const [what, chosen] of [
    ['generated', first],
    ['chosen', 'a chosen secret'],
  ] as const) {
    it(`stays valid until then, if it was ${what}, and shows that`, async () => {
      await put({ secret: chosen });
      const end = later(hour);
      const answer = await patch({ secret: second, previous_secret_until: end });
      expect([answer.status, member(answer.body, 'previous_secret_until')]).to.deep.equal([200, end]);
      expect(await until()).to.equal(end);
      expect(await statuses(chosen, second)).to.deep.equal([200, 200]);
      const list = await api.call('GET', `/Client?id=${id}&_elements=previous_secret_until&_result=array`);
      expect(JSON.stringify(list.body)).to.contain(end);
    });
  }

  it('stays valid through changes of other fields, and when the client is sent as it was read', async () => {
    const end = later(hour);
    await patch({ secret: second, previous_secret_until: end });
    await put({ name: 'Another' });
    await patch({ name: 'A third' });
    const { body: read, headers } = await api.call('GET', `/Client/${id}`);
    const again = await api.call('PUT', `/Client/${id}`, { body: read });
    expect([again.status, again.headers.get('ETag')]).to.deep.equal([200, headers.get('ETag')]);
    expect([await until(), ...(await statuses(first, second))]).to.deep.equal([end, 200, 200]);
  });

  for (const [what, end] of [
    ['null in a merge patch', () => patch({ previous_secret_until: null })],
    ['null in a PUT', () => put({ previous_secret_until: null })],
    [
      'its removal in a JSON Patch',
      () => patch([{ op: 'remove', path: '/previous_secret_until' }], 'application/json-patch+json'),
    ],
    ['a past time', () => patch({ previous_secret_until: later(-hour) })],
    ['another secret without a time', () => patch({ secret: third })],
    ['the removal of the secret', () => put({ secret: null, grant_types: [] })],
  ] as const) {
    it(`ends by ${what}`, async () => {
      await patch({ secret: second, previous_secret_until: later(hour) });
      expect((await end()).status).to.equal(200);
      expect([await until(), ...(await statuses(first))]).to.deep.equal([undefined, 401]);
    });
  }

  it('ends at its time without another request, and its end can be moved', async () => {
    await patch({ secret: second, previous_secret_until: later(hour) });
    expect((await patch({ previous_secret_until: later(1_000) })).status).to.equal(200);
    await eventually('it is refused', async () => (await statuses(first))[0] === 401);
    expect(await until()).to.equal(undefined);
    expect(await statuses(second)).to.deep.equal([200]);
  });

  it('is the only one that is kept: the one before it ends', async () => {
    await patch({ secret: second, previous_secret_until: later(hour) });
    await patch({ secret: third, previous_secret_until: later(hour) });
    expect(await statuses(first, second, third)).to.deep.equal([401, 200, 200]);
  });

  for (const [what, change, message] of [
    ['a text that is no time', { secret: second, previous_secret_until: 'soon' }, 'must be null, or a time'],
    ['a time without another secret', { previous_secret_until: later(hour) }, 'has no previous secret to keep'],
  ] as const) {
    it(`refuses ${what}, and changes nothing`, async () => {
      const answer = await patch(change);
      expect(answer.status).to.equal(422);
      expect(answer.text).to.contain('previous_secret_until').and.to.contain(message);
      expect(await statuses(first, second)).to.deep.equal([200, 401]);
    });
  }

  it('is no field of a policy', async () => {
    const policy = { engine: 'allow', previous_secret_until: later(hour) };
    expect((await api.call('PUT', '/AccessPolicy/other', { body: policy })).status).to.equal(422);
  });
});
