import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { isObject } from '../../crds/path.ts';
import { goPeers } from '../../tools/needs/go-peers.ts';
import { untilReady } from '../support/child-program.ts';
import { eventually } from '../support/eventually.ts';
import { ownPort } from '../support/own-port.ts';
import { blocksOf, replaced } from '../support/page-block.ts';
import { portOf } from '../../program/environment.ts';
import { startGateway } from './gateway.ts';
import type { RunningGateway } from './gateway.ts';
import { startGoProgram } from './go-program.ts';
import type { GoProgram } from './go-program.ts';
import { ann, withHttpsBox } from './https-box.ts';
import type { HttpsBox } from './https-box.ts';
import { joinGroups } from './membership.ts';
import { newVisitor } from './visitor.ts';
import type { Visitor } from './visitor.ts';

const page = 'guides/gateways.md';
const secret = 'a secret of the client';

describe('oauth2-proxy in front of nginx, as docs/guides/gateways.md shows them', () => {
  let box: HttpsBox;
  let app: Server | undefined;
  let nginx: RunningGateway | undefined;
  let folder = '';
  const started: GoProgram[] = [];

  withHttpsBox((one) => (box = one));
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'boxgate-oauth2-proxy-'));
    app = createServer(({ headers }, response) => {
      const { 'x-auth-user': user, 'x-forwarded-access-token': token } = headers;
      response.end(JSON.stringify({ user, token }));
    });
    await once(app.listen(0, '127.0.0.1'), 'listening');
    nginx = await startGateway('nginx', locations(app));
    await joinGroups(box, ['shop', 'staff']);
    await box.api.declare('default', [
      {
        kind: 'AccessPolicy',
        id: 'staff-at-orders',
        engine: 'allow',
        apps: ['orders.example'],
        link: [{ resourceType: 'Group', id: 'staff' }],
      },
    ]);
  });
  after(async () => {
    for (const program of started) await program.stop();
    await nginx?.stop();
    app?.close();
    rmSync(folder, { recursive: true });
  });

  function locations(server: Server): string {
    const [ofGateway = ''] = blocksOf(page, 'nginx', 'nginx');
    const [forBrowsers = ''] = blocksOf(page, 'Browsers', 'nginx');
    return replaced(ofGateway, {
      'http://orders.shop.svc:8080': `http://127.0.0.1:${String(portOf(server))}`,
      'http://boxgate.shop.svc/': `${box.api.url}/boxes/default/`,
      'proxy_set_header Host               boxgate.shop.svc;': forBrowsers,
    });
  }

  /** Starts oauth2-proxy with the options of the page, some of them with other values. Returns its URL. */
  async function startProxy(id: string, changed: Readonly<Record<string, string>> = {}): Promise<string> {
    const port = String(await ownPort());
    const url = `https://localhost:${port}`;
    const [manifest = ''] = blocksOf(page, 'Browsers', 'yaml');
    const declared: unknown = parse(manifest);
    const spec = isObject(declared) && isObject(declared['spec']) ? declared['spec'] : {};
    const auth = isObject(spec['auth']) && isObject(spec['auth']['authorization_code']) ? spec['auth'] : {};
    const settings = isObject(auth['authorization_code']) ? auth['authorization_code'] : {};
    const redirect = { ...settings, redirect_uri: `${url}/oauth2/callback` };
    await box.api.declare('default', [{ kind: 'Client', id, ...spec, secret, auth: { authorization_code: redirect } }]);
    const file = (name: string, text: string): string => {
      writeFileSync(path.join(folder, `${id}-${name}`), text);
      return path.join(folder, `${id}-${name}`);
    };
    const values: Readonly<Record<string, string>> = {
      'oidc-issuer-url': box.issuer,
      'client-id': id,
      'client-secret-file': file('secret', secret),
      'cookie-secret-file': file('cookie', '0123456789abcdef0123456789abcdef'),
      'redirect-url': `${url}/oauth2/callback`,
      upstream: nginx?.url ?? '',
      ...changed,
    };
    const [command = ''] = blocksOf(page, 'Browsers', 'sh');
    const options = command.matchAll(/--([a-z0-9-]+)=(?:"([^"]*)"|(\S+))/g);
    const parameters = Array.from(
      options,
      ([, name = '', quoted, plain = '']) => `--${name}=${values[name] ?? quoted ?? plain}`,
    );
    expect(parameters.join(' ')).not.to.include('insecure');
    const tls = [`--tls-cert-file=${file('cert', box.ca)}`, `--tls-key-file=${file('key', box.key)}`];
    const listen = [`--https-address=127.0.0.1:${port}`, '--http-address=', ...tls];
    const program = startGoProgram(goPeers.oauth2Proxy, [...parameters, ...listen], { ca: box.ca });
    started.push(program);
    await untilReady(program, 'oauth2-proxy', async () => (await fetch(`${url}/ping`)).ok);
    return url;
  }

  async function changeUser(fields: object): Promise<void> {
    await box.admin('PUT', `/users/${box.user}`, fields);
  }

  /** Returns the log of the program that was started last. */
  function said(): string {
    return started.at(-1)?.said() ?? '';
  }

  async function seenBy(visitor: Visitor, url: string): Promise<Readonly<Record<string, unknown>>> {
    const { status, text } = await visitor.visit(url);
    const seen: unknown = status === 200 ? JSON.parse(text) : {};
    return { status, ...(isObject(seen) ? seen : {}) };
  }

  it('sign a person in, admit a member of an allowed group, and tell the app who it is', async () => {
    const url = await startProxy('orders-web');
    const seen = await seenBy(newVisitor(), `${url}/orders/7`);
    expect(seen).to.include({ status: 200, user: box.user });
  });

  it('refuse a person who is in none of the allowed groups', async () => {
    const url = await startProxy('orders-admins', { 'allowed-group': 'admins' });
    const { status } = await newVisitor().visit(`${url}/orders/7`);
    expect(status).to.equal(403);
  });

  it('refuse an email that is not verified', async () => {
    const url = await startProxy('orders-unverified');
    await changeUser({ email_verified: false });
    const { status } = await newVisitor().visit(`${url}/orders/7`);
    expect(status).to.equal(403);
    expect(said()).to.include(`email in id_token (${ann.email}) isn't verified`);
    await changeUser({ email_verified: true });
    expect((await newVisitor().visit(`${url}/orders/7`)).status).to.equal(200);
  });

  it('renew the session of a person who stays, and end it with the user', async () => {
    const url = await startProxy('orders-renewed', { 'cookie-refresh': '1s' });
    const visitor = newVisitor();
    const { token } = await seenBy(visitor, `${url}/orders`);
    await eventually('another access token reaches the app', async () => {
      const seen = await seenBy(visitor, `${url}/orders`);
      expect(seen['status']).to.equal(200);
      return seen['token'] !== token;
    });
    await changeUser({ status: 'inactive' });
    expect((await seenBy(visitor, `${url}/orders`))['status']).not.to.equal(200);
    await changeUser({ status: 'active' });
  });
});
