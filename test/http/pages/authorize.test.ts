import { expect } from 'chai';
import { createHash, randomBytes } from 'node:crypto';
import { generateClientSecret } from '../../../api/credentials/secret-text.ts';
import { basic, claimsOf, sendForm, textOf } from '../../oauth/requests.ts';
import type { Fields, Reply } from '../../oauth/requests.ts';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { addUser, issuerOf, newBrowser } from './browser.ts';
import type { Answer, Browser } from './browser.ts';
import { eventually } from '../../support/eventually.ts';

const ann = { email: 'ann@shop.example', password: 'a long enough passphrase' };
const back = 'https://app.example/back';
const issuer = issuerOf('default');
const secret = generateClientSecret();
const verifier = randomBytes(32).toString('base64url');
const challenge = createHash('sha256').update(verifier).digest('base64url');
const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };

/** The parameters in the part of an address behind this sign. */
function sent({ location }: Answer, sign: '#' | '?'): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(location.slice(location.indexOf(sign) + 1)));
}

describe('the authorization endpoint', () => {
  let api: TestApi;
  let browser: Browser;
  let user = 0;

  before(async () => {
    api = await startApi({
      environment: { BOXGATE_FAILURES_PER_CLIENT: '100000', BOXGATE_FAILURES_PER_BOX: '100000' },
    });
    const both = { implicit: { redirect_uri: back }, authorization_code: { redirect_uri: back, refresh_token: true } };
    const grant_types = ['implicit', 'authorization_code'];
    await api.declare('default', [
      {
        kind: 'Client',
        id: 'own',
        name: 'Own <App>',
        grant_types,
        first_party: true,
        auth: both,
        scope: ['read', 'openid'],
      },
      { kind: 'Client', id: 'foreign', name: 'Foreign App', grant_types, auth: both, scope: ['read', 'openid'] },
      { kind: 'Client', id: 'server', grant_types, secret, first_party: true, auth: both },
      {
        kind: 'Client',
        id: 'jwt',
        grant_types: ['implicit'],
        first_party: true,
        auth: { implicit: { redirect_uri: 'http://127.0.0.1/back', token_format: 'jwt', access_token_expiration: 90 } },
      },
      { kind: 'Client', id: 'two', grant_types, auth: { ...both, implicit: { redirect_uri: `${back}/other` } } },
      { kind: 'Client', id: 'code-only', grant_types: ['authorization_code'], auth: both },
      { kind: 'Client', id: 'off', grant_types, auth: both, active: false },
      {
        kind: 'Client',
        id: 'settled',
        grant_types,
        secret,
        first_party: true,
        auth: {
          implicit: { redirect_uri: back, audience: ['https://files.example'] },
          authorization_code: {
            redirect_uri: back,
            token_format: 'jwt',
            access_token_expiration: 120,
            audience: ['https://files.example'],
            refresh_token: true,
            refresh_token_expiration: 60,
            refresh_requires_secret: true,
            refresh_rotation: false,
            pkce: true,
          },
        },
      },
      {
        kind: 'Client',
        id: 'light',
        grant_types: ['authorization_code'],
        secret,
        first_party: true,
        auth: { authorization_code: { redirect_uri: back, secret_required: false } },
      },
      { kind: 'Client', id: 'machine', grant_types: ['client_credentials'], secret },
    ]);
    await api.declare('strict', [
      { kind: 'Box', id: 'strict', compatibility: { profile: 'strict' } },
      { kind: 'Client', id: 'own', grant_types, first_party: true, auth: both },
    ]);
    user = await addUser(api, ann.email, ann.password);
  });
  after(() => api.stop());
  beforeEach(() => {
    browser = newBrowser(api);
  });

  const path = (parameters: Record<string, string>): string =>
    `/auth/authorize?${new URLSearchParams(parameters).toString()}`;
  const ask = (parameters: Record<string, string>): Promise<Answer> => browser.get(path(parameters));
  const implicit = { response_type: 'token', client_id: 'own', redirect_uri: back };
  const code = { response_type: 'code', client_id: 'own', redirect_uri: back, ...pkce };

  function redeem(fields: Fields, authorization?: string): Promise<Reply> {
    const whole = { grant_type: 'authorization_code', redirect_uri: back, ...fields };
    return sendForm(`${api.url}/boxes/default/auth/token`, whole, authorization);
  }

  async function introspect(token: string): Promise<Reply['body']> {
    const url = `${api.url}/boxes/default/auth/introspect`;
    return (await sendForm(url, { token }, basic('machine', secret))).body;
  }

  async function newCode(parameters: Record<string, string> = code): Promise<string> {
    return sent(await ask(parameters), '?')['code'] ?? '';
  }

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
  ];
  for (const [error, part, parameters] of refusals) {
    it(`A-04 T-23 tells the client of ${error}: ${JSON.stringify(parameters)}`, async () => {
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
    ['jwt', 'http://127.0.0.1/back', '#', 'words'],
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
      new RegExp(`^${back}#access_token=bgt_[\\w-]{75}&state=abc&token_type=Bearer&iss=${encodeURIComponent(issuer)}$`),
    );
    const token = sent(answer, '#')['access_token'] ?? '';
    expect(await introspect(token)).to.include({ active: true, client_id: 'own', sub: String(user), scope: 'read' });
  });

  it('shows when a token ends where that is configured, and signs it where it is a JWT', async () => {
    await browser.submit('/auth/signin', ann);
    const answer = await ask({ response_type: 'token', client_id: 'jwt' });
    expect(sent(answer, '#')).to.include({ expires_in: '90', token_type: 'Bearer' });
    expect(claimsOf(sent(answer, '#')['access_token'] ?? '')).to.include({ sub: String(user), client_id: 'jwt' });
  });

  it('is for the audience that the grant of its client has', async () => {
    await browser.submit('/auth/signin', ann);
    const token = sent(await ask({ ...implicit, client_id: 'settled' }), '#')['access_token'] ?? '';
    expect((await introspect(token))['aud']).to.deep.equal(['https://files.example']);
  });

  it('is switched off for tokens at once in a strict box', async () => {
    const strict = newBrowser(api, 'strict');
    const answer = await strict.get(path(implicit));
    expect(sent(answer, '#')).to.include({ error: 'unsupported_response_type', iss: issuerOf('strict') });
    expect((await strict.get(path(code))).location).to.contain('/auth/signin?');
  });

  const states = ['x&access_token=evil', '#', '\r\nSet-Cookie: a=b', 'ü €', '%41+ b', 's'.repeat(4000), ''];
  for (const state of states) {
    it(`A-05 gives the state back as it came: ${JSON.stringify(state.slice(0, 20))}`, async () => {
      await browser.submit('/auth/signin', ann);
      const token = sent(await ask({ ...implicit, state }), '#');
      expect(Object.keys(token)).to.deep.equal(['access_token', 'state', 'token_type', 'iss']);
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

  describe('consent', () => {
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
      expect(headers.get('content-security-policy'))
        .to.contain("frame-ancestors 'none'")
        .and.not.contain('form-action');
    });

    it('answers when it is given, once, and does not ask again', async () => {
      const address = await consentPage();
      const allowed = await browser.submit(address, { answer: 'allow' });
      expect([allowed.status, Object.keys(sent(allowed, '?'))]).to.deep.equal([302, ['code', 'state', 'iss']]);
      expect((await browser.get(address)).status).to.equal(400);
      expect((await ask(foreign)).location).to.match(/\?code=bgc_/);
      expect((await ask({ ...foreign, prompt: 'none' })).location).to.match(/\?code=bgc_/);
    });

    it('tells the client when it is not given', async () => {
      const denied = await browser.submit(await consentPage(), { answer: 'deny' });
      expect(sent(denied, '?')).to.include({ error: 'access_denied', state: 's' });
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

  describe('a code', () => {
    beforeEach(() => browser.submit('/auth/signin', ann));

    it('is redeemed once, with its verifier, for tokens of the person', async () => {
      const parameters = { code: await newCode({ ...code, scope: 'read' }), client_id: 'own', code_verifier: verifier };
      const reply = await redeem(parameters);
      expect(reply.status, reply.text).to.equal(200);
      expect(Object.keys(reply.body)).to.deep.equal(['token_type', 'access_token', 'refresh_token']);
      const told = await introspect(textOf(reply, 'access_token'));
      expect(told).to.include({ active: true, client_id: 'own', sub: String(user), scope: 'read' });
    });

    it('gives refresh tokens that rotate, to a client without a secret too', async () => {
      const reply = await redeem({ code: await newCode(), client_id: 'own', code_verifier: verifier });
      const refresh = { grant_type: 'refresh_token', client_id: 'own', refresh_token: textOf(reply, 'refresh_token') };
      const next = await redeem(refresh);
      expect(next.status, next.text).to.equal(200);
      expect(textOf(next, 'refresh_token')).not.to.be.oneOf(['', textOf(reply, 'refresh_token')]);
      expect(await introspect(textOf(next, 'access_token'))).to.include({ active: true, sub: String(user) });
    });

    it('T-20 used a hundred times at once gives one answer, and nothing that lives on', async () => {
      const parameters = { code: await newCode(), client_id: 'own', code_verifier: verifier };
      const replies = await Promise.all(Array.from({ length: 100 }, () => redeem(parameters)));
      const good = replies.filter(({ status }) => status === 200);
      // A machine that is too busy may send away the one that came first, too.
      const isBusy = replies.some(({ status }) => status === 503);
      expect(good.length).to.be.within(isBusy ? 0 : 1, 1);
      const others = new Set(replies.filter(({ status }) => status !== 200).map(({ body }) => body['error']));
      expect([...others].filter((error) => error !== 'temporarily_unavailable')).to.deep.equal(['invalid_grant']);
      for (const { body } of good) {
        expect(await introspect(String(body['access_token']))).to.deep.equal({ active: false });
        expect(await introspect(String(body['refresh_token']))).to.deep.equal({ active: false });
      }
      await eventually('the reuse is logged', () => api.logLines.some((line) => line.includes('code.reused')));
    });

    const wrong: readonly [what: string, change: Fields, error: string][] = [
      ['of another client', { client_id: 'foreign' }, 'invalid_grant'],
      ['with another redirect_uri', { redirect_uri: `${back}/` }, 'invalid_grant'],
      ['without redirect_uri', { redirect_uri: undefined }, 'invalid_grant'],
      ['without its verifier', { code_verifier: undefined }, 'invalid_grant'],
      ['with another verifier', { code_verifier: 'A'.repeat(43) }, 'invalid_grant'],
      ['with a verifier of 42 characters', { code_verifier: 'A'.repeat(42) }, 'invalid_request'],
      ['with a verifier of 129 characters', { code_verifier: 'A'.repeat(129) }, 'invalid_request'],
      ['with a verifier of other signs', { code_verifier: '!'.repeat(43) }, 'invalid_request'],
      ['that is none', { code: `bgc_${'A'.repeat(70)}` }, 'invalid_grant'],
      ['that is missing', { code: undefined }, 'invalid_request'],
      ['for another resource', { resource: 'https://else.example' }, 'invalid_target'],
    ];
    for (const [what, change, error] of wrong) {
      it(`T-21 T-22 ${what} is ${error}, and is not used up by it`, async () => {
        const right = { code: await newCode(), client_id: 'own', code_verifier: verifier };
        const { status, body } = await redeem({ ...right, ...change });
        expect([status, body['error']]).to.deep.equal([400, error]);
        expect((await redeem(right)).status).to.equal(200);
      });
    }

    it('is redeemed without redirect_uri where the request left it out, and with the configured one', async () => {
      const { redirect_uri: _, ...unnamed } = code;
      for (const [redirect_uri, expected] of [
        [undefined, 200],
        [back, 200],
        [`${back}/`, 400],
      ] as const) {
        const parameters = { code: await newCode(unnamed), client_id: 'own', code_verifier: verifier, redirect_uri };
        expect((await redeem(parameters)).status, String(redirect_uri)).to.equal(expected);
      }
    });

    it('T-22 without a challenge is refused with a verifier: somebody took the challenge away', async () => {
      const { code_challenge: _, code_challenge_method: __, ...plain } = { ...code, client_id: 'server' };
      const authorization = basic('server', secret);
      const first = await newCode(plain);
      expect((await redeem({ code: first, code_verifier: verifier }, authorization)).body['error']).to.equal(
        'invalid_grant',
      );
      expect((await redeem({ code: first }, authorization)).status).to.equal(200);
    });

    it('of a confidential client is redeemed by nobody without its secret', async () => {
      const parameters = { code: await newCode({ ...code, client_id: 'server' }), code_verifier: verifier };
      expect((await redeem({ ...parameters, client_id: 'server' })).body['error']).to.equal('invalid_client');
      expect((await redeem(parameters, basic('server', secret))).status).to.equal(200);
    });

    it('is redeemed for what the settings of its grant say', async () => {
      const parameters = { code: await newCode({ ...code, client_id: 'settled' }), code_verifier: verifier };
      const reply = await redeem(parameters, basic('settled', secret));
      const claims = claimsOf(textOf(reply, 'access_token'));
      expect(claims).to.include({ aud: 'https://files.example', sub: String(user), client_id: 'settled' });
      expect([reply.body['expires_in'], Number(claims['exp']) - Number(claims['iat'])]).to.deep.equal([120, 120]);
    });

    it('gives refresh tokens by the settings of its own grant', async () => {
      const authorization = basic('settled', secret);
      const parameters = { code: await newCode({ ...code, client_id: 'settled' }), code_verifier: verifier };
      const begun = Date.now() / 1000;
      const refresh_token = textOf(await redeem(parameters, authorization), 'refresh_token');
      const refresh = { grant_type: 'refresh_token', refresh_token };
      expect((await redeem({ ...refresh, client_id: 'settled' })).body['error']).to.equal('invalid_client');
      const { body } = await redeem(refresh, authorization);
      expect(body).to.include({ expires_in: 120 }).and.not.have.property('refresh_token');
      const used = Date.now() / 1000;
      expect(Number((await introspect(refresh_token))['exp'])).to.be.within(begun + 59, used + 61);
    });

    it('needs no secret where the settings say that PKCE is enough', async () => {
      const parameters = { code: await newCode({ ...code, client_id: 'light' }), code_verifier: verifier };
      expect((await redeem({ ...parameters, client_id: 'light' })).status).to.equal(200);
    });

    it('needs PKCE of a client with a secret where its settings say so', async () => {
      const { code_challenge: _, code_challenge_method: __, ...plain } = code;
      for (const client_id of ['settled', 'light']) {
        expect(sent(await ask({ ...plain, client_id }), '?')).to.include({ error: 'invalid_request' });
      }
    });

    it('dies with the sign-out, and so do the tokens that came of the sign-in', async () => {
      const reply = await redeem({ code: await newCode(), client_id: 'own', code_verifier: verifier });
      const token = sent(await ask(implicit), '#')['access_token'] ?? '';
      const late = await newCode();
      await browser.submit('/auth/signout', {});
      expect((await redeem({ code: late, client_id: 'own', code_verifier: verifier })).status).to.equal(400);
      for (const text of [token, textOf(reply, 'access_token'), textOf(reply, 'refresh_token')]) {
        expect(await introspect(text)).to.deep.equal({ active: false });
      }
    });
  });

  it('prompt=login asks a person who is signed in, once', async () => {
    await browser.submit('/auth/signin', ann);
    const asked = await ask({ ...implicit, prompt: 'login', login_hint: 'x@y.example' });
    expect((await browser.get(asked.location)).text).to.contain('value="x@y.example"');
    const signedIn = await browser.submit(asked.location, ann);
    expect((await browser.get(signedIn.location)).location).to.match(/#access_token=/);
  });
});
