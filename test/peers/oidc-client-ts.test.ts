import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { messages } from '../../api/pages/messages.ts';
import { findChromium, launchChromium, patience } from '../browser/chromium.ts';
import { blocksOf, clientOf, replaced } from '../support/page-block.ts';
import { ann, withHttpsBox } from './https-box.ts';
import type { HttpsBox } from './https-box.ts';

const say = messages.en;
/** The library renews a token a minute before it expires. */
const shortLived = 'access_token_expiration: 62';

/** Modules that the page of the app imports, as its bundler would find them. */
const modules = {
  'oidc-client-ts': fileURLToPath(import.meta.resolve('oidc-client-ts')),
  'jwt-decode': 'node_modules/jwt-decode/build/esm/index.js',
};

describe('in Chromium the single-page app of docs/guides/add-sign-in.md, with oidc-client-ts', () => {
  let box: HttpsBox;
  let browser: Browser | undefined;
  let context: BrowserContext | undefined;

  withHttpsBox((started) => (box = started));
  before(async () => (browser = await launchChromium(findChromium(process.env))));
  after(() => browser?.close());
  beforeEach(async () => {
    context = await browser?.newContext({ ignoreHTTPSErrors: true });
    context?.setDefaultTimeout(patience);
  });
  afterEach(() => context?.close());

  async function newPage(): Promise<Page> {
    if (context === undefined) throw new Error('no browser is running');
    return context.newPage();
  }

  /** Starts the app, on the site of Boxgate or another one; its access tokens are renewed after two seconds. */
  async function start(id: string, site: 'localhost' | '127.0.0.1', refresh = true): Promise<string> {
    const url = await box.serve((at) => serveApp(id, at.replace('localhost', site)));
    const app = url.replace('localhost', site);
    const [manifest = ''] = blocksOf('guides/add-sign-in.md', 'A single-page app', 'yaml');
    const refreshing = /^ *refresh_token.*\n/gm;
    expect(manifest).to.match(refreshing);
    const here = { 'https://web.shop.example': app, 'shop-web': id, 'access_token_expiration: 300': shortLived };
    const client = replaced(refresh ? manifest : manifest.replaceAll(refreshing, ''), here);
    await box.api.declare('default', [clientOf(client)]);
    return app;
  }

  /** Serves one page with the script of the docs, and the modules that it imports. */
  function serveApp(id: string, app: string): (request: IncomingMessage, response: ServerResponse) => void {
    const [block = ''] = blocksOf('guides/add-sign-in.md', 'A single-page app', 'js');
    const script = replaced(block, {
      'https://auth.example.com/boxes/shop': box.issuer,
      'shop-web': id,
      'https://web.shop.example': app,
    });
    const imports = Object.fromEntries(Object.keys(modules).map((name) => [name, `/${name}.js`]));
    const html = `<!doctype html><html lang="en"><title>App</title><link rel="icon" href="data:,"><h1>Wait</h1>
      <script type="importmap">${JSON.stringify({ imports })}</script><script type="module">${script}</script></html>`;
    return ({ url = '' }, response) => {
      const module = Object.entries(modules).find(([name]) => url === `/${name}.js`);
      response.setHeader('Content-Type', module ? 'text/javascript' : 'text/html; charset=utf-8');
      response.end(module ? readFileSync(module[1]) : html);
    };
  }

  async function signIn(page: Page, app: string): Promise<void> {
    await page.goto(app);
    await page.getByLabel(say.email).fill(ann.email);
    await page.getByLabel(say.password).fill(ann.password);
    await page.getByRole('button', { name: say.signIn, exact: true }).click();
    await page.getByRole('heading', { name: `Hello, ${ann.email}!` }).waitFor();
  }

  const isSilent = (request: Request) => request.url().includes('prompt=none');
  const isRefresh = (request: Request) => (request.postData() ?? '').includes('grant_type=refresh_token');

  it('renews its token with the refresh token, also on another site than that of Boxgate', async () => {
    const app = await start('refreshing', '127.0.0.1');
    const page = await newPage();
    await signIn(page, app);
    for (const _ of ['once', 'and again']) {
      const request = await page.waitForRequest(isRefresh);
      expect((await request.response())?.status()).to.equal(200);
    }
  });

  it('renews its token in a hidden frame on the same site', async () => {
    const app = await start('framed', 'localhost', false);
    const page = await newPage();
    const renewal = page.waitForRequest((one) => isSilent(one) && one.frame() !== page.mainFrame());
    await signIn(page, app);
    await renewal;
    const redeemed = await page.waitForRequest((one) => one.url().endsWith('/auth/token'));
    expect((await redeemed.response())?.status()).to.equal(200);
  });

  it('learns in a hidden frame of another site that the person has to sign in', async () => {
    const app = await start('foreign', '127.0.0.1', false);
    const page = await newPage();
    const answer = page.waitForRequest((one) => one.url().startsWith(`${app}/?error=`));
    await signIn(page, app);
    const back = await answer;
    expect(back.frame()).not.to.equal(page.mainFrame());
    expect(new URL(back.url()).searchParams.get('error')).to.equal('login_required');
  });
});
