import { expect } from 'chai';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { parse, stringify } from 'yaml';
import { isObject } from '../../../crds/path.ts';
import { findDex, obtainDex } from './obtain-dex.ts';
import { temporaryFolder } from '../../dev/temporary-folder.ts';
import type { TemporaryFolder } from '../../dev/temporary-folder.ts';
import { startChild, untilReady } from '../../support/child-program.ts';
import type { ChildProgram } from '../../support/child-program.ts';
import { ownPort } from '../../support/own-port.ts';
import { blocksOf, clientOf, replaced } from '../../support/page-block.ts';
import { ann, withHttpsBox } from '../https-box.ts';
import type { HttpsBox } from '../https-box.ts';
import { joinGroups } from '../membership.ts';
import { newVisitor } from '../visitor.ts';
import type { VisitedPage } from '../visitor.ts';

type Fields = Readonly<Record<string, unknown>>;

const secret = 'a secret: with + and / and %';
const app = { id: 'app', secret: 'the secret of the app', callback: 'https://app.example/callback' };
const [manifest = '', connector = ''] = blocksOf('guides/add-sign-in.md', 'Apps behind Dex', 'yaml');

describe('Dex itself, with the connector of docs/guides/add-sign-in.md', () => {
  let box: HttpsBox;
  let folder: TemporaryFolder;
  let dex: ChildProgram | undefined;
  /** Issuer of Dex. */
  let issuer = '';

  withHttpsBox((started) => (box = started));
  before(async function () {
    this.timeout(0);
    await obtainDex(process.env, (line) => process.stderr.write(`${line}\n`));
    const port = String(await ownPort());
    issuer = `https://localhost:${port}/dex`;
    const declared = replaced(manifest, { 'https://dex.example/callback': `${issuer}/callback` });
    await box.api.declare('default', [clientOf(declared, secret)]);
    await joinGroups(box, ['shop', 'staff']);
    folder = temporaryFolder();
    folder.write('ca.pem', box.ca);
    folder.write('key.pem', box.key);
    folder.write('dex.yaml', configuration(port));
    const program = startChild(findDex(process.env) ?? 'dex', ['serve', folder.path('dex.yaml')], {
      env: {
        ...{ HOME: folder.path('.'), SSL_CERT_FILE: folder.path('ca.pem') },
        ...{ ISSUER: box.issuer, CLIENT_ID: 'dex', CLIENT_SECRET: secret },
      },
    });
    dex = program;
    await untilReady(
      program,
      'Dex',
      async () => (await fetch(`${issuer}/healthz`).catch(() => undefined))?.ok ?? false,
    );
  });
  after(async () => {
    await dex?.stop();
    folder.remove();
  });

  /** Returns a configuration with the connector of the page and one app, whose users Dex asks nothing itself. */
  function configuration(port: string): string {
    const changed = replaced(connector, { 'https://dex.example/callback': `${issuer}/callback` });
    const parsed: unknown = parse(changed);
    if (!isObject(parsed)) throw new TypeError(changed);
    return stringify({
      ...parsed,
      issuer,
      storage: { type: 'memory' },
      web: { https: `127.0.0.1:${port}`, tlsCert: folder.path('ca.pem'), tlsKey: folder.path('key.pem') },
      oauth2: { skipApprovalScreen: true },
      staticClients: [{ id: app.id, name: 'App', secret: app.secret, redirectURIs: [app.callback] }],
    });
  }

  /** Signs ann in to the app, by Dex and Boxgate, and returns the page where that ends. */
  function visit(): Promise<VisitedPage> {
    const url = new URL(`${issuer}/auth`);
    const scope = 'openid profile email groups offline_access';
    const fields = { client_id: app.id, redirect_uri: app.callback, response_type: 'code', scope, state: 'of the app' };
    for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value);
    return newVisitor().visit(url, ({ href }) => href.startsWith(app.callback));
  }

  async function tokenRequest(fields: Readonly<Record<string, string>>): Promise<{ status: number; body: Fields }> {
    const credentials = Buffer.from(`${app.id}:${encodeURIComponent(app.secret)}`).toString('base64');
    const response = await fetch(`${issuer}/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${credentials}` },
      body: new URLSearchParams(fields),
    });
    const body: unknown = await response.json();
    if (!isObject(body)) throw new TypeError(JSON.stringify(body));
    return { status: response.status, body };
  }

  async function signIn(): Promise<Fields> {
    const { url } = await visit();
    const code = url.searchParams.get('code');
    if (code === null) throw new Error(`no code at ${url.href}: ${dex?.said() ?? ''}`);
    const { status, body } = await tokenRequest({
      ...{ grant_type: 'authorization_code', code, redirect_uri: app.callback },
    });
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  }

  /** Refreshes at Dex, which refreshes at Boxgate before it answers. */
  function refresh(tokens: Fields): Promise<{ status: number; body: Fields }> {
    return tokenRequest({ grant_type: 'refresh_token', refresh_token: String(tokens['refresh_token']) });
  }

  /** Returns what Dex tells the app about a person, in an id_token that its keys verify. */
  async function told(tokens: Fields): Promise<Fields> {
    const keys = createRemoteJWKSet(new URL(`${issuer}/keys`));
    const { payload } = await jwtVerify(String(tokens['id_token']), keys, { issuer, audience: app.id });
    const { email, email_verified, name, groups } = payload;
    return { email, email_verified, name, groups };
  }

  const known = (groups: readonly string[]): Fields => ({
    ...{ email: ann.email, email_verified: true, name: ann.email },
    groups,
  });

  it('refuses a person whose email nobody says to be verified', async () => {
    const { url, status } = await visit();
    expect([url.href.startsWith(`${issuer}/callback`), status]).to.deep.equal([true, 500]);
    expect(dex?.said()).to.contain('missing \\"email_verified\\" claim');
  });

  it('signs a person in to its app, with email and groups', async () => {
    await box.admin('PUT', `/users/${box.user}`, { email_verified: true });
    expect(await told(await signIn())).to.deep.equal(known(['shop', 'staff']));
  });

  it('tells its app the groups of the moment of a refresh', async () => {
    await box.admin('PUT', `/users/${box.user}`, { email_verified: true });
    const tokens = await signIn();
    await joinGroups(box, ['night']);
    const { status, body } = await refresh(tokens);
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(await told(body)).to.deep.equal(known(['night']));
  });

  it('refuses a refresh after the person has been disabled in the box', async () => {
    await box.admin('PUT', `/users/${box.user}`, { email_verified: true });
    const tokens = await signIn();
    await box.admin('PUT', `/users/${box.user}`, { status: 'inactive' });
    const { status } = await refresh(tokens);
    expect(status).to.not.equal(200);
    expect(dex?.said()).to.contain('invalid_grant');
  });
});
