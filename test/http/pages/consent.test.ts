import { expect } from 'chai';
import { ann, authorizationRequests, back, code, sent, startAuthorizationApi } from './authorization-requests.ts';
import type { AuthorizationApi } from './authorization-requests.ts';
import { newBrowser } from './browser.ts';
import type { Browser } from './browser.ts';

describe('consent', () => {
  let api: AuthorizationApi;
  let browser: Browser;
  const { ask } = authorizationRequests(() => ({ api, browser }));

  before(async () => {
    api = await startAuthorizationApi();
  });
  after(() => api.stop());
  beforeEach(() => {
    browser = newBrowser(api);
  });

  const foreign = { ...code, client_id: 'foreign', scope: 'read openid', state: 's' };

  async function consentPage(): Promise<string> {
    await browser.submit('/auth/signin', ann);
    const { status, location } = await ask({ ...foreign, prompt: 'consent' });
    expect(status).to.equal(303);
    return location;
  }

  it('A-15 shows who asks for what, where it goes and for how long', async () => {
    const { text, headers } = await browser.get(await consentPage());
    for (const part of ['Foreign App (foreign)', '<li>read</li>', 'know who you are', 'app.example', '365 days']) {
      expect(text).to.contain(part);
    }
    expect(headers.get('content-security-policy')).to.contain("frame-ancestors 'none'").and.not.contain('form-action');
  });

  it('answers when it is given, and does not ask again', async () => {
    const address = await consentPage();
    const allowed = await browser.submit(address, { answer: 'allow' });
    expect([allowed.status, Object.keys(sent(allowed, '?'))]).to.deep.equal([302, ['code', 'state', 'iss']]);
    expect((await ask(foreign)).location).to.match(/\?code=bgc_/);
    expect((await ask({ ...foreign, prompt: 'none' })).location).to.match(/\?code=bgc_/);
  });

  it('tells the client when it is not given', async () => {
    const denied = await browser.submit(await consentPage(), { answer: 'deny' });
    expect(sent(denied, '?')).to.include({ error: 'access_denied', state: 's' });
  });

  it('is over for an id of any other form', async () => {
    const address = await consentPage();
    const id = new URL(address).searchParams.get('id') ?? '';
    const dashes = '-'.repeat(id.length);
    for (const other of [dashes, id.replace('-', '0'), `${id.slice(1)}-`, id.toUpperCase(), '%00', '']) {
      expect((await browser.get(`/auth/consent?id=${other}`)).status, other).to.equal(400);
    }
    const answer = await browser.submit(address, { id: dashes, answer: 'allow' });
    expect(answer.status).to.equal(400);
  });

  it('A-08 is given by nobody but the browser that was asked', async () => {
    const address = await consentPage();
    const id = new URL(address).searchParams.get('id') ?? '';
    const other = newBrowser(api);
    await other.submit('/auth/signin', ann);
    expect((await other.get(address)).status).to.equal(400);
    const { text } = await other.get('/auth/signout');
    const [, form_token = ''] = /name="form_token" value="([^"]+)"/.exec(text) ?? [];
    expect((await other.post('/auth/consent', { form_token, id, answer: 'allow' })).status).to.equal(400);
    expect((await other.post('/auth/consent', { id, answer: 'allow' })).status).to.equal(403);
    expect((await browser.submit(address, { answer: 'allow' })).status).to.equal(302);
  });

  it('is asked for again of a client that was deleted and created again', async () => {
    await browser.submit(await consentPage(), { answer: 'allow' });
    const again = { kind: 'Client', id: 'foreign', grant_types: ['authorization_code'] } as const;
    await api.remove('default', [again]);
    const auth = { authorization_code: { redirect_uri: back, refresh_token: true } };
    await api.declare('default', [{ ...again, name: 'Foreign App', auth, scope: ['read', 'openid'] }]);
    expect((await ask(foreign)).location).to.match(/\/auth\/consent\?id=/);
  });
});
