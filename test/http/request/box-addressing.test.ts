import { expect } from 'chai';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { sendRequest } from '../raw-http.ts';
import type { RawReply } from '../raw-http.ts';

const client = { kind: 'Client', id: 'c', grant_types: ['client_credentials'], secret: 'right' } as const;
const policy = {
  kind: 'AccessPolicy',
  id: 'p',
  engine: 'allow',
  link: [{ resourceType: 'Client', id: 'c' }],
} as const;

/** Asks under a Host, as a proxy or a Service passes it on. */
async function get(api: TestApi, host: string, target: string, token?: string): Promise<RawReply> {
  const headers: [string, string][] = [['Host', host]];
  if (token !== undefined) headers.push(['Authorization', `Bearer ${token}`]);
  return sendRequest(api.url, { method: 'GET', target, headers });
}

function field(reply: RawReply, name: string): unknown {
  const body: unknown = JSON.parse(reply.text);
  return typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
}

const document = '/.well-known/oauth-authorization-server';

/** Pattern of the paths below a resource type, in a box that may or may not exist. */
const isBelowType = /^(\/boxes\/[^/]*)?\/(Client|Session)(\/|$)/;

/** The body of the answer where nothing is: the path alone decides its form. */
function nothingAt(target: string): string {
  if (!isBelowType.test(target)) return '{"error":"not_found"}';
  const issue = [{ severity: 'error', code: 'not-found', diagnostics: 'There is nothing at this address' }];
  return JSON.stringify({ resourceType: 'OperationOutcome', id: '…', issue });
}

/** The id of the request is in each OperationOutcome. */
function withoutId(text: string): string {
  return text.replace(/"id":"[^"]*"/, '"id":"…"');
}

