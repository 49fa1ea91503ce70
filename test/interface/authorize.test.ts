import { expect } from 'chai';
import { newBrowser } from '../http/pages/browser.ts';
import type { Answer as Page, Browser } from '../http/pages/browser.ts';
import type { DeclaredResource } from '../support/api.ts';
import { send, textIn } from './as-written.ts';
import { describeInterface } from './server-under-test.ts';

const redirectUri = 'https://app.example/back?from=sign-in';

const declared: readonly DeclaredResource[] = [
  { kind: 'Box', id: 'default', registration: { enabled: true } },
  {
    kind: 'Client',
    id: 'web-app',
    name: 'The Shop',
    grant_types: ['implicit'],
    auth: { implicit: { redirect_uri: redirectUri } },
  },
  { kind: 'AccessPolicy', id: 'web-app', engine: 'allow', link: [{ id: 'web-app', resourceType: 'Client' }] },
];

const password = 'a long enough passphrase';

describeInterface('the implicit grant', declared, (baseUrl) => {
  let browser: Browser;
  let nth = 0;
  beforeEach(async () => {
    const metadata = await send(baseUrl(), 'GET {base_url}/.well-known/oauth-authorization-server');
    browser = newBrowser({ url: baseUrl().replace(/\/boxes\/default$/, '') }, 'default', textIn(metadata, 'issuer'));
  });

  const authorize = (more: Readonly<Record<string, string>> = {}): Promise<Page> => {
    const query = { response_type: 'token', client_id: 'web-app', redirect_uri: redirectUri, ...more };
    return browser.get(`/auth/authorize?${new URLSearchParams(query).toString()}`);
  };
  const fragmentOf = ({ location }: Page): URLSearchParams => new URLSearchParams(location.split('#')[1]);

  /** A new person, who signs up where the request has led. */
  function signUp({ location }: Page): Promise<Page> {
    nth += 1;
    const address = location.replace('/auth/signin?', '/auth/signup?');
    return browser.submit(address, { email: `user-${String(nth)}@mail.example`, password });
  }

  /** Grants the client what it asks for, on the page that follows. */
  async function grant(signedIn: Page): Promise<Page> {
    const asked = await browser.get(signedIn.location);
    return browser.submit(asked.location, { answer: 'allow' });
  }

  it('1. the resource owner is sent to a page to sign in, or to sign up, then asked to grant access to the client', async () => {
    const sent = await authorize({ state: 'xyz', scope: 'profile' });
    expect([302, 303]).to.include(sent.status);
    const page = await browser.get(sent.location);
    expect([page.status, /<input[^>]* type="password"/.test(page.text)]).to.deep.equal([200, true]);
    expect(page.text).to.match(/href="[^"]*\/auth\/signup\?/);
    const asked = await browser.get((await signUp(sent)).location);
    const consent = await browser.get(asked.location);
    expect([consent.status, consent.text.includes('The Shop')]).to.deep.equal([200, true]);
  });

  it('2. 302 Found: the redirect_uri of the client configuration, then #access_token=<ACCESS_TOKEN>&state=<state>', async () => {
    const answer = await grant(await signUp(await authorize({ state: 'xyz', scope: 'profile' })));
    expect(answer.status).to.equal(302);
    const [token] = answer.location.slice(`${redirectUri}#access_token=`.length).split('&');
    expect(answer.location.startsWith(`${redirectUri}#access_token=${token ?? ''}&state=xyz`)).to.equal(true);
    expect(answer.location.split('#')[0], 'the token is not in the query').to.equal(redirectUri);
    const session = await send(baseUrl(), `GET {base_url}/Session\nAuthorization: Bearer ${token ?? ''}`);
    expect(session.status, session.text).to.equal(200);
  });

  it('3. redirect_uri, state and scope may be left out: the configured address counts', async () => {
    const answer = await grant(
      await signUp(await browser.get('/auth/authorize?response_type=token&client_id=web-app')),
    );
    expect(answer.location.startsWith(`${redirectUri}#access_token=`)).to.equal(true);
    expect(fragmentOf(answer).has('state')).to.equal(false);
  });

  for (const state of ['a b&c=d', '%41+#', 'ünï']) {
    it(`4. state is returned unchanged: ${state}`, async () => {
      const answer = await grant(await signUp(await authorize({ state })));
      expect(fragmentOf(answer).get('state')).to.equal(state);
    });
  }

  it('5. a person who denies is sent back without a token', async () => {
    const asked = await browser.get((await signUp(await authorize({ state: 'xyz' }))).location);
    const answer = await browser.submit(asked.location, { answer: 'deny' });
    expect(answer.location.startsWith(`${redirectUri}#error=access_denied&`)).to.equal(true);
    expect(fragmentOf(answer).get('state')).to.equal('xyz');
  });

  it('6. another redirect_uri than the configured one is answered with a page, and nobody is sent there', async () => {
    const answer = await authorize({ redirect_uri: 'https://app.example/back' });
    expect([answer.status, answer.location]).to.deep.equal([400, '']);
  });
});
