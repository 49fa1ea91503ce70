import { expect } from 'chai';
import { isObject } from '../../crds/path.ts';
import { once } from 'node:events';
import { createServer, request as ask } from 'node:http';
import type { Server } from 'node:http';
import { startApi } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { clientToken } from '../support/client-token.ts';
import { blocksOf } from '../support/page-block.ts';
import { portOf } from '../../program/environment.ts';
import { startGateway } from './gateway.ts';
import type { GatewayName, RunningGateway } from './gateway.ts';

const secret = 'a secret of the client';
const link = [{ resourceType: 'Client', id: 'reports' }];

interface Reply {
  readonly status: number;
  readonly challenge: string | undefined;
  /** The request that reached the app; undefined if none did. */
  readonly seen: unknown;
}

/** The part of a guide about a gateway, and the answers that this gateway makes of those of Boxgate. */
export interface GatewayPage {
  /** Guide with the heading; `gateways` unless given. */
  readonly guide?: string;
  readonly heading: string;
  /** Language of its block of code; Caddy's has none. */
  readonly language: string;
  /** Returns the configuration of {@link startGateway} that the block makes, with the addresses of a test. */
  readonly configure: (block: string, app: string, boxgate: string) => string;
  /** Returns a configuration that keeps the caller's query for Boxgate, where a small change makes one. */
  readonly keepQuery?: (configuration: string) => string;
  /** Headers with which the app is told about a client, sorted. */
  readonly told: readonly string[];
  /** Status for a caller that sends each of {@link forgeries}. */
  readonly forged: readonly number[];
  /** Path that the app gets of one with `..`; undefined where the gateway refuses such a path. */
  readonly resolved: string | undefined;
  /** Status for a path with encoded slashes that the box refuses, where it is not 403. */
  readonly escaped?: number;
  /** True: the gateway passes other spellings of headers on, which the page says. */
  readonly keepsSpellings?: true;
  /** Returns a configuration that passes the token on, where the page has a line for that. */
  readonly withToken?: (configuration: string) => string;
  /** Status while Boxgate is down. */
  readonly down: number;
}

/** The headers by which docs/reference/auth-check.md tells an app who is calling. */
const identityHeaders = ['Client', 'User', 'Scope', 'Session', 'Policy', 'Email', 'Email-Verified', 'Groups'].map(
  (part) => `X-Auth-${part}`,
);

const forgeries: readonly Readonly<Record<string, string>>[] = [
  { 'X-Original-Method': 'GET', 'X-Original-URI': '/orders' },
  { 'X-Original-URL': 'http://orders.example/orders' },
  { 'X-Forwarded-Method': 'GET', 'X-Forwarded-Uri': '/orders', 'X-Forwarded-Host': 'orders.example' },
];

function policy(id: string, fields: object) {
  return { kind: 'AccessPolicy', id, apps: ['orders.example'], ...fields } as const;
}

