import { expect } from 'chai';
import { basic, claimsOf, textOf } from '../../oauth/requests.ts';
import type { Fields } from '../../oauth/requests.ts';
import { eventually } from '../../support/eventually.ts';
import { ownerQuery } from '../../support/owner-query.ts';
import {
  ann,
  authorizationRequests,
  back,
  code,
  implicit,
  secret,
  sent,
  startAuthorizationApi,
  verifier,
} from './authorization-requests.ts';
import type { AuthorizationApi } from './authorization-requests.ts';
import { addUser, hiddenFields, newBrowser } from './browser.ts';
import type { Browser } from './browser.ts';

describe('a code', () => {
  let api: AuthorizationApi;
  let browser: Browser;
  const { ask, introspect, newCode, redeem } = authorizationRequests(() => ({ api, browser }));

  before(async () => {
    api = await startAuthorizationApi();
  });
  after(() => api.stop());
  beforeEach(async () => {
    browser = newBrowser(api);
    await browser.submit('/auth/signin', ann);
  });

  it('is redeemed once, with its verifier, for tokens of the person', async () => {
    const parameters = { code: await newCode({ ...code, scope: 'read' }), client_id: 'own', code_verifier: verifier };
    const reply = await redeem(parameters);
    expect(reply.status, reply.text).to.equal(200);
    expect(Object.keys(reply.body)).to.deep.equal(['token_type', 'access_token', 'refresh_token', 'scope']);
    const told = await introspect(textOf(reply, 'access_token'));
    expect(told).to.include({ active: true, client_id: 'own', sub: String(api.user), scope: 'read' });
  });

  it('gives refresh tokens that rotate, to a client without a secret too', async () => {
    const reply = await redeem({ code: await newCode(), client_id: 'own', code_verifier: verifier });
    const refresh = { grant_type: 'refresh_token', client_id: 'own', refresh_token: textOf(reply, 'refresh_token') };
    const next = await redeem(refresh);
    expect(next.status, next.text).to.equal(200);
    expect(textOf(next, 'refresh_token')).not.to.be.oneOf(['', textOf(reply, 'refresh_token')]);
    expect(await introspect(textOf(next, 'access_token'))).to.include({ active: true, sub: String(api.user) });
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
    expect(claims).to.include({ aud: 'https://files.example', sub: String(api.user), client_id: 'settled' });
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

  it('dies with the sign-out, and so do its tokens, also after the same user signed in again', async () => {
    const reply = await redeem({ code: await newCode(), client_id: 'own', code_verifier: verifier });
    const late = await newCode();
    await signInAgain(ann);
    expect(await introspect(textOf(reply, 'access_token'))).to.include({ active: true });
    await browser.submit('/auth/signout', {});
    expect((await redeem({ code: late, client_id: 'own', code_verifier: verifier })).status).to.equal(400);
    for (const name of ['access_token', 'refresh_token']) {
      expect(await introspect(textOf(reply, name)), name).to.deep.equal({ active: false });
    }
  });

  it('dies, and so do its tokens, when somebody else signs in with the same browser', async () => {
    const reply = await redeem({ code: await newCode(), client_id: 'own', code_verifier: verifier });
    const late = await newCode();
    const bob = { email: 'bob@shop.example', password: 'another long passphrase' };
    const id = await addUser(api, bob.email, bob.password);
    await signInAgain(bob);
    expect((await redeem({ code: late, client_id: 'own', code_verifier: verifier })).status).to.equal(400);
    for (const name of ['access_token', 'refresh_token']) {
      expect(await introspect(textOf(reply, name)), name).to.deep.equal({ active: false });
    }
    const own = await redeem({ code: await newCode(), client_id: 'own', code_verifier: verifier });
    expect(await introspect(textOf(own, 'access_token'))).to.include({ active: true, sub: String(id) });
  });

  it('dies with the sign-out, and so do its tokens, where the form of a sign-in was sent twice', async () => {
    const before = await redeem({ code: await newCode(), client_id: 'own', code_verifier: verifier });
    const { location } = await ask({ ...code, prompt: 'login' });
    const form = { ...hiddenFields((await browser.get(location)).text), ...ann };
    const old = new Map(browser.cookies);
    expect((await browser.post(location, form)).status).to.equal(303);
    const lost = await redeem({ code: await newCode(), client_id: 'own', code_verifier: verifier });
    // The browser never got that answer: it still has the old cookie, and sends the form again.
    for (const [name, value] of old) browser.cookies.set(name, value);
    expect((await browser.post(location, form)).status).to.equal(303);
    for (const reply of [before, lost]) {
      expect(await introspect(textOf(reply, 'access_token'))).to.include({ active: true });
    }
    await browser.submit('/auth/signout', {});
    for (const reply of [before, lost]) {
      expect(await introspect(textOf(reply, 'access_token'))).to.deep.equal({ active: false });
      expect(await introspect(textOf(reply, 'refresh_token'))).to.deep.equal({ active: false });
    }
  });

  for (const kept of ['later', 'earlier'] as const) {
    it(`dies with the sign-out where the form was sent twice at once, and the browser kept the ${kept} answer`, async () => {
      const reply = await redeem({ code: await newCode(), client_id: 'own', code_verifier: verifier });
      const { location } = await ask({ ...code, prompt: 'login' });
      const form = { ...hiddenFields((await browser.get(location)).text), ...ann };
      const tabs = [newBrowser(api), newBrowser(api)];
      for (const [name, value] of browser.cookies) for (const tab of tabs) tab.cookies.set(name, value);
      const answers = await Promise.all(tabs.map((tab) => tab.post(location, form)));
      expect(answers.map(({ status }) => status)).to.deep.equal([303, 303]);
      expect(await introspect(textOf(reply, 'access_token'))).to.include({ active: true });
      const pages = await Promise.all(tabs.map((tab) => tab.get('/auth/signin')));
      const later = pages.findIndex(({ text }) => text.includes(`Signed in as ${ann.email}`));
      expect(later).not.to.equal(-1);
      const keeper = tabs[kept === 'later' ? later : 1 - later] ?? expect.fail('no tab');
      if (kept === 'earlier') await keeper.submit('/auth/signin', ann);
      await keeper.submit('/auth/signout', {});
      for (const name of ['access_token', 'refresh_token']) {
        expect(await introspect(textOf(reply, name)), name).to.deep.equal({ active: false });
      }
    });
  }

  it('dies with a sign-out that crosses a sign-in of the same browser', async () => {
    const reply = await redeem({ code: await newCode(), client_id: 'own', code_verifier: verifier });
    const form = hiddenFields((await browser.get('/auth/signout')).text);
    const old = new Map(browser.cookies);
    await signInAgain(ann);
    for (const [name, value] of old) browser.cookies.set(name, value);
    await browser.post('/auth/signout', form);
    expect(await introspect(textOf(reply, 'access_token'))).to.deep.equal({ active: false });
  });

  it('is remembered as long as the sign-in that it was handed on to', async () => {
    await redeem({ code: await newCode(), client_id: 'own', code_verifier: verifier });
    await ownerQuery(api, `UPDATE boxgate.authorization_code SET kept_until = now() + interval '1 second'`, []);
    await signInAgain(ann);
    const kept = await ownerQuery(
      api,
      `SELECT count(*)::int AS answers, bool_and(a.kept_until >= s.expires_at) AS long_enough
         FROM boxgate.sign_in s JOIN boxgate.authorization_code a ON a.box = s.box AND a.browser = s.browser
        WHERE s.created_at = (SELECT max(created_at) FROM boxgate.sign_in)`,
      [],
    );
    expect(kept).to.deep.equal([{ answers: 1, long_enough: true }]);
  });

  async function signInAgain(user: typeof ann): Promise<void> {
    const { location } = await ask({ ...code, prompt: 'login' });
    const { location: next } = await browser.submit(location, user);
    expect(next).to.include('/auth/authorize');
  }
});
