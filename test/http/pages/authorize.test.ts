import { expect } from 'chai';
import { claimsOf } from '../../oauth/requests.ts';
import {
  ann,
  authorizationRequests,
  back,
  code,
  implicit,
  pathOf,
  sent,
  startAuthorizationApi,
} from './authorization-requests.ts';
import type { AuthorizationApi } from './authorization-requests.ts';
import { issuerOf, newBrowser } from './browser.ts';
import type { Browser } from './browser.ts';

const issuer = issuerOf('default');

describe('the authorization endpoint', () => {
  let api: AuthorizationApi;
  let browser: Browser;
  const { ask, introspect } = authorizationRequests(() => ({ api, browser }));

  before(async () => {
    api = await startAuthorizationApi();
  });
  after(() => api.stop());
  beforeEach(() => {
    browser = newBrowser(api);
  });

  it('brings the token in the fragment, as the interface has it, after the sign-in', async () => {
    const asked = await ask({ ...implicit, state: 'abc', scope: 'read' });
    expect(asked.status).to.equal(303);
    expect(asked.location.startsWith(`${issuer}/auth/signin?`)).to.equal(true);
    expect((await browser.get(asked.location)).text).to.contain('to continue to Own &#60;App&#62;');
    const signedIn = await browser.submit(asked.location, ann);
    expect(signedIn.location.startsWith(`${issuer}/auth/authorize?`)).to.equal(true);
    const answer = await browser.get(signedIn.location);
    expect(answer.status).to.equal(302);
    expect(answer.location).to.match(
      new RegExp(
        `^${back}#access_token=bgt_[\\w-]{75}&state=abc&token_type=Bearer&expires_in=3600&iss=${encodeURIComponent(issuer)}$`,
      ),
    );
    const token = sent(answer, '#')['access_token'] ?? '';
    expect(await introspect(token)).to.include({
      active: true,
      client_id: 'own',
      sub: String(api.user),
      scope: 'read',
    });
  });

  it('shows when a token ends where that is configured, and signs it where it is a JWT', async () => {
    await browser.submit('/auth/signin', ann);
    const answer = await ask({ response_type: 'token', client_id: 'jwt' });
    expect(sent(answer, '#')).to.include({ expires_in: '90', token_type: 'Bearer' });
    expect(claimsOf(sent(answer, '#')['access_token'] ?? '')).to.include({ sub: String(api.user), client_id: 'jwt' });
  });

  it('is for the audience that the grant of its client has', async () => {
    await browser.submit('/auth/signin', ann);
    const token = sent(await ask({ ...implicit, client_id: 'settled' }), '#')['access_token'] ?? '';
    expect((await introspect(token))['aud']).to.deep.equal(['https://files.example']);
  });

  it('is switched off for tokens at once in a strict box', async () => {
    const strict = newBrowser(api, 'strict');
    const answer = await strict.get(pathOf(implicit));
    expect(sent(answer, '#')).to.include({ error: 'unsupported_response_type', iss: issuerOf('strict') });
    expect((await strict.get(pathOf(code))).location).to.contain('/auth/signin?');
  });

  const states = ['x&access_token=evil', '#', '\r\nSet-Cookie: a=b', 'ü €', '%41+ b', 's'.repeat(4000), ''];
  for (const state of states) {
    it(`A-05 gives the state back as it came: ${JSON.stringify(state.slice(0, 20))}`, async () => {
      await browser.submit('/auth/signin', ann);
      const token = sent(await ask({ ...implicit, state }), '#');
      const keys = ['access_token', 'state', 'token_type', 'scope', 'expires_in', 'iss'];
      expect(token).to.have.all.keys(keys).and.to.include({ scope: 'openid' });
      expect([token['state'], token['access_token']?.slice(0, 4)]).to.deep.equal([state, 'bgt_']);
      const query = sent(await ask({ ...code, state }), '?');
      expect([Object.keys(query), query['state']]).to.deep.equal([['code', 'state', 'iss'], state]);
    });
  }

  it('takes the request by POST too, with the cookie of who is signed in', async () => {
    await browser.submit('/auth/signin', ann);
    const posted = await newBrowser(api).post('/auth/authorize', implicit);
    expect(posted.status).to.equal(303);
    expect((await browser.get(posted.location)).location).to.match(/#access_token=/);
  });

  it('prompt=login asks a person who is signed in, once', async () => {
    await browser.submit('/auth/signin', ann);
    const asked = await ask({ ...implicit, prompt: 'login', login_hint: 'x@y.example' });
    expect((await browser.get(asked.location)).text).to.contain('value="x@y.example"');
    const signedIn = await browser.submit(asked.location, ann);
    expect((await browser.get(signedIn.location)).location).to.match(/#access_token=/);
  });
});