describe('where a box lives', () => {
  let api: TestApi;

  before(async () => {
    api = await startApi({ environment: { BOXGATE_PUBLIC_URL: 'https://auth.example/' } });
    await api.declare('shop', [
      client,
      policy,
      { kind: 'Box', id: 'box', hosts: ['shop.example', 'login.shop.example'], issuer: 'https://shop.example' },
    ]);
    await api.declare('deep', [
      client,
      { kind: 'Box', id: 'box', hosts: ['id.example', 'other.example'], issuer: 'https://id.example:8443/login/eu' },
    ]);
    await api.declare('plain', [client]);
    await api.declare('evil', [
      client,
      policy,
      { kind: 'Box', id: 'box', hosts: ['evil.example'], issuer: 'https://evil.example/boxes/plain' },
    ]);
    await api.declare('off', [client, { kind: 'Box', id: 'box', active: false, hosts: ['off.example'] }]);
  });
  after(() => api.stop());

  const shop = 'https://shop.example';
  const plain = 'https://auth.example/boxes/plain';
  const deep = 'https://id.example:8443/login/eu';
  const addresses: readonly (readonly [host: string, target: string, issuer: string])[] = [
    ['auth.example', `/boxes/plain${document}`, plain],
    ['auth.example:8443', `/boxes/plain${document}`, plain],
    ['AUTH.example.', `/boxes/plain${document}`, plain],
    ['auth.example', `${document}/boxes/plain`, plain],
    ['auth.example', '/.well-known/openid-configuration/boxes/plain', plain],
    ['auth.example', '/boxes/plain/.well-known/openid-configuration', plain],
    ['stranger.example', `/boxes/plain${document}`, plain],
    ['127.0.0.1:8080', `/boxes/plain${document}`, plain],
    ['[::1]:8080', `/boxes/plain${document}`, plain],
    ['localhost', `/boxes/plain${document}`, plain],
    ['boxgate-api', `/boxes/plain${document}`, plain],
    ['boxgate-api.boxgate-system.svc.cluster.local', `/boxes/plain${document}`, plain],
    ['boxgate.plain.svc', document, plain],
    ['boxgate.plain.svc:8080', document, plain],
    ['boxgate.plain.svc.cluster.local', document, plain],
    ['boxgate.plain.svc.cluster.local:80', document, plain],
    ['auth.example', `/boxes/shop${document}`, shop],
    ['auth.example', `${document}/boxes/shop`, shop],
    ['shop.example', document, shop],
    ['SHOP.example:443', document, shop],
    ['login.shop.example', document, shop],
    ['boxgate.shop.svc', document, shop],
    ['id.example:8443', `${document}/login/eu`, deep],
    ['id.example', '/.well-known/openid-configuration/login/eu', deep],
    ['id.example', `/login/eu${document}`, deep],
    ['id.example', document, deep],
    ['other.example', document, deep],
    ['boxgate.deep.svc', document, deep],
    ['auth.example', `/boxes/deep${document}`, deep],
  ];
  for (const [host, target, issuer] of addresses) {
    it(`${host} ${target}: the box of ${issuer}`, async () => {
      const reply = await get(api, host, target);
      expect(reply.status).to.equal(200);
      expect(field(reply, 'issuer')).to.equal(issuer);
      for (const name of ['token_endpoint', 'jwks_uri', 'introspection_endpoint', 'revocation_endpoint']) {
        expect(field(reply, name), name).to.match(new RegExp(`^${issuer}/`));
      }
      expect(reply.whole.replaceAll(deep, '')).not.to.match(/svc|stranger|127\.0\.0\.1|localhost|:8/);
    });
  }

  it('every address in the metadata of an issuer with a path answers below that path', async () => {
    const metadata = await get(api, 'id.example', `${document}/login/eu`);
    const path = (name: string) => String(field(metadata, name)).replace('https://id.example:8443', '');
    expect((await get(api, 'id.example', path('jwks_uri'))).status).to.equal(200);
    expect((await get(api, 'id.example', '/login/eu/Client')).status).to.equal(401);
    const token = await sendRequest(api.url, {
      method: 'POST',
      target: path('token_endpoint'),
      headers: [
        ['Host', 'id.example'],
        ['Authorization', `Basic ${btoa('c:right')}`],
        ['Content-Type', 'application/x-www-form-urlencoded'],
      ],
      body: 'grant_type=client_credentials',
    });
    expect(token.status).to.equal(200);
  });

  it('an unknown box, an unknown host and an unknown path get the same bytes', async () => {
    const nowhere: readonly (readonly [string, string])[] = [
      ['auth.example', '/boxes/plain/nothing'],
      ['auth.example', '/nothing'],
      ['auth.example', '/'],
      ['auth.example', document],
      ['auth.example', `/boxes/none${document}`],
      ['auth.example', `${document}/boxes/none`],
      ['auth.example', '/boxes/none/Client'],
      ['auth.example', '/boxes/none/Client/%ff'],
      ['auth.example', '/boxes/none/auth/token'],
      ['auth.example', '/boxes/none/nothing'],
      ['auth.example', '/boxes/none'],
      ['auth.example', '/boxes/None/Client'],
      ['boxgate.none.svc', document],
      ['boxgate.none.svc', '/Client'],
      ['boxgate.plain.svc', '/boxes/plain/Client'],
      ['shop.example', '/boxes/plain/Client'],
      ['stranger.example', document],
      ['shop.example.evil.example', document],
      ['x.shop.example', document],
      ['plain.svc', document],
      ['boxgate.plain.svc.evil.example', document],
      ['boxgate-api.plain.svc', document],
      ['plain', document],
      ['evil.example', '/boxes/plain/Client'],
      ['evil.example', `/boxes/plain${document}`],
      ['evil.example', `${document}/boxes/plain`],
      ['id.example', `${document}/login`],
      ['id.example', '/login/europe/Client'],
      ['other.example', '/login/eu/Client'],
      ['boxgate.deep.svc', '/login/eu/Client'],
    ];
    const heads = new Set<string>();
    for (const [host, target] of nowhere) {
      const { status, text, whole } = await get(api, host, target, 'bgt_x');
      expect([status, withoutId(text)], `${host} ${target}`).to.deep.equal([404, nothingAt(target)]);
      if (!isBelowType.test(target)) heads.add(whole.replace(/^(Date|X-Request-Id): .*$/gm, '$1'));
    }
    expect(heads.size, [...heads].join('\n')).to.equal(1);
  });

  it('an unknown box gets them whatever is sent to it', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']) {
      for (const path of ['/Client', '/Client/x', '/Session', '/auth/token', '/auth/revoke', document]) {
        const reply = await sendRequest(api.url, {
          method,
          target: `/boxes/none${path}`,
          headers: [
            ['Authorization', 'Basic eDp5'],
            ['Content-Type', 'text/plain'],
          ],
          ...(method === 'TRACE' ? {} : { body: 'x'.repeat(20_000) }),
        });
        const found = [reply.status, withoutId(reply.text)];
        expect(found, `${method} ${path}`).to.deep.equal([404, nothingAt(`/boxes/none${path}`)]);
      }
    }
  });

  it('a box that is switched off answers as before, but lets nobody in', async () => {
    expect((await get(api, 'off.example', document)).status).to.equal(200);
    const response = await fetch(`${api.url}/boxes/off/auth/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa('c:right')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    expect(response.status).to.equal(401);
  });

  it('Location and the links of a search begin with the issuer, whatever Host was asked', async () => {
    const token = await accessToken(api, 'shop');
    for (const host of ['shop.example', 'login.shop.example', 'boxgate.shop.svc']) {
      const found = await get(api, host, '/Client?_count=1&_result=array', token);
      expect(found.status).to.equal(200);
      for (const [, url] of (found.headers.get('link') ?? '').matchAll(/<([^>]+)>/g)) {
        expect(url).to.match(/^https:\/\/shop\.example\/Client\?/);
      }
      const made = await sendRequest(api.url, {
        method: 'PUT',
        target: `/AccessPolicy/made-at-${host}`,
        headers: [
          ['Host', host],
          ['Authorization', `Bearer ${token}`],
          ['Content-Type', 'application/json'],
        ],
        body: '{"engine":"allow"}',
      });
      expect(made.headers.get('location')).to.equal(`https://shop.example/AccessPolicy/made-at-${host}`);
    }
  });
});

