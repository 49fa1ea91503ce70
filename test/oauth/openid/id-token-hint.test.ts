import { expect } from 'chai';
import { SignJWT, generateKeyPair } from 'jose';
import { createUserHints } from '../../../api/credentials/user-hint.ts';
import { hiddenFields, newBrowser } from '../../http/pages/browser.ts';
import type { Answer, Browser } from '../../http/pages/browser.ts';
import { testEncryptionKey } from '../../support/api.ts';
import { ownerQuery } from '../../support/owner-query.ts';
import { claimsOf, textOf } from '../requests.ts';
import type { Fields } from '../requests.ts';
import { ann, answered, authorizePath, codeRequest, startOpenIdApi } from './openid-api.ts';
import type { OpenIdApi } from './openid-api.ts';

describe('an id_token_hint', () => {
  let api: OpenIdApi;
  let hint = '';

  before(async () => {
    api = await startOpenIdApi({ registration: { enabled: true } });
    hint = textOf(await api.tokens(), 'id_token');
  });
  after(() => api.stop());

  const asked = (over: Readonly<Record<string, string>> = {}) => ({ ...codeRequest, id_token_hint: hint, ...over });
  const ways: Readonly<Record<string, (by: Browser, fields: Readonly<Record<string, string>>) => Promise<Answer>>> = {
    'a GET': (by, fields) => by.get(authorizePath(fields)),
    'a form': async (by, fields) => {
      const posted = await by.post('/auth/authorize', fields, { 'Sec-Fetch-Site': 'cross-site' });
      expect(posted.status).to.equal(303);
      expect(posted.location).to.contain('/auth/authorize?');
      expectNoIdToken(posted);
      return by.get(posted.location);
    },
  };

  /** Neither the answer nor an address in it holds an id_token, as it is or encoded. */
  function expectNoIdToken({ location, text }: Answer): void {
    for (const part of [location, text]) {
      expect(part).not.to.contain(hint.slice(0, 20));
      expect(part).not.to.match(/id_?token_?hint=/i);
    }
  }

  for (const [way, ask] of Object.entries(ways)) {
    it(`R-11 of ${way} is in no address after it, through sign-in and back, and stays in force`, async () => {
      for (const [person, outcome] of [
        [ann, 'code'],
        [api.eve, 'login_required'],
      ] as const) {
        const browser = newBrowser(api);
        const toSignIn = await ask(browser, asked({ state: 'a b+c%ü' }));
        expect(toSignIn.location).to.contain('/auth/signin?');
        const page = await browser.get(toSignIn.location);
        expect(page.text).to.contain('/auth/signup?');
        const signedIn = await browser.submit(toSignIn.location, { ...person });
        expect(signedIn.location).to.contain('/auth/authorize?');
        const answer = await browser.get(signedIn.location);
        for (const one of [toSignIn, page, signedIn, answer]) expectNoIdToken(one);
        const { code, error = code && 'code', state } = answered(answer);
        expect([error, state]).to.deep.equal([outcome, 'a b+c%ü']);
      }
    });

    it(`R-11 of ${way} is in force for who is signed in, without a page too`, async () => {
      for (const prompt of [{}, { prompt: 'none' }]) {
        expect(answered(await ask(await api.signedIn(), asked(prompt)))).to.have.property('code');
        expect(answered(await ask(await api.signedIn(api.eve), asked(prompt)))['error']).to.equal('login_required');
      }
    });

    it(`R-11 of ${way} that is none is told to the client before anybody signs in`, async () => {
      for (const id_token_hint of ['x', 'ey.no.jwt', `${hint}x`, 'x'.repeat(9_000)]) {
        const { error, error_description } = answered(await ask(newBrowser(api), asked({ id_token_hint })));
        expect([error, error_description]).to.deep.equal([
          'invalid_request',
          'id_token_hint must be an id_token of this client',
        ]);
      }
    });

    it(`R-11 of ${way} whose key the box has deleted is ignored if somebody can sign in, and not in an address after it`, async () => {
      const { privateKey } = await generateKeyPair('RS256');
      const header = { alg: 'RS256', typ: 'JWT', kid: 'gone' };
      const stale = await new SignJWT({ ...claimsOf(hint) }).setProtectedHeader(header).sign(privateKey);
      const fields = asked({ id_token_hint: stale });
      for (const person of [ann, api.eve]) {
        expect(answered(await ask(await api.signedIn(person), fields))).to.have.property('code');
        const browser = newBrowser(api);
        const toSignIn = await ask(browser, fields);
        expect(toSignIn.location).to.contain('/auth/signin?').and.not.to.contain(stale.slice(0, 20));
        const signedIn = await browser.submit(toSignIn.location, { ...person });
        expect(answered(await browser.get(signedIn.location))).to.have.property('code');
      }
      for (const browser of [newBrowser(api), await api.signedIn()]) {
        expect(answered(await ask(browser, { ...fields, prompt: 'none' }))['error']).to.equal('login_required');
      }
    });

    it(`R-11 of ${way} is not stored with a request that waits for consent`, async () => {
      const browser = await api.signedIn();
      const foreign = await tokensOfForeign(browser);
      const toConsent = await ask(browser, asked({ client_id: 'foreign', id_token_hint: foreign, prompt: 'consent' }));
      expect(toConsent.location).to.contain('/auth/consent?id=');
      const rows = await ownerQuery(api, 'SELECT query FROM boxgate.consent_request', []);
      expect(rows).not.to.be.empty;
      expect(JSON.stringify(rows))
        .not.to.contain(foreign.slice(0, 20))
        .and.not.to.match(/id_token_hint/);
      const answer = await browser.submit(toConsent.location, { answer: 'allow' });
      expect(answered(answer)).to.have.property('code');
    });
  }

  async function tokensOfForeign(browser: Browser): Promise<string> {
    const page = await browser.get(authorizePath({ ...codeRequest, client_id: 'foreign' }));
    const answer = page.location.includes('/auth/consent')
      ? await browser.submit(page.location, { answer: 'allow' })
      : page;
    return textOf(await api.redeem(answer, { client_id: 'foreign' }), 'id_token');
  }

  it('R-11 in an address of the sign-in or sign-up page, as an older replica makes it, goes no further', async () => {
    for (const place of ['/auth/signin', '/auth/signup']) {
      const browser = newBrowser(api);
      const address = authorizePath(asked()).replace('/auth/authorize', place);
      expectNoIdToken(await browser.get(address));
      const person = place === '/auth/signin' ? { ...api.eve } : { ...ann, email: 'new@shop.example' };
      const signedIn = await browser.submit(address, person);
      expectNoIdToken(signedIn);
      expect(answered(await browser.get(signedIn.location))['error']).to.equal('login_required');
    }
  });

  it('R-11 in a broken request is refused as without it, and not repeated', async () => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const query = authorizePath(codeRequest).split('?', 2)[1] ?? '';
    for (const broken of ['state=%ff', 'state=a&state=b', 'state=%00']) {
      const body = `${query}&${broken}&id%5Ftoken_hint=${hint}`;
      const address = `${api.url}/boxes/default/auth/authorize`;
      const posted = await fetch(address, { method: 'POST', headers, body, redirect: 'manual' });
      const location = posted.headers.get('location') ?? '';
      expect(location).to.contain(broken).and.not.to.contain(hint.slice(0, 20));
      expect((await newBrowser(api).get(location)).status, broken).to.equal(400);
    }
    const twice = await newBrowser(api).post('/auth/authorize', asked());
    const doubled = await newBrowser(api).get(`${twice.location}&id_token_hint=${hint}&id_token_hint=${hint}`);
    expect(answered(doubled)['error']).to.equal('invalid_request');
    const empty = await newBrowser(api).get(authorizePath(asked({ id_token_hint: '' })));
    expect(empty.location).to.contain('/auth/signin?').and.not.to.contain('user_hint');
  });

  it('R-11 cannot be replaced by a user ID: what Boxgate did not make tells nobody who exists or is signed in', async () => {
    const key = Buffer.from(testEncryptionKey, 'base64');
    const made = (user: number, over = {}) =>
      createUserHints([key]).make({ box: 'default', client: 'own', user, ...over });
    const [right, other] = [made(api.user), made(api.user + 1)];
    const forged = [
      String(api.user),
      '999999',
      `${String(api.user)}.`,
      `${String(api.user)}.${other.split('.')[1] ?? ''}`,
      `${right}x`,
      made(api.user, { client: 'foreign' }),
      made(api.user, { box: 'other' }),
      'unreadable',
    ];
    const ask = async (by: Browser, fields: Fields) =>
      answered(await by.get(authorizePath({ ...codeRequest, ...fields })));
    for (const boxgate_user_hint of forged) {
      for (const browser of [newBrowser(api), await api.signedIn(), await api.signedIn(api.eve)]) {
        const answer = await ask(browser, { boxgate_user_hint, prompt: 'none' });
        expect(answer['error'], boxgate_user_hint).to.equal('invalid_request');
      }
    }
    expect(await ask(await api.signedIn(), { boxgate_user_hint: right, prompt: 'none' })).to.have.property('code');
    const page = await newBrowser(api).get(
      authorizePath({ ...codeRequest, boxgate_user_hint: right }).replace('/authorize', '/signin'),
    );
    expect(page.text).not.to.contain(ann.email);
    expect(hiddenFields(page.text)).to.have.all.keys('form_token');
  });
});
