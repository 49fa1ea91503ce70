import { expect } from 'chai';
import {
  ann,
  authorizationRequests,
  back,
  code,
  implicit,
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
  const { ask } = authorizationRequests(() => ({ api, browser }));

  before(async () => {
    api = await startAuthorizationApi();
  });
  after(() => api.stop());
  beforeEach(() => {
    browser = newBrowser(api);
  });

  describe('A-01 A-02 answers with a page, and redirects nowhere', () => {
    const requests: readonly Record<string, string>[] = [
      {},
      { ...implicit, client_id: 'nobody' },
      { ...implicit, client_id: 'off' },
      { ...implicit, client_id: 'machine' },
      { response_type: 'nothing', client_id: 'two' },
      ...[
        `${back}/`,
        `${back}?x`,
        `${back}#`,
        `${back}/../back`,
        'https://app.example:443/back',
        'https://APP.example/back',
      ],
      ...['https://app.example@evil.example/back', 'https://app.example.evil.example/back', '//app.example/back'],
      ...['https://app.example\\back', 'https://app.example/%62ack', ' https://app.example/back', `${back}\n`],
      ...['http://app.example/back', 'javascript:alert(1)', 'data:text/html,x', 'https://app.example..;/back'],
    ].map((one) => (typeof one === 'string' ? { ...implicit, redirect_uri: one } : one));
    for (const parameters of requests) {
      it(JSON.stringify(parameters), async () => {
        const { status, location, text, headers } = await ask(parameters);
        expect([status, location]).to.deep.equal([400, '']);
        expect(headers.get('content-type')).to.equal('text/html; charset=utf-8');
        expect(text).to.contain('Nothing was passed on');
        expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).to.deep.equal([]);
      });
    }

    for (const query of ['client_id=own&client_id=own', 'client_id=own&state=%ff', 'client_id=own&state=%00']) {
      it(query, async () => {
        const { status } = await browser.get(`/auth/authorize?response_type=token&${query}`);
        expect(status).to.equal(400);
      });
    }
  });

  it('RFC 8252 section 7.3 takes any port of a loopback address, and nothing else in its place', async () => {
    await browser.submit('/auth/signin', ann);
    const native = { response_type: 'token', client_id: 'jwt', state: 's' };
    const { location } = await ask({ ...native, redirect_uri: 'http://127.0.0.1:51004/back' });
    expect(location).to.match(/^http:\/\/127\.0\.0\.1:51004\/back#access_token=ey/);
    for (const other of ['http://localhost:51004/back', 'http://[::1]:51004/back', 'http://127.0.0.1:70000/back']) {
      expect((await ask({ ...native, redirect_uri: other })).status, other).to.equal(400);
    }
  });

  const refusals: readonly [error: string, part: '#' | '?', parameters: Record<string, string>][] = [
    ['invalid_request', '?', { client_id: 'own', redirect_uri: back }],
    ['unsupported_response_type', '#', { ...code, response_type: 'code token' }],
    ['unsupported_response_type', '?', { ...code, response_type: 'words' }],
    ['unauthorized_client', '#', { ...implicit, client_id: 'code-only' }],
    ['invalid_scope', '#', { ...implicit, scope: 'boxgate' }],
    ['invalid_request', '?', { response_type: 'code', client_id: 'own' }],
    ['invalid_request', '?', { ...code, code_challenge_method: 'plain' }],
    ['invalid_request', '?', { ...code, code_challenge: 'short' }],
    ['invalid_request', '#', { ...implicit, response_mode: 'query' }],
    ['request_not_supported', '?', { ...code, request: 'e30.e30.' }],
    ['invalid_request', '#', { ...implicit, prompt: 'none login' }],
    ['login_required', '#', { ...implicit, prompt: 'none' }],
    ['invalid_target', '#', { ...implicit, resource: 'no-uri' }],
    ['invalid_request', '?', { ...code, nonce: 'n'.repeat(1_025) }],
  ];
  for (const [error, part, parameters] of refusals) {
    it(`A-04 T-23 tells the client of ${error}: ${JSON.stringify(parameters).slice(0, 300)}`, async () => {
      const answer = await ask({ ...parameters, state: 'x&error=y' });
      expect(answer.status).to.equal(302);
      expect(answer.location.startsWith(`${back}${part}error=${error}&`), answer.location).to.equal(true);
      expect(sent(answer, part)).to.include({ error, state: 'x&error=y', iss: issuer });
    });
  }

  const misplaced: readonly [client: string, at: string, part: '#' | '?', type: string][] = [
    ['jwt', 'http://127.0.0.1/back', '?', 'code'],
    ['jwt', 'http://127.0.0.1/back', '#', 'code token'],
    ['jwt', 'http://127.0.0.1/back', '#', 'id_token'],
    ['light', back, '#', 'token'],
    ['light', back, '#', 'id_token token'],
    ['light', back, '#', 'code id_token'],
    ['light', back, '?', 'words'],
    ['jwt', 'http://127.0.0.1/back', '?', 'words'],
  ];
  for (const [client, at, part, type] of misplaced) {
    it(`R-42 answers ${type} of a client that may not use it where ${type} is answered (${client})`, async () => {
      for (const redirect of [{}, { redirect_uri: at }]) {
        const answer = await ask({ client_id: client, response_type: type, state: 's', ...redirect });
        expect(answer.location.startsWith(`${at}${part}error=`), answer.location).to.equal(true);
        expect(sent(answer, part)).to.include({ state: 's', iss: issuer });
      }
      const posted = await ask({
        client_id: client,
        response_type: type,
        redirect_uri: at,
        response_mode: 'form_post',
      });
      expect(posted.status).to.equal(200);
    });
  }

  it('R-49 tells with prompt=none why a sign-in is needed', async () => {
    const nobody = await ask({ ...implicit, prompt: 'none', max_age: '0' });
    expect(sent(nobody, '#')).to.include({ error: 'login_required', error_description: 'Nobody is signed in' });
    await browser.submit('/auth/signin', ann);
    for (const request of [implicit, code]) {
      const old = await ask({ ...request, prompt: 'none', max_age: '0' });
      expect(sent(old, request === code ? '?' : '#')).to.include({
        error: 'login_required',
        error_description: 'The sign-in is older than max_age allows: the user must sign in again',
      });
    }
    expect((await ask({ ...implicit, prompt: 'none', max_age: '600' })).location).to.contain('#access_token=');
  });
});
