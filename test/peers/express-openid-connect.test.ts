import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import express from 'express';
import openid from 'express-openid-connect';
import { startChild, untilReady } from '../support/child-program.ts';
import type { ChildProgram } from '../support/child-program.ts';
import { ownPort } from '../support/own-port.ts';
import { blocksOf, clientOf, replaced } from '../support/page-block.ts';
import { ann, withHttpsBox } from './https-box.ts';
import type { HttpsBox } from './https-box.ts';
import { newVisitor } from './visitor.ts';

const clientSecret = 'a secret of the client';
const secret = 'what the app seals its cookies with';

describe('an app with express-openid-connect', () => {
  let box: HttpsBox;

  withHttpsBox((started) => (box = started));

  /** Starts the app with its redirect URI and, as always with this library, `/` as the address after signing out. */
  async function start(clientID: string, config: openid.ConfigParams): Promise<string> {
    const app = await box.serve((baseURL) => {
      const routes = express();
      routes.use(openid.auth({ issuerBaseURL: box.issuer, baseURL, clientID, secret, ...config }));
      routes.get('/', ({ oidc: { user = null } }, response) => void response.json(user));
      return routes;
    });
    await box.api.declare('default', [
      {
        kind: 'Client',
        id: clientID,
        grant_types: ['implicit'],
        auth: { implicit: { redirect_uri: `${app}/callback` } },
        post_logout_redirect_uris: [app],
      },
    ]);
    return app;
  }

  it('signs a person in with its defaults: an id_token that Boxgate posts to the app', async () => {
    const app = await start('defaults', {});
    const { status, text } = await newVisitor().visit(app);
    expect(status, text).to.equal(200);
    expect(JSON.parse(text)).to.include({ sub: box.user, email: ann.email });
  });

  it('signs a person in with a code, as docs/guides/add-sign-in.md has it', async () => {
    const [manifest = ''] = blocksOf('guides/add-sign-in.md', 'A server app', 'yaml');
    const [block = ''] = blocksOf('guides/add-sign-in.md', 'A server app', 'js');
    const port = String(await ownPort());
    const url = `http://127.0.0.1:${port}`;
    await box.api.declare('default', [clientOf(replaced(manifest, { 'https://shop.example': url }), clientSecret)]);
    const app = startApp(replaced(block, { 3000: port }), { CLIENT_ID: 'shop', BASE_URL: url });
    try {
      await untilReady(app, 'the app', async () => (await fetch(url, { redirect: 'manual' })).status === 302);
      const { status, text } = await newVisitor().visit(url);
      expect([status, text]).to.deep.equal([200, `Hello, ${ann.email}!`]);
    } finally {
      await app.stop();
    }
  });

  /** Starts an app in a process of its own, which has to trust the certificate of the box. */
  function startApp(code: string, environment: Readonly<Record<string, string>>): ChildProgram {
    const folder = mkdtempSync(path.join(tmpdir(), 'boxgate-app-'));
    after(() => {
      rmSync(folder, { recursive: true });
    });
    const ca = path.join(folder, 'ca.crt');
    writeFileSync(ca, box.ca);
    const settings = {
      ISSUER: box.issuer,
      CLIENT_SECRET: clientSecret,
      COOKIE_SECRET: secret,
      NODE_EXTRA_CA_CERTS: ca,
    };
    const env = { ...settings, ...environment };
    return startChild(process.execPath, ['--input-type=module', '-e', code], { env });
  }

  it('signs the person out of Boxgate too', async () => {
    const app = await start('out', { idpLogout: true, authRequired: false });
    const visitor = newVisitor();
    expect((await visitor.visit(`${app}/login`)).text).to.include(ann.email);
    expect((await visitor.visit(`${app}/logout`)).text).to.equal('null');
    const signIn = await visitor.visit(`${app}/login`, (url) => url.pathname.endsWith('/auth/signin'));
    expect(signIn.status, 'stopped before the page').to.equal(0);
  });
});
