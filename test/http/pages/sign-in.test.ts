import { expect } from 'chai';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { nextMillisecond } from '../../support/eventually.ts';
import { meanwhile } from '../../support/meanwhile.ts';
import { ownerQuery } from '../../support/owner-query.ts';
import { addUser, hiddenFields, issuerOf, newBrowser } from './browser.ts';
import type { Browser } from './browser.ts';

const ann = { email: 'ann@shop.example', password: 'a long enough passphrase' };

describe('the sign-in page', () => {
  let api: TestApi;
  let browser: Browser;

  before(async () => {
    api = await startApi();
    const client = { kind: 'Client', id: 'a', grant_types: ['client_credentials'], secret: 'secret' } as const;
    await api.declare('default', [client]);
    await api.declare('other', [client]);
    await api.declare('safe', [
      {
        kind: 'Box',
        id: 'safe',
        issuer: 'https://id.example.com',
        sign_in: { title: 'The <Shop>', session_lifetime: 60 },
      },
    ]);
    await addUser(api, ann.email, ann.password);
    await addUser(api, 'eve@shop.example', ann.password, 'other');
  });
  after(() => api.stop());
  beforeEach(() => {
    browser = newBrowser(api);
  });

  async function isSignedIn(who: Browser): Promise<boolean> {
    return (await who.get('/auth/signin')).text.includes('Signed in as ann@shop.example');
  }

  it('signs a person in, who then is known by a cookie, and signs out again', async () => {
    const done = await browser.submit('/auth/signin', ann);
    expect([done.status, done.location]).to.deep.equal([303, `${issuerOf('default')}/auth/signin`]);
    expect(await isSignedIn(browser)).to.equal(true);
    const out = await browser.submit('/auth/signout', {});
    expect(out.status).to.equal(200);
    expect(out.text).to.contain('You are signed out');
    expect([...browser.cookies.keys()]).to.deep.equal(['boxgate-device.default']);
    expect(await isSignedIn(browser)).to.equal(false);
  });

  it('links to the console for administrators, and to the account for everybody else', async () => {
    const links = async (): Promise<readonly string[]> =>
      [...(await browser.get('/auth/signin')).text.matchAll(/<a href="([^"]*)">([^<]*)<\/a>/g)].map(
        ([, address = '', label = '']) => `${label}: ${address}`,
      );
    const issuer = issuerOf('default');
    const id = await addUser(api, 'root@shop.example', ann.password);
    const everything = { kind: 'AccessPolicy', id: 'root', engine: 'allow' } as const;
    await api.declare('default', [{ ...everything, link: [{ resourceType: 'User', id: String(id) }] }]);
    await browser.submit('/auth/signin', ann);
    expect(await links()).to.deep.equal([`Open your account: ${issuer}/ui/#/account`]);
    browser = newBrowser(api);
    await browser.submit('/auth/signin', { ...ann, email: 'root@shop.example' });
    expect(await links()).to.deep.equal([`Open the console: ${issuer}/ui/`]);
  });

  it('takes the email in any case, as the box does', async () => {
    await browser.submit('/auth/signin', { ...ann, email: 'ANN@Shop.example' });
    expect(await isSignedIn(browser)).to.equal(true);
  });

  it('A-10 gives a new cookie at the sign-in, and the old one stands for nobody', async () => {
    await browser.get('/auth/signin');
    const before = new Map(browser.cookies);
    await browser.submit('/auth/signin', ann);
    expect([...browser.cookies.values()]).not.to.deep.equal([...before.values()]);
    const fixed = newBrowser(api);
    for (const [name, value] of before) fixed.cookies.set(name, value);
    expect(await isSignedIn(fixed)).to.equal(false);
  });

  it('ends the sign-in before, when somebody signs in again in the same browser', async () => {
    await browser.submit('/auth/signin', ann);
    const before = newBrowser(api);
    for (const [name, value] of browser.cookies) before.cookies.set(name, value);
    await browser.post('/auth/signin', { ...hiddenFields((await browser.get('/auth/signout')).text), ...ann });
    expect(await isSignedIn(browser)).to.equal(true);
    expect(await isSignedIn(before)).to.equal(false);
  });

  it('A-07 has a cookie that no script reads and no other site sends', async () => {
    const { headers } = await browser.get('/auth/signin');
    expect(headers.get('set-cookie')).to.match(/^boxgate-default=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    const safe = await newBrowser(api, 'safe').get('/auth/signin');
    expect(safe.headers.get('set-cookie')).to.match(
      /^__Host-boxgate-safe=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
  });

  const forgeries: readonly [what: string, headers: Record<string, string>, over: (token: string) => object][] = [
    ['without its token', {}, () => ({ form_token: '' })],
    ['with the token of another browser', {}, () => ({ form_token: 'A'.repeat(43) })],
    ['sent by another site', { 'Sec-Fetch-Site': 'cross-site' }, () => ({})],
    ['sent by a neighbour of the same site', { 'Sec-Fetch-Site': 'same-site' }, () => ({})],
    ['without a cookie', { Cookie: '' }, () => ({})],
  ];
  for (const [what, headers, over] of forgeries) {
    it(`A-07 refuses a form ${what}`, async () => {
      const token = hiddenFields((await browser.get('/auth/signin')).text)['form_token'] ?? '';
      if (headers['Cookie'] === '') browser.cookies.clear();
      const { Cookie: _, ...others } = headers;
      const { status, text } = await browser.post(
        '/auth/signin',
        { form_token: token, ...ann, ...over(token) },
        others,
      );
      expect(status).to.equal(403);
      expect(text).to.contain('This form has expired');
      expect(await isSignedIn(browser)).to.equal(false);
    });
  }

  it('keeps somebody signed in as long as the box says', async () => {
    await addUser(api, ann.email, ann.password, 'safe');
    const safe = newBrowser(api, 'safe');
    const { headers } = await safe.submit('/auth/signin', ann);
    expect(headers.getSetCookie()[0]).to.match(/; Max-Age=60$/);
    expect(headers.getSetCookie()[1]).to.match(/^__Host-boxgate-device\.safe=.*; Secure; Max-Age=2592000$/);
    expect(await isSignedIn(safe)).to.equal(true);
    user = ann.email;
    await sql(`UPDATE boxgate.sign_in s SET expires_at = s.created_at FROM boxgate.user u
                WHERE u.box = 'safe' AND s.box = u.box AND s.user_id = u.id AND u.email = $1`);
    expect(await isSignedIn(safe)).to.equal(false);
  });

  it('keeps somebody signed in for twelve hours where the box says nothing', async () => {
    const { headers } = await browser.submit('/auth/signin', ann);
    expect(headers.getSetCookie()[0]).to.match(/^boxgate-default=.*; Max-Age=43200$/);
    user = ann.email;
    const lifetime = `SELECT extract(epoch FROM max(s.expires_at - s.created_at))::int AS seconds
                        FROM boxgate.sign_in s JOIN boxgate.user u ON u.box = s.box AND u.id = s.user_id
                       WHERE u.box = 'default' AND u.email = $1`;
    expect(await sql(lifetime)).to.deep.equal([{ seconds: 43_200 }]);
  });

  it('keeps nobody signed in past the time before which the box revoked everything', async () => {
    await browser.submit('/auth/signin', ann);
    await nextMillisecond();
    const before = new Date().toISOString();
    await api.declare('default', [{ kind: 'Box', id: 'default', revoke_sessions_before: before }]);
    expect(await isSignedIn(browser)).to.equal(false);
    await browser.submit('/auth/signin', ann);
    expect(await isSignedIn(browser)).to.equal(true);
  });

  it('signs nobody in whose account is deleted while the password is verified', async () => {
    const gone = await addUser(api, 'gone@shop.example', ann.password);
    const form = { ...hiddenFields((await browser.get('/auth/signin')).text), ...ann, email: 'gone@shop.example' };
    const deletion = ['DELETE FROM boxgate.user WHERE box = $1 AND id = $2', ['default', gone]] as const;
    const answer = await meanwhile(api, [deletion], () => browser.post('/auth/signin', form));
    expect(answer.text).to.contain('Wrong email or password');
    expect((await browser.get('/auth/signin')).text).not.to.contain('Signed in');
  });

  it('signs nobody in at a box that is switched off, and says so', async () => {
    await api.declare('shut', [{ kind: 'Box', id: 'shut' }]);
    await addUser(api, ann.email, ann.password, 'shut');
    const visitor = newBrowser(api, 'shut');
    const form = { ...hiddenFields((await visitor.get('/auth/signin')).text), ...ann };
    await api.declare('shut', [{ kind: 'Box', id: 'shut', active: false }]);
    for (const answer of [await visitor.post('/auth/signin', form), await visitor.get('/auth/signin')]) {
      expect(answer.status).to.equal(400);
      expect(answer.text).to.contain('Nobody can sign in here at present');
    }
    await api.declare('shut', [{ kind: 'Box', id: 'shut' }]);
    expect((await visitor.get('/auth/signin')).text).not.to.contain('Signed in');
  });

  it('A-11 answers a wrong password and an unknown account alike', async () => {
    const texts: string[] = [];
    for (const email of [ann.email, 'bob@shop.example', 'eve@shop.example', 'no email']) {
      const { status, text, headers } = await browser.submit('/auth/signin', { email, password: 'wrong passphrase' });
      expect(status).to.equal(200);
      expect(headers.has('set-cookie')).to.equal(false);
      texts.push(text.replaceAll(email, 'EMAIL'));
    }
    expect(new Set(texts).size).to.equal(1);
    expect(texts[0]).to.contain('Wrong email or password');
  });

  it('X-16 holds back an address that fails too often at an account, and nobody else', async () => {
    const email = 'carl@shop.example';
    await addUser(api, email, ann.password);
    const statuses: number[] = [];
    for (let tries = 0; tries < 21; tries += 1) {
      statuses.push((await browser.submit('/auth/signin', { email, password: 'wrong passphrase' })).status);
    }
    expect(statuses).to.deep.equal([...Array.from({ length: 20 }, () => 200), 429]);
    const held = await browser.submit('/auth/signin', { email: 'CARL@shop.example', password: ann.password });
    expect(held.status).to.equal(429);
    expect(Number(held.headers.get('retry-after'))).to.be.within(1, 60);
    expect(held.text).to.contain('too many attempts');
    expect((await browser.submit('/auth/signin', ann)).status).to.equal(303);
  });

  it('A-12 shows what was typed as text, whatever it is', async () => {
    const email = '"><script>alert(1)</script>\'`&amp;';
    const { text } = await browser.submit('/auth/signin', { email, password: 'x' });
    expect(text).not.to.contain('<script');
    expect(text).to.contain('value="&#34;&#62;&#60;script&#62;alert(1)&#60;/script&#62;&#39;&#96;&#38;amp;"');
    expect((await newBrowser(api, 'safe').get('/auth/signin')).text).to.contain('The &#60;Shop&#62;');
  });

  it('A-09 may not be framed, load anything, be kept or told of', async () => {
    const { headers } = await browser.get('/auth/signin');
    expect(headers.get('content-security-policy')).to.match(
      /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; base-uri 'none'; frame-ancestors 'none'; img-src data:; form-action 'self' http:\/\/boxgate\.test$/,
    );
    expect(headers.get('x-frame-options')).to.equal('DENY');
    expect(headers.get('cache-control')).to.equal('no-store');
    expect(headers.get('referrer-policy')).to.equal('no-referrer');
    expect(headers.get('content-type')).to.equal('text/html; charset=utf-8');
  });

  it('has fields that password managers fill in, and no script that hinders pasting', async () => {
    const { text } = await browser.get('/auth/signin');
    expect(text).to.match(/<input[^>]*autocomplete="username"/);
    expect(text).to.match(/<input[^>]*type="password"[^>]*autocomplete="current-password"/);
    expect(text).not.to.match(/<script| on\w+=|maxlength/i);
  });

  it('speaks the language of the browser', async () => {
    const german = await browser.get('/auth/signin', { 'Accept-Language': 'fr, de-AT;q=0.9, en;q=0.8' });
    expect(german.headers.get('content-language')).to.equal('de');
    expect(german.text).to.contain('<html lang="de">').and.to.contain('Anmelden');
    expect((await browser.get('/auth/signin', { 'Accept-Language': 'fr' })).text).to.contain('<html lang="en">');
  });

  it('keeps people of boxes apart', async () => {
    await browser.submit('/auth/signin', ann);
    const other = newBrowser(api, 'other');
    for (const value of browser.cookies.values()) other.cookies.set('boxgate-other', value);
    expect(await isSignedIn(other)).to.equal(false);
    expect((await other.submit('/auth/signin', ann)).text).to.contain('Wrong email or password');
  });

  const ends: readonly [what: string, end: () => Promise<unknown>][] = [
    ['is inactive', () => sql(`UPDATE boxgate.user SET status = 'inactive' WHERE email = $1`)],
    ['has ended what was begun', () => sql(`UPDATE boxgate.user SET sessions_from = 9e15::bigint WHERE email = $1`)],
    ['is gone', () => sql(`DELETE FROM boxgate.user WHERE email = $1`)],
  ];
  for (const [what, end] of ends) {
    it(`counts no more for a person who ${what}`, async () => {
      const email = `${what.replaceAll(' ', '-')}@shop.example`;
      await addUser(api, email, ann.password);
      await browser.submit('/auth/signin', { ...ann, email });
      expect((await browser.get('/auth/signin')).text).to.contain(email);
      user = email;
      await end();
      expect((await browser.get('/auth/signin')).text).to.contain('name="password"');
    });
  }

  let user = '';
  const sql = (statement: string): Promise<readonly unknown[]> => ownerQuery(api, statement, [user]);

  it('says in HTML that a method is not taken', async () => {
    const response = await fetch(`${api.url}/boxes/default/auth/signin`, { method: 'PUT' });
    expect(response.status).to.equal(405);
    expect(response.headers.get('allow')).to.equal('GET, POST, HEAD');
    expect(await response.text()).to.contain('<h1>Something went wrong</h1>');
  });

  it('takes a password as it is typed, up to the size of a form', async () => {
    const password = `  ${'ü'.repeat(2000)} `;
    await addUser(api, 'long@shop.example', password);
    const form = { email: 'long@shop.example', password };
    expect((await browser.submit('/auth/signin', { ...form, password: password.trim() })).status).to.equal(200);
    expect((await browser.submit('/auth/signin', form)).status).to.equal(303);
    expect((await browser.submit('/auth/signin', { ...form, password: 'x'.repeat(70_000) })).status).to.equal(413);
  });
});