/** Describes a gateway, with its configuration in the guides, in front of an app. */
export function describeGateway(name: GatewayName, page: GatewayPage): void {
  describe(`${name} with the configuration of its guide`, () => {
    let api: TestApi;
    let app: Server | undefined;
    let appUrl = '';
    let gateway: RunningGateway | undefined;
    let token = '';

    before(async () => {
      api = await startApi({ environment: { BOXGATE_TRUSTED_PROXIES: '127.0.0.1' } });
      await api.declare('shop', [
        { kind: 'Client', id: 'reports', grant_types: ['client_credentials'], secret },
        policy('orders-read', { matcho: { 'request-method': 'get', uri: '#^/orders(/|$)' }, engine: 'matcho', link }),
        { kind: 'AccessPolicy', id: 'other-app', apps: ['everything'], engine: 'allow', link },
        policy('office', { engine: 'cel', link, expression: 'uri == "/office" && remote_addr == "127.0.0.2"' }),
      ]);
      app = createServer(({ method, url, headers, rawHeaders }, response) => {
        // An empty header tells nothing. Caddy 2.6 passes the name of its placeholder where the answer has no such
        // header.
        const placeholder = '{http.reverse_proxy.header.';
        const told = Object.entries(headers).filter(
          ([header, value]) => header.startsWith('x-auth-') && value !== '' && !String(value).startsWith(placeholder),
        );
        // CGI, WSGI and Rack read a dash as an underscore, PHP behind FastCGI also a dot.
        const names = rawHeaders.filter((_text, index) => index % 2 === 0);
        const cgi = names.map((header, index) => [
          `HTTP_${header.toUpperCase().replace(/[-.]/g, '_')}`,
          rawHeaders[2 * index + 1],
        ]);
        response.end(JSON.stringify({ method, url, told: Object.fromEntries(told), cgi }));
      });
      await once(app.listen(0, '127.0.0.1'), 'listening');
      appUrl = `http://127.0.0.1:${String(portOf(app))}`;
      gateway = await startGateway(name, configuration(api.url));
      token = await clientToken(`${api.url}/boxes/shop`, 'reports', secret);
    });
    after(async () => {
      await gateway?.stop();
      app?.close();
      await api.stop();
    });

    /** Returns the page's configuration with the addresses of this test. */
    function configuration(boxgateUrl: string): string {
      const [block = ''] = blocksOf(`guides/${page.guide ?? 'gateways'}.md`, page.heading, page.language);
      return page.configure(block, appUrl, boxgateUrl);
    }

    function send(
      method: string,
      path: string,
      { from = '127.0.0.1', ...sentHeaders }: Readonly<Record<string, string>> = { Authorization: `Bearer ${token}` },
      url = gateway?.url ?? '',
    ): Promise<Reply> {
      const headers = { Host: `orders.example:${new URL(url).port}`, ...sentHeaders };
      return new Promise((resolve, reject) => {
        const sent = ask(url, { method, path, headers, localAddress: from, agent: false }, (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
          response.on('end', () => {
            const { statusCode: status = 0, headers: got } = response;
            const seen: unknown = text.startsWith('{"method"') ? JSON.parse(text) : undefined;
            resolve({ status, challenge: got['www-authenticate'], seen });
          });
        });
        sent.on('error', reject);
        sent.end();
      });
    }

    it('lets through what a policy grants, with the identity of the caller and not the one it claims', async () => {
      const claimed = Object.fromEntries(identityHeaders.map((header) => [header, 'forged']));
      const { seen, ...reply } = await send('GET', '/orders/7?x=1', { Authorization: `Bearer ${token}`, ...claimed });
      expect(reply).to.deep.equal({ status: 200, challenge: undefined });
      const { told, cgi: _cgi, ...request } = isObject(seen) ? seen : {};
      expect(request).to.deep.equal({ method: 'GET', url: '/orders/7?x=1' });
      expect(Object.keys(isObject(told) ? told : {}).sort()).to.deep.equal(page.told);
      expect(told).to.include({ 'x-auth-client': 'reports' });
      expect(JSON.stringify(told)).not.to.include('forged');
    });

    it('asks for a token, and refuses one that is not valid', async () => {
      const without = await send('GET', '/orders/7', {});
      expect(without).to.deep.equal({ status: 401, challenge: 'Bearer realm="shop"', seen: undefined });
      const wrong = await send('GET', '/orders/7', { Authorization: 'Bearer bgt_nonsense' });
      expect([wrong.status, wrong.seen]).to.deep.equal([401, undefined]);
    });

    it('refuses by method, by path, and by address', async () => {
      const own = { Authorization: `Bearer ${token}` };
      for (const [method, path] of [
        ['POST', '/orders/7'],
        ['GET', '/admin'],
        ['GET', '/orders/../admin'],
        ['GET', '/orders/%2e%2e/admin'],
        ['GET', '/orders%2f..%2fadmin'],
        ['GET', '/office'],
      ] as const) {
        const status = path.includes('%2f') ? (page.escaped ?? 403) : 403;
        expect(await send(method, path, own), `${method} ${path}`).to.include({ status, seen: undefined });
      }
      expect((await send('GET', '/office', { ...own, from: '127.0.0.2' })).status).to.equal(200);
      const forged = { ...own, 'X-Forwarded-For': '127.0.0.2', from: '127.0.0.3' };
      expect((await send('GET', '/office', forged)).status).to.equal(403);
    });

    it('shows the app no other path than the one that was decided about', async () => {
      const { resolved } = page;
      for (const path of ['/admin/../orders/7?x=1', '/admin/%2e%2e/orders/7?x=1', '/admin/x/.%2E/./../orders/7?x=1']) {
        const { status, seen } = await send('GET', path);
        expect([status, member(seen, 'url')], path).to.deep.equal([resolved === undefined ? 403 : 200, resolved]);
      }
      const plain = await send('GET', '/orders/a%20b/.c/d..e/%C3%BC%25/f?y=/../g');
      expect([plain.status, member(plain.seen, 'url')]).to.deep.equal([
        200,
        '/orders/a%20b/.c/d..e/%C3%BC%25/f?y=/../g',
      ]);
    });

    it('cannot be told another request by its caller', async () => {
      const own = { Authorization: `Bearer ${token}` };
      const statuses: number[] = [];
      for (const forged of forgeries) {
        const { status, seen } = await send('DELETE', '/admin', { ...own, ...forged });
        expect(seen, JSON.stringify(forged)).to.equal(undefined);
        statuses.push(status);
      }
      expect(statuses).to.deep.equal(page.forged);
    });

    it('shows the app no header of the caller that it could take for one of the box', async () => {
      // E-08: no spelling of X-Auth-*, no method that replaces the decided one, and no token.
      const own = { Authorization: `Bearer ${token}` };
      for (const header of page.keepsSpellings ? [] : identityHeaders.flatMap(spellings)) {
        const { status, seen } = await send('GET', '/orders/7', { ...own, [header]: 'forged' });
        expect(status, header).to.be.oneOf([200, 400]);
        expect(cgiOf(seen), header).not.to.include('forged');
      }
      for (const header of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override']) {
        for (const spelled of [header, ...(page.keepsSpellings ? [] : spellings(header))]) {
          const { status, seen } = await send('GET', '/orders/7', { ...own, [spelled]: 'DELETE' });
          expect(status, spelled).to.be.oneOf([200, 400, 403]);
          expect(cgiOf(seen), spelled).not.to.include('DELETE');
        }
      }
      const { seen } = await send('GET', '/orders/7');
      expect(cgiOf(seen)).to.include('HTTP_X_AUTH_USER').and.not.to.include('HTTP_AUTHORIZATION');
    });

    it('tells the app who is calling, whatever headers the caller asks it to remove', async () => {
      // E-08: a hop-by-hop header is removed by proxies (RFC 9110 §7.6.1).
      for (const names of [
        page.told.join(', '),
        page.told.join(', ').toUpperCase(),
        `close, ${page.told.join(', ')}`,
      ]) {
        const { seen } = await send('GET', '/orders/7', { Authorization: `Bearer ${token}`, Connection: names });
        const told = member(seen, 'told');
        expect(Object.keys(isObject(told) ? told : {}).sort(), names).to.deep.equal(page.told);
        expect(told).to.include({ 'x-auth-user': '-' });
      }
    });

    const { withToken } = page;
    if (withToken !== undefined) {
      it('passes the token on without the line that removes it', async () => {
        const passing = await startGateway(name, withToken(configuration(api.url)));
        try {
          expect(cgiOf((await send('GET', '/orders/7', undefined, passing.url)).seen)).to.include(token);
        } finally {
          await passing.stop();
        }
      });
    }

    const { keepQuery } = page;
    if (keepQuery !== undefined) {
      it('cannot be told another app by its caller, even with a configuration that keeps the query', async () => {
        expect((await send('GET', '/orders?app=nobody')).status).to.equal(200);
        expect((await send('GET', '/admin?app=everything')).status).to.equal(403);
        const kept = await startGateway(name, keepQuery(configuration(api.url)));
        try {
          const reply = await send('GET', '/admin?app=everything', undefined, kept.url);
          expect([reply.status, reply.seen]).to.deep.equal([400, undefined]);
          expect((await send('GET', '/orders', undefined, kept.url)).status).to.equal(200);
        } finally {
          await kept.stop();
        }
      });
    }

    it('refuses the next request after the policy is removed, and everything while Boxgate is down', async () => {
      expect((await send('GET', '/orders')).status).to.equal(200);
      await api.remove('shop', [{ kind: 'AccessPolicy', id: 'orders-read' }]);
      expect((await send('GET', '/orders')).status).to.equal(403);
      await api.declare('shop', [policy('all', { engine: 'allow', link })]);
      expect((await send('GET', '/orders')).status).to.equal(200);
      const closed = await startGateway(name, configuration('http://127.0.0.1:1'));
      try {
        const reply = await send('GET', '/orders', undefined, closed.url);
        expect([reply.status, reply.seen]).to.deep.equal([page.down, undefined]);
      } finally {
        await closed.stop();
      }
    });
  });
}

/** Returns spellings of a header that some software takes for it. */
function spellings(header: string): readonly string[] {
  return [header.replaceAll('-', '_'), header.replace('-', '_'), header.replace(/-(?=[^-]*$)/, '_')].concat(
    header.replaceAll('-', '.'),
    header.replace('-', '.').replaceAll('-', '_').toLowerCase(),
  );
}

/** Returns the headers that the app has got, named as CGI does; '' if no request has reached it. */
function cgiOf(seen: unknown): string {
  return seen === undefined ? '' : JSON.stringify(member(seen, 'cgi'));
}

/** Returns a configuration without the line that it says to delete for apps that check the token. */
export function withoutTokenLine(configuration: string): string {
  return configuration.replace(/.*Delete this line.*\n.*\n/, '');
}

function member(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}
