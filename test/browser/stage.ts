import { createHash } from 'node:crypto';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { freePort } from '../../dev/processes/port.ts';
import { addUser } from '../http/pages/browser.ts';
import { startApi } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { unthrottled } from '../support/unthrottled.ts';
import { startAppServer } from './app-server.ts';
import type { AppServer } from './app-server.ts';
import { findChromium, launchChromium, patience } from './chromium.ts';
import { startTlsProxy } from './tls-proxy.ts';
import type { TlsProxy } from './tls-proxy.ts';

/** An API, an app that sends people to it, and a real browser. */
export interface Stage {
  readonly api: TestApi;
  readonly app: AppServer;
  /** Base URL of the box `default`, and the one that browsers load. */
  readonly base: string;
  /** A window of a browser that nobody has used yet; its context is to be closed. */
  readonly newPage: (options?: BrowserContextOptions) => Promise<Page>;
  /** The address of an authorization request: for a token as the client `own`, unless told otherwise. */
  readonly authorize: (parameters?: Readonly<Record<string, string>>) => string;
  /** Path and text of each page that is open: what somebody sees where a test fails. */
  readonly shown: () => Promise<string[]>;
  close(): Promise<void>;
}

/** Credentials of a user who can sign in there. */
export const ann = { email: 'ann@shop.example', password: 'a long enough passphrase' };

/** RFC 7636: of the codes that a stage asks for. */
export const verifier = 'v'.repeat(43);

/** The picture of the box `branded`; a test that shows it has to answer for its host. */
export const logo = 'https://pictures.example/logo.svg';

/** Name of the app that must ask for consent, as the pages show it. */
export const appName = 'Photo Prints';
/** The secret of the client `proven`. */
export const provenSecret = 'the-secret-of-proven';

/** Options of a stage. */
export interface StageOptions {
  /** Browsers come over https, through a proxy before the API. */
  readonly tls?: boolean;
}

/** Sets the stage for a suite. Fails where this machine has no Chromium. */
export function onStage(take: (stage: Stage) => void, options: StageOptions = {}): void {
  let stage: Stage | undefined;
  before(async () => {
    stage = await startStage(options);
    take(stage);
  });
  afterEach(async function () {
    const error = this.currentTest?.err;
    if (error !== undefined) error.message += ` The pages show: ${((await stage?.shown()) ?? []).join(' | ')}`;
  });
  after(() => stage?.close());
}

async function startStage({ tls = false }: StageOptions): Promise<Stage> {
  const browser = await launchChromium(findChromium(process.env));
  const app = await startAppServer();
  const { api, proxy, url } = await startAtItsUrl(tls);
  await declareBoxes(api, app);
  await addUser(api, ann.email, ann.password);
  const base = `${url}/boxes/default`;
  return {
    api,
    app,
    base,
    newPage: (options = {}) => newPage(browser, { ignoreHTTPSErrors: tls, ...options }),
    authorize: (parameters = {}) => {
      const defaults = { response_type: 'token', client_id: 'own', state: 's t&a=te' };
      return `${base}/auth/authorize?${new URLSearchParams({ ...defaults, ...parameters }).toString()}`;
    },
    shown: () => Promise.all(browser.contexts().flatMap((context) => context.pages().map(textOf))),
    async close() {
      await browser.close();
      await proxy?.close();
      await api.stop();
      await app.close();
    },
  };
}

/** An API whose public URL is where it listens: behind its proxy, where there is one. */
async function startAtItsUrl(tls: boolean, tries = 5): Promise<{ api: TestApi; proxy?: TlsProxy; url: string }> {
  const port = String(await freePort(0, ''));
  const plain = `http://127.0.0.1:${port}`;
  const proxy = tls ? await startTlsProxy(plain) : undefined;
  const url = proxy?.url ?? plain;
  const settings = {
    // One address may use up a quarter of it: six failures.
    BOXGATE_FAILURES_PER_ACCOUNT: '24',
    BOXGATE_PORT: port,
    BOXGATE_PUBLIC_URL: url,
    BOXGATE_TRUSTED_PROXIES: tls ? '127.0.0.1' : '',
  };
  try {
    const api = await startApi({ environment: { ...unthrottled, ...settings } });
    return { api, url, ...(proxy && { proxy }) };
  } catch (error) {
    await proxy?.close();
    // The port was free a moment ago: another program of this machine has taken it.
    if (tries > 1 && String(error).includes('is in use by another program')) return startAtItsUrl(tls, tries - 1);
    throw error;
  }
}

/** Parameters of an authorization request for a code. */
export const codeParameters = {
  response_type: 'code',
  client_id: 'foreign',
  scope: 'openid email offline_access read',
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
};

async function newPage(browser: Browser, options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(patience);
  return context.newPage();
}

async function textOf(page: Page): Promise<string> {
  // A page may be stuck in a dialog.
  const text = await page.locator('body').innerText({ timeout: 5_000 }).catch(String);
  return `${new URL(page.url()).pathname}: ${text.slice(0, 200)}`;
}

async function declareBoxes(api: TestApi, app: AppServer): Promise<void> {
  const grant_types = ['implicit', 'authorization_code'];
  const auth = (path: string) => ({
    implicit: { redirect_uri: app.url + path, access_token_expiration: 600 },
    authorization_code: { redirect_uri: app.url + path },
  });
  await api.declare('default', [
    {
      kind: 'Box',
      id: 'default',
      sign_in: { title: 'The Shop' },
      scopes: { read: { en: 'see what you have ordered', de: 'sehen, was Sie bestellt haben' } },
      registration: { enabled: true, allowed_email_domains: ['shop.example'] },
    },
    {
      kind: 'Client',
      id: 'own',
      name: 'Shop',
      grant_types,
      first_party: true,
      auth: auth('/back'),
      post_logout_redirect_uris: [`${app.url}/bye`],
    },
    { kind: 'Client', id: 'onward', grant_types, first_party: true, auth: auth('/on') },
    {
      kind: 'Client',
      id: 'foreign',
      name: appName,
      grant_types,
      auth: auth('/back'),
      scope: ['openid', 'email', 'offline_access', 'read'],
    },
    // May act in the name of its users.
    {
      kind: 'Client',
      id: 'agent',
      name: appName,
      grant_types: ['authorization_code'],
      auth: { authorization_code: { redirect_uri: `${app.url}/back` } },
      scope: ['openid', 'boxgate'],
    },
    // Proves who it is: its consent is remembered.
    {
      kind: 'Client',
      id: 'proven',
      name: appName,
      grant_types: ['authorization_code'],
      secret: provenSecret,
      auth: { authorization_code: { redirect_uri: `${app.url}/back` } },
      scope: ['openid', 'email', 'offline_access', 'read'],
    },
  ]);
  const approved = { enabled: true, approval: 'admin' };
  await api.declare('approved', [
    { kind: 'Box', id: 'approved', sign_in: { title: 'The Shop' }, registration: approved },
  ]);
  await api.declare('branded', [
    { kind: 'Box', id: 'branded', sign_in: { title: 'The Shop', logo_url: logo, color: '#b3005e' } },
  ]);
}
