import { expect } from 'chai';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';

const ours = 'https://app.example';
const clients = 'http://127.0.0.1:5173';
const webView = 'capacitor://localhost';
const secret = 'of the client';

describe('scripts of other origins', () => {
  let api: TestApi;
  let token = '';

  before(async () => {
    api = await startApi();
    const client = { kind: 'Client', grant_types: ['client_credentials'], secret } as const;
    await api.declare('default', [
      { kind: 'Box', id: 'default', cors: { allowed_origins: [ours] } },
      { ...client, id: 'app', allowed_origins: [clients, webView] },
      { ...client, id: 'off', allowed_origins: ['https://off.example'], active: false },
      { kind: 'AccessPolicy', id: 'all', engine: 'allow', subjects: 'authenticated' },
    ]);
    await api.declare('bare', [{ ...client, id: 'app' }]);
    const reply = await call('POST', '/auth/token', ours, {
      grant_type: 'client_credentials',
      client_id: 'app',
      client_secret: secret,
    });
    token = String(Reflect.get(Object(await reply.json()), 'access_token'));
  });
  after(() => api.stop());

  function call(method: string, path: string, origin: string, body?: object, box = 'default'): Promise<Response> {
    const headers = {
      Origin: origin,
      ...(token !== '' && { Authorization: `Bearer ${token}` }),
      'Content-Type': 'application/json',
    };
    return fetch(`${api.url}/boxes/${box}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  }

  function preflight(path: string, origin: string, box = 'default'): Promise<Response> {
    const headers = {
      Origin: origin,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'authorization,traceparent,x-requested-with',
    };
    return fetch(`${api.url}/boxes/${box}${path}`, { method: 'OPTIONS', headers });
  }

  const allowing = ({ headers }: Response): string[] =>
    [...headers.keys()].filter((name) => name.startsWith('access-control-'));

  for (const [whose, origin] of [
    ['the box', ours],
    ['one of its clients', clients],
    ['one of its clients, an app in a web view,', webView],
  ] as const) {
    it(`may call the endpoints for programs from an origin that ${whose} lists, without cookies`, async () => {
      for (const path of ['/Session', '/users', '/auth/token', '/Session/x', '/AccessPolicy/$explain']) {
        const asked = await preflight(path, origin);
        expect([path, asked.status, asked.headers.get('access-control-allow-origin')]).to.deep.equal([
          path,
          204,
          origin,
        ]);
        expect(asked.headers.get('access-control-allow-headers')).to.equal(
          'authorization,traceparent,x-requested-with',
        );
        expect(asked.headers.get('vary')).to.equal('Origin');
        expect(asked.headers.has('access-control-allow-credentials')).to.equal(false);
      }
      const listed = await preflight('/Client/x', origin);
      expect(listed.headers.get('access-control-allow-methods')).to.equal('GET, PUT, PATCH, DELETE');
      const answer = await call('GET', '/Session?_result=array', origin);
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).to.deep.equal([200, origin]);
      expect(answer.headers.get('access-control-expose-headers')).to.contain('X-Total-Count').and.to.contain('ETag');
      expect(answer.headers.get('vary')).to.contain('Origin');
    });
  }

  it('may ask for the documents and the keys from everywhere, with any header', async () => {
    for (const path of ['openid-configuration', 'oauth-authorization-server', 'jwks.json']) {
      const asked = await preflight(`/.well-known/${path}`, 'https://anywhere.example');
      expect([asked.status, asked.headers.get('access-control-allow-origin')]).to.deep.equal([204, '*']);
      expect(asked.headers.get('access-control-allow-methods')).to.equal('GET');
      expect(asked.headers.get('access-control-allow-headers')).to.contain('traceparent');
      const read = await call('GET', `/.well-known/${path}`, 'https://anywhere.example');
      expect([read.status, read.headers.get('access-control-allow-origin')]).to.deep.equal([200, '*']);
    }
  });

  it('read what is wrong too', async () => {
    for (const [method, path, status] of [
      ['GET', '/Client/nobody', 404],
      ['GET', '/Client?x=1', 400],
      ['DELETE', '/Client', 405],
      ['POST', '/auth/introspect', 401],
    ] as const) {
      const answer = await call(method, path, ours, method === 'POST' ? {} : undefined);
      expect([path, answer.status, answer.headers.get('access-control-allow-origin')]).to.deep.equal([
        path,
        status,
        ours,
      ]);
    }
  });

  const strangers = [
    'https://evil.example',
    'https://app.example.evil.example',
    'http://app.example',
    `${ours}:444`,
  ].concat(['https://off.example', 'null', 'https://APP.example', `${ours}/`, 'x'.repeat(5000)]);
  for (const origin of strangers) {
    it(`may not from ${origin.slice(0, 40)}`, async () => {
      const asked = await preflight('/Session', origin);
      expect([asked.status, allowing(asked)]).to.deep.equal([204, []]);
      const answer = await call('GET', '/Session', origin);
      expect([answer.status, allowing(answer)]).to.deep.equal([200, []]);
    });
  }

  it('may not at a box that lists none', async () => {
    expect(allowing(await preflight('/Session', ours, 'bare'))).to.deep.equal([]);
  });

  it('A-14 may not call pages, from whatever origin', async () => {
    for (const path of [
      '/auth/authorize',
      '/auth/signin',
      '/auth/signup',
      '/auth/consent',
      '/auth/signout',
      '/auth/logout',
    ]) {
      const asked = await preflight(path, ours);
      expect([path, asked.status, allowing(asked)]).to.deep.equal([path, 204, []]);
      expect(allowing(await call('GET', path, ours))).to.deep.equal([]);
    }
  });

  it('may read the public documents from anywhere', async () => {
    const { headers } = await call('GET', '/.well-known/jwks.json', ours);
    expect(headers.get('access-control-allow-origin')).to.equal('*');
  });

  it('may no longer, with the next request, once the origin is taken away', async () => {
    await api.declare('bare', [{ kind: 'Box', id: 'bare', cors: { allowed_origins: [ours] } }]);
    expect((await preflight('/Session', ours, 'bare')).status).to.equal(204);
    await api.declare('bare', [{ kind: 'Box', id: 'bare', cors: { allowed_origins: [] } }]);
    expect(allowing(await preflight('/Session', ours, 'bare'))).to.deep.equal([]);
  });
});