describe('where a box lives in standalone mode', () => {
  let api: TestApi;

  before(async () => {
    api = await startApi({ environment: { BOXGATE_STANDALONE: 'true', BOXGATE_PUBLIC_URL: 'http://localhost:8080' } });
  });
  after(() => api.stop());

  it('is the root while there is just one', async () => {
    expect((await get(api, 'localhost', document)).status, 'none').to.equal(404);
    await api.declare('shop', [client]);
    const only = await get(api, 'localhost', document);
    expect([only.status, field(only, 'issuer')]).to.deep.equal([200, 'http://localhost:8080/boxes/shop']);
    for (const path of ['/Client', '/boxes/shop/Client']) {
      expect((await get(api, '127.0.0.1:8080', path)).status, path).to.equal(401);
    }
    await api.declare('second', [client]);
    for (const path of [document, '/Client', '/auth/token']) {
      expect((await get(api, 'localhost', path)).status, path).to.equal(404);
    }
    expect((await get(api, 'localhost', '/boxes/shop/Client')).status).to.equal(401);
    await api.remove('second', [client]);
    expect((await get(api, 'localhost', document)).status).to.equal(200);
  });
});

async function accessToken(api: TestApi, box: string): Promise<string> {
  const response = await fetch(`${api.url}/boxes/${box}/auth/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa('c:right')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const body: unknown = await response.json();
  return typeof body === 'object' && body !== null ? String(Reflect.get(body, 'access_token')) : '';
}
