import { expect } from 'chai';
import { SignJWT, generateKeyPair } from 'jose';
import { hiddenFields, newBrowser } from '../../http/pages/browser.ts';
import type { Answer, Browser } from '../../http/pages/browser.ts';
import { startApi } from '../../support/api.ts';
import { ownerQuery } from '../../support/owner-query.ts';
import { claimsOf, textOf } from '../requests.ts';
import type { Fields } from '../requests.ts';
import { ann, answered, authorizePath, codeRequest, goodbye, issuer, startOpenIdApi } from './openid-api.ts';
import type { OpenIdApi } from './openid-api.ts';

describe('a logout request', () => {
  let api: OpenIdApi;
  let browser: Browser;
  let hint = '';

  before(async () => {
    api = await startOpenIdApi();
    hint = textOf(await api.tokens(), 'id_token');
  });
  after(() => api.stop());
  beforeEach(async () => {
    browser = await api.signedIn();
  });

  function logout(parameters: Fields, by = browser): Promise<Answer> {
    return by.get(authorizePath(parameters).replace('/auth/authorize', '/auth/logout'));
  }

  async function isSignedIn(by = browser): Promise<boolean> {
    const answer = await by.get(authorizePath({ ...codeRequest, prompt: 'none' }));
    const { error, code } = answered(answer);
    expect(error ?? code).to.match(/^(login_required|bgc_.*)$/);
    return code !== undefined;
  }

  it('signs out whom the id_token is about, and sends them to where the app says', async () => {
    const tokens = await api.redeem(await browser.get(authorizePath(codeRequest)));
    const post_logout_redirect_uri = goodbye;
    const answer = await logout({ id_token_hint: hint, post_logout_redirect_uri, state: 'a&b=c #ü' });
    expect([answer.status, answer.location]).to.deep.equal([303, `${goodbye}?state=a%26b%3Dc%20%23%C3%BC`]);
    expect(answer.headers.get('set-cookie')).to.contain('Max-Age=0');
    expect(await isSignedIn()).to.equal(false);
    const headers = { Authorization: `Bearer ${textOf(tokens, 'access_token')}` };
    expect((await api.get('/auth/userinfo', headers)).status).to.equal(401);
  });

  it('leads to an address with a query of its own, and without a state to the bare one', async () => {
    const id_token_hint = hint;
    const own = await logout({ id_token_hint, post_logout_redirect_uri: `${goodbye}?a=b`, state: 's' });
    expect(own.location).to.equal(`${goodbye}?a=b&state=s`);
    const again = await api.signedIn();
    expect((await logout({ id_token_hint, post_logout_redirect_uri: goodbye }, again)).location).to.equal(goodbye);
  });

  it('that says where to go no further ends at a page of ours', async () => {
    const answer = await logout({ id_token_hint: hint, state: 's' });
    expect([answer.status, answer.location]).to.deep.equal([200, '']);
    expect(answer.text).to.contain('You are signed out');
    expect(await isSignedIn()).to.equal(false);
  });

  for (const [what, parameters] of [
    ['nothing', {}],
    ['a state only', { state: 's' }],
    ['a client and its address', { client_id: 'own', post_logout_redirect_uri: goodbye, state: 's' }],
  ] as const) {
    it(`with ${what} asks the person first`, async () => {
      const page = await logout(parameters);
      expect(page.text).to.contain('Do you want to sign out in this browser?');
      expect(await isSignedIn()).to.equal(true);
      const address = authorizePath(parameters).replace('/auth/authorize', '/auth/logout');
      const answer = await browser.submit(address, {});
      if ('client_id' in parameters)
        expect([answer.status, answer.location]).to.deep.equal([303, `${goodbye}?state=s`]);
      else expect(answer.text).to.contain('You are signed out');
      expect(await isSignedIn()).to.equal(false);
    });
  }

  it('about somebody else asks the person who is there', async () => {
    const other = await api.signedIn(api.eve);
    const page = await logout({ id_token_hint: hint, post_logout_redirect_uri: goodbye }, other);
    expect(page.text).to.contain(api.eve.email).and.to.contain('Do you want to sign out');
    expect(await isSignedIn(other)).to.equal(true);
  });

  it('of somebody who is signed out already leads on', async () => {
    await logout({ id_token_hint: hint });
    expect((await logout({ id_token_hint: hint, post_logout_redirect_uri: goodbye })).location).to.equal(goodbye);
  });

  it('R-11 in a form is answered at once, and no address holds the id_token', async () => {
    const fields = { id_token_hint: hint, post_logout_redirect_uri: goodbye, state: 's' };
    const posted = await browser.post('/auth/logout', fields, { 'Sec-Fetch-Site': 'same-site' });
    expect([posted.status, posted.location]).to.deep.equal([303, `${goodbye}?state=s`]);
    expect(await isSignedIn()).to.equal(false);
  });

  it('R-11 in a form of another site, which brings no cookie, is posted once more by a page of ours', async () => {
    const fields = { id_token_hint: hint, post_logout_redirect_uri: goodbye, state: '"><b>ü', extra: 'x' };
    const page = await newBrowser(api).post('/auth/logout', fields, { 'Sec-Fetch-Site': 'cross-site' });
    expect([page.status, page.location]).to.deep.equal([200, '']);
    expect(page.headers.get('content-security-policy')).to.contain("default-src 'none'").and.to.contain('script-src');
    expect(addressesIn(page)).to.deep.equal([`${issuer}/auth/logout`]);
    const again = hiddenFields(page.text);
    const { extra: _, ...known } = fields;
    expect(again).to.include(known).and.not.to.have.property('extra');
    const answer = await browser.post('/auth/logout', again, { 'Sec-Fetch-Site': 'same-origin' });
    expect([answer.status, answer.location]).to.deep.equal([303, `${goodbye}?state=%22%3E%3Cb%3E%C3%BC`]);
    expect(await isSignedIn()).to.equal(false);
    const stranger = await newBrowser(api).post('/auth/logout', again);
    expect([stranger.status, stranger.location]).to.deep.equal([303, answer.location]);
  });

  it('R-11 is asked about with a form whose address holds no id_token', async () => {
    const fields = { id_token_hint: hint, post_logout_redirect_uri: goodbye, state: 's' };
    for (const ask of [
      (by: Browser) => logout(fields, by),
      (by: Browser) => by.post('/auth/logout', fields, { 'Sec-Fetch-Site': 'same-site' }),
    ]) {
      const other = await api.signedIn(api.eve);
      const page = await ask(other);
      expect(page.text).to.contain('Do you want to sign out').and.not.to.contain(hint);
      const query = new URLSearchParams({ client_id: 'own', post_logout_redirect_uri: goodbye, state: 's' });
      const action = `${issuer}/auth/signout?${query.toString()}`;
      expect(addressesIn(page)).to.deep.equal([action]);
      const answer = await other.post(action, hiddenFields(page.text));
      expect([answer.status, answer.location]).to.deep.equal([303, `${goodbye}?state=s`]);
      expect(await isSignedIn(other)).to.equal(false);
    }
  });

  it('R-11 in a form that is broken or not of its app is a page, and signs nobody out', async () => {
    const good = { id_token_hint: hint, post_logout_redirect_uri: goodbye };
    for (const over of [{ id_token_hint: 'x' }, { client_id: 'foreign' }]) {
      const answer = await browser.post('/auth/logout', { ...good, ...over });
      expect([answer.status, answer.location], JSON.stringify(over)).to.deep.equal([400, '']);
    }
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    for (const body of ['state=%ff', 'state=a&state=b', 'id_token_hint=%00', Buffer.from('state=\xff', 'latin1')]) {
      const answer = await fetch(`${api.url}/boxes/default/auth/logout`, { method: 'POST', headers, body });
      expect(answer.status, String(body)).to.equal(400);
    }
    expect(await isSignedIn()).to.equal(true);
  });

  it('A-01 that is not of its app is a page, and signs nobody out', async () => {
    const [head = '', claims = ''] = hint.split('.');
    const unsigned = `${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${claims}.`;
    const good = { id_token_hint: hint, post_logout_redirect_uri: goodbye };
    for (const parameters of [
      { ...good, id_token_hint: unsigned },
      { ...good, id_token_hint: `${head}.${claims}.AAAA` },
      { ...good, id_token_hint: 'x' },
      { ...good, client_id: 'foreign' },
      { ...good, id_token_hint: 'x', post_logout_redirect_uri: `${goodbye}/` },
    ]) {
      const answer = await logout(parameters);
      expect([answer.status, answer.location], JSON.stringify(parameters)).to.deep.equal([400, '']);
      expect(answer.text).to.contain('Nobody was signed out, and no address of an app was called');
      expect(addressesIn(answer)).to.deep.equal(['signout']);
    }
    for (const query of ['state=%ff', 'state=a&state=b', 'id_token_hint=%00']) {
      expect((await browser.get(`/auth/logout?${query}`)).status, query).to.equal(400);
    }
    expect(await isSignedIn()).to.equal(true);
  });

  for (const [what, over] of [
    ['without a client', { id_token_hint: undefined }],
    ['for a client that does not exist', { id_token_hint: undefined, client_id: 'nobody' }],
    ['for a client that does not list the address', { id_token_hint: undefined, client_id: 'foreign' }],
    ['to an address with a query added', { post_logout_redirect_uri: `${goodbye}?foo=bar` }],
    ['to an address with a slash added', { post_logout_redirect_uri: `${goodbye}/` }],
    ['to a script', { post_logout_redirect_uri: 'javascript:alert(1)' }],
  ] as const) {
    it(`A-01 ${what} asks the person, and redirects nowhere`, async () => {
      const all = { id_token_hint: hint, post_logout_redirect_uri: goodbye, state: 's', ...over };
      for (const ask of [
        (by: Browser) => logout(all, by),
        (by: Browser) => by.post('/auth/logout', defined(all), { 'Sec-Fetch-Site': 'same-site' }),
      ]) {
        const other = await api.signedIn();
        const page = await ask(other);
        expect([page.status, page.location]).to.deep.equal([200, '']);
        // E-32: it was shown as an ordinary question.
        expect(page.text).to.contain('The request of the app that sent you here is wrong');
        expect(page.text).to.contain('was not called');
        expect(page.text).to.contain('Do you want to sign out in this browser?');
        expect(addressesIn(page)).to.deep.equal([`${issuer}/auth/signout`]);
        expect(await isSignedIn(other)).to.equal(true);
        const answer = await other.post(`${issuer}/auth/signout`, hiddenFields(page.text));
        expect([answer.status, answer.location]).to.deep.equal([200, '']);
        expect(answer.text).to.contain('You are signed out');
        expect(await isSignedIn(other)).to.equal(false);
      }
      const nobody = await logout(all, newBrowser(api));
      expect([nobody.status, nobody.location]).to.deep.equal([200, '']);
      expect(nobody.text).to.contain('The request of the app that sent you here is wrong');
    });
  }

  describe('whose id_token was signed by a key that is gone', () => {
    let stale = '';
    before(async () => {
      stale = await signed();
    });

    /** As this box made them before it deleted the key. */
    async function signed(over: object = {}, header: object = {}): Promise<string> {
      const { privateKey } = await generateKeyPair('RS256');
      const claims = { ...claimsOf(hint), ...over };
      return new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: 'gone', ...header })
        .sign(privateKey);
    }

    const addresses: readonly [what: string, parameters: Fields, location: string][] = [
      ['leads nowhere without a client', {}, ''],
      ['leads to an address that the client lists', { client_id: 'own' }, `${goodbye}?state=s`],
      ['leads nowhere when another client is named', { client_id: 'foreign' }, ''],
      ['leads nowhere when nobody is named', { client_id: 'nobody' }, ''],
      ['leads to no address that is not listed', { client_id: 'own', post_logout_redirect_uri: `${goodbye}/` }, ''],
    ];
    for (const [what, parameters, location] of addresses) {
      it(`asks the person, and ${what}`, async () => {
        const all = { id_token_hint: stale, post_logout_redirect_uri: goodbye, state: 's', ...parameters };
        const page = await logout(all);
        expect([page.status, page.location]).to.deep.equal([200, '']);
        expect(page.text).to.contain('Do you want to sign out in this browser?');
        expect(await isSignedIn()).to.equal(true);
        const path = authorizePath(all).replace('/auth/authorize', '/auth/logout');
        const answer = await browser.submit(path, {});
        expect([answer.status, answer.location]).to.deep.equal([location === '' ? 200 : 303, location]);
        expect(await isSignedIn()).to.equal(false);
      });
    }

    it('is so on a replica that no longer has the key', async () => {
      await ownerQuery(api, 'DELETE FROM boxgate.signing_key', []);
      const replica = await startApi({ database: api.database });
      try {
        const other = newBrowser(replica);
        await other.submit('/auth/signin', { ...ann });
        expect((await logout({ id_token_hint: hint }, other)).text).to.contain('Do you want to sign out');
      } finally {
        await replica.stop();
      }
    });

    it('and which is not even ours by its own word is refused', async () => {
      for (const id_token_hint of [
        await signed({ iss: 'https://other.example' }),
        await signed({ sub: 'ann' }),
        await signed({ aud: ['own', 'foreign'] }),
        await signed({}, { typ: 'at+jwt' }),
        `${Buffer.from('{"alg":"none","typ":"JWT","kid":"gone"}').toString('base64url')}.${stale.split('.')[1] ?? ''}.`,
        `${Buffer.from('{"alg":"HS256","typ":"JWT","kid":"gone"}').toString('base64url')}.${stale.split('.')[1] ?? ''}.AAAA`,
      ]) {
        expect((await logout({ id_token_hint })).status, id_token_hint).to.equal(400);
      }
      expect(await isSignedIn()).to.equal(true);
    });
  });

  it('A-07 the button of its page counts in no other browser', async () => {
    expect((await browser.post('/auth/signout?state=s', { form_token: 'x' })).status).to.equal(403);
    expect(await isSignedIn()).to.equal(true);
  });
});

/** Returns the fields that have a value. */
function defined(fields: Fields): Record<string, string> {
  const pairs = Object.entries(fields);
  return Object.fromEntries(pairs.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

/** The addresses that a page leads to: of its forms, links and pictures. */
function addressesIn({ text }: Answer): readonly string[] {
  // The mark and the icon of the page are in the page itself.
  const found = [...text.matchAll(/ (?:action|href|src)="(?!data:)([^"]*)"/g)];
  return found.map(([, address = '']) =>
    address.replace(/&#(\d+);/g, (_, sign: string) => String.fromCodePoint(Number(sign))),
  );
}
