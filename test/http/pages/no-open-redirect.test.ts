import { expect } from 'chai';
import { startBoxApi } from '../resources/box-api.ts';
import type { BoxApi } from '../resources/box-api.ts';
import { newBrowser } from './browser.ts';
import type { Answer } from './browser.ts';

const own = 'https://app.example/back';
const second = 'https://app.example/other';
const evil = 'https://evil.example/back';

describe('the authorization endpoint', () => {
  let api: BoxApi;
  before(async () => {
    api = await startBoxApi();
    const people = { kind: 'Client', grant_types: ['implicit', 'authorization_code'] } as const;
    await api.declare('default', [
      { ...people, id: 'one', auth: { implicit: { redirect_uri: own }, authorization_code: { redirect_uri: own } } },
      { ...people, id: 'two', auth: { implicit: { redirect_uri: own }, authorization_code: { redirect_uri: second } } },
      { kind: 'Client', id: 'nobody', secret: 'a secret of nobody', grant_types: ['client_credentials'] },
    ]);
  });
  after(() => api.stop());

  const ask = (query: Readonly<Record<string, string>>): Promise<Answer> =>
    newBrowser(api).get(`/auth/authorize?${new URLSearchParams({ prompt: 'none', ...query }).toString()}`);
  const token = { response_type: 'token', client_id: 'one' };

  it('A-03 leads to the address of the client: named, or left out', async () => {
    for (const query of [token, { ...token, redirect_uri: own }]) {
      expect((await ask(query)).location).to.match(/^https:\/\/app\.example\/back#error=login_required&/);
    }
  });

  it('A-03 leads to the one of several that the grant of the response type has', async () => {
    const two = { ...token, client_id: 'two' };
    expect((await ask(two)).location.startsWith(`${own}#error=`)).to.equal(true);
    expect((await ask({ ...two, redirect_uri: second })).status).to.equal(400);
  });

  it('A-03 leads nowhere where it is another one than the request names', async () => {
    const { status, location } = await ask({ ...token, redirect_uri: evil });
    expect([status, location]).to.deep.equal([400, '']);
  });

  it('A-13 sends nobody to a client of somebody who may make none: it is never registered', async () => {
    const body = {
      resourceType: 'Client',
      id: 'evil',
      grant_types: ['implicit'],
      auth: { implicit: { redirect_uri: evil } },
    };
    const answer = await api.requestToken('nobody', 'a secret of nobody');
    const strangers = String(Reflect.get(Object(answer.body), 'access_token'));
    for (const [bearer, status] of [
      [null, 401],
      [strangers, 403],
    ] as const) {
      expect((await api.call('PUT', '/Client/evil', { body, token: bearer })).status).to.equal(status);
      expect((await api.call('POST', '/Client', { body, token: bearer })).status).to.equal(status);
    }
    const { status, location } = await ask({ ...token, client_id: 'evil', redirect_uri: evil });
    expect([status, location]).to.deep.equal([400, '']);
  });
});
