import { expect } from 'chai';
import type { BrowserContext, Page, Response } from 'playwright-core';
import { messages } from '../../api/pages/messages.ts';
import { ann, onStage } from './stage.ts';
import type { Stage } from './stage.ts';

const say = messages.en;
const name = '__Host-boxgate-default';
/** Proves that somebody has signed in with this browser before; it grants nothing, and stays when they sign out. */
const device = '__Host-boxgate-device.default';

describe('behind a proxy that speaks TLS, in Chromium a person', () => {
  let stage: Stage;
  let page: Page;
  let context: BrowserContext;

  onStage((set) => (stage = set), { tls: true });
  beforeEach(async () => {
    page = await stage.newPage();
    context = page.context();
  });
  afterEach(() => context.close());

  async function signIn(): Promise<void> {
    await page.getByLabel(say.email).fill(ann.email);
    await page.getByLabel(say.password).fill(ann.password);
    await page.getByRole('button', { name: say.signIn, exact: true }).click();
  }

  const atApp = () => page.getByRole('heading', { name: 'Back in the app' }).waitFor();

  it('signs in to an app, and is known by a __Host- cookie when it comes again', async () => {
    const told: ReturnType<Response['headersArray']>[] = [];
    const note = (response: Response) => told.push(response.headersArray());
    page.on('response', note);
    await page.goto(stage.authorize());
    expect(page.url()).to.match(/^https:\/\/localhost:\d+\/boxes\/default\/auth\/signin\?/);
    await signIn();
    await atApp();
    page.off('response', note);
    const answer = Object.fromEntries(new URLSearchParams(new URL(page.url()).hash.slice(1)));
    expect(answer).to.include({ iss: stage.base });
    const cookies = await context.cookies();
    expect(cookies.map((cookie) => cookie.name)).to.have.members([name, device]);
    // A cookie with Domain would have a dot before it.
    for (const cookie of cookies)
      expect(cookie).to.include({ domain: 'localhost', path: '/', secure: true, httpOnly: true, sameSite: 'Lax' });
    const headers = (await Promise.all(told)).flat();
    const set = headers.flatMap(({ name: header, value }) => (header.toLowerCase() === 'set-cookie' ? [value] : []));
    expect(set.length).to.be.greaterThan(0);
    for (const text of set)
      expect(text)
        .to.match(/^__Host-.*; Path=\/; .*; Secure/)
        .and.not.match(/domain/i);
    // No page this time.
    await page.goto(stage.authorize({ prompt: 'none' }));
    await atApp();
    expect(new URL(page.url()).hash).to.contain('access_token=');
  });

  it('is not known by a cookie of the name without the prefix, which any host below could set', async () => {
    await page.goto(`${stage.base}/auth/signin`);
    await signIn();
    await page.getByText(say.signedInAs(ann.email)).waitFor();
    const cookie = (await context.cookies()).find((one) => one.name === name);
    expect(cookie?.value).to.be.a('string');
    await context.clearCookies();
    await context.addCookies([{ name: 'boxgate-default', value: cookie?.value ?? '', url: stage.base }]);
    await page.goto(`${stage.base}/auth/signin`);
    await page.getByLabel(say.email).waitFor();
  });

  it('signs out, and the browser keeps the cookie of a known device only', async () => {
    await page.goto(`${stage.base}/auth/signin`);
    await signIn();
    await page.getByRole('button', { name: say.signOut }).click();
    await page.getByRole('heading', { name: say.signedOut }).waitFor();
    expect((await context.cookies()).map((cookie) => cookie.name)).to.deep.equal([device]);
    await page.goto(stage.authorize({ prompt: 'none' }));
    await atApp();
    expect(new URL(page.url()).hash).to.contain('error=login_required');
  });
});
