import { expect } from 'chai';
import { messages } from '../../../api/pages/messages.ts';
import { findChromium, launchChromium, patience } from '../../browser/chromium.ts';
import { clientToken } from '../../support/client-token.ts';
import { blocksOf, clientOf, replaced } from '../../support/page-block.ts';
import { temporaryFolder } from '../../dev/temporary-folder.ts';
import type { TemporaryFolder } from '../../dev/temporary-folder.ts';
import { eventually } from '../../support/eventually.ts';
import { ann, withHttpsBox } from '../https-box.ts';
import type { HttpsBox } from '../https-box.ts';
import { joinGroups } from '../membership.ts';
import { newVisitor } from '../visitor.ts';
import { introspectingApp, obtainPythonApps, pythonApps, startPythonApp, streamlitApp } from './python-apps.ts';
import type { PythonApp } from './python-apps.ts';

const page = 'guides/products.md';
const secret = 'a-secret-of-the-app';
const [manifest = ''] = blocksOf(page, 'The Client', 'yaml');

describe('apps in Python with the settings of docs/guides/products.md', () => {
  let box: HttpsBox;
  let python = '';
  let folder: TemporaryFolder;
  let running: Awaited<ReturnType<typeof startPythonApp>> | undefined;

  withHttpsBox((started) => (box = started));
  before(async function () {
    this.timeout(0);
    python = await obtainPythonApps(process.env, (line) => process.stderr.write(`${line}\n`));
    folder = temporaryFolder();
    folder.write('ca.pem', box.ca);
    await joinGroups(box, ['staff']);
  });
  afterEach(async () => {
    await running?.stop();
    running = undefined;
  });
  after(() => {
    folder.remove();
  });

  /** Starts an app as the client of the page. */
  async function start(app: PythonApp, language = 'python') {
    const blocks = blocksOf(page, app.heading, language);
    running = await startPythonApp(python, app, blocks, async (url) => {
      const declared = replaced(manifest, { 'https://app.example/callback': `${url}${app.callback}` });
      await box.api.declare('default', [clientOf(declared, secret)]);
      const trusted = { SSL_CERT_FILE: folder.path('ca.pem'), REQUESTS_CA_BUNDLE: folder.path('ca.pem') };
      return { ISSUER: box.issuer, CLIENT_ID: 'app', CLIENT_SECRET: secret, ...trusted };
    });
    return running;
  }

  for (const app of pythonApps) {
    it(`signs a person in: ${app.heading}`, async () => {
      await box.admin('PUT', `/users/${box.user}`, { email_verified: true });
      const { url, program } = await start(app);
      const visitor = newVisitor();
      await visitor.visit(`${url}${app.signIn}`);
      const { text } = await visitor.visit(`${url}${app.page}`);
      expect(text, program.said()).to.include(app.heading === 'JupyterHub' ? '"/hub/logout"' : ann.email);
      if (app.heading === 'Flask-AppBuilder') expect(text).to.include('"Admin"');
    });
  }

  it('signs a person in, in Chromium: Streamlit', async () => {
    const { url } = await start(streamlitApp, 'toml');
    const browser = await launchChromium(findChromium(process.env));
    try {
      const context = await browser.newContext({ ignoreHTTPSErrors: true });
      context.setDefaultTimeout(patience);
      const tab = await context.newPage();
      await tab.goto(url);
      await tab.getByLabel(messages.en.email).fill(ann.email);
      await tab.getByLabel(messages.en.password).fill(ann.password);
      await tab.getByRole('button', { name: messages.en.signIn, exact: true }).click();
      await tab.getByText(`Hello, ${ann.email}`).waitFor();
    } finally {
      await browser.close();
    }
  });

  it('lets nobody in by an email that is not verified: mozilla-django-oidc', async () => {
    await box.admin('PUT', `/users/${box.user}`, { email_verified: false });
    const app = pythonApps.find(({ heading }) => heading === 'mozilla-django-oidc');
    if (app === undefined) throw new TypeError('no such app');
    const { url } = await start(app);
    const { text } = await newVisitor().visit(`${url}${app.signIn}`);
    expect(text).to.equal('{"email": null}');
  });

  it('checks tokens by introspection, until they are revoked: django-oauth-toolkit', async () => {
    const { url } = await start(introspectingApp);
    const caller = { kind: 'Client', id: 'caller', grant_types: ['client_credentials'], secret } as const;
    await box.api.declare('default', [{ ...caller, scope: ['orders.read', 'orders.write'] }]);
    const tokenFor = (scope: string, audience: string): Promise<string> =>
      clientToken(box.issuer, 'caller', secret, { scope, audience });
    const status = async (own: string): Promise<number> =>
      (await fetch(url, { headers: { Authorization: `Bearer ${own}` } })).status;
    const token = await tokenFor('orders.read', url);
    expect(await status(token)).to.equal(200);
    expect(await status(await tokenFor('orders.write', url))).to.equal(403);
    expect(await status(await tokenFor('orders.read', 'https://another.example'))).to.equal(403);
    await fetch(`${box.issuer}/Session`, { method: 'DELETE', headers: { Authorization: `Bearer ${token}` } });
    await eventually('the token is refused', async () => (await status(token)) === 403);
  });
});
