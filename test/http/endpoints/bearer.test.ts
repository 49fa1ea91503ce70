import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import { basic, claimsOf, headerOf, readReply, sendForm, textOf } from '../../oauth/requests.ts';
import type { Reply } from '../../oauth/requests.ts';
import { startApi } from '../../support/api.ts';
import type { DeclaredResource, TestApi } from '../../support/api.ts';

describe('a bearer token at the endpoints of its box', () => {
  const secret = generateClientSecret();
  let api: TestApi;

  before(async () => {
    api = await startApi();
    for (const box of ['default', 'other', 'strict']) await api.declare(box, resources(box));
  });
  after(() => api.stop());

  function resources(box: string): readonly DeclaredResource[] {
    const client = (id: string, client_credentials: object = {}) =>
      ({ kind: 'Client', id, secret, grant_types: ['client_credentials'], auth: { client_credentials } }) as const;
    const link = ['opaque', 'jwt', 'gone'].map((id) => ({ resourceType: 'Client', id }));
    return [
      client('opaque', { refresh_token: true }),
      client('jwt', { token_format: 'jwt' }),
      client('stranger'),
      { kind: 'AccessPolicy', id: 'all', engine: 'allow', link },
      ...(box === 'strict' ? [{ kind: 'Box', id: box, compatibility: { foreign_audience: false } } as const] : []),
    ];
  }

  async function issue(id: string, fields: Record<string, string> = {}, box = 'default'): Promise<Reply> {
    const url = `${api.url}/boxes/${box}/auth/token`;
    return sendForm(url, { grant_type: 'client_credentials', ...fields }, basic(id, secret));
  }

  async function tokenOf(id: string, fields: Record<string, string> = {}, box = 'default'): Promise<string> {
    return textOf(await issue(id, fields, box), 'access_token');
  }

  async function use(token: string, box = 'default', method = 'GET', path = '/Client/none'): Promise<Reply> {
    const headers = { Authorization: `Bearer ${token}` };
    return readReply(await fetch(`${api.url}/boxes/${box}${path}`, { method, headers }));
  }

  /** RFC 6750 section 3.1; the same answer whatever is wrong with a token. */
  function expectRefused({ status, headers, text }: Reply, token: string): void {
    expect(status).to.equal(401);
    expect(headers.get('www-authenticate')).to.match(/^Bearer realm="[a-z]+", error="invalid_token"/);
    if (token !== '') expect(text).not.to.contain(token);
  }

  for (const id of ['opaque', 'jwt']) {
    it(`is taken where a policy grants it (${id})`, async () => {
      const token = await tokenOf(id);
      expect((await use(token)).status).to.equal(404);
    });

    it(`S-01 T-32 is refused once its session was closed (${id})`, async () => {
      const token = await tokenOf(id);
      const closed = await use(token, 'default', 'DELETE', '/Session');
      expect(closed.status).to.equal(200);
      expect(closed.body).to.include({ resourceType: 'Session', status: 'closed', active: false });
      expectRefused(await use(token), token);
      expectRefused(await use(token, 'default', 'DELETE', '/Session'), token);
    });

    it(`S-02 closes its session once; a second time, and garbage in its place, get one and the same 401 (${id})`, async () => {
      const token = await tokenOf(id);
      const close = (text: string): Promise<Reply> => use(text, 'default', 'DELETE', '/Session');
      expect((await close(token)).status).to.equal(200);
      const [again, garbage] = [await close(token), await close('garbage')];
      expectRefused(again, token);
      expectRefused(garbage, 'garbage');
      const withoutId = (text: string): string => text.replace(/"id":"[^"]*"/, '');
      expect(withoutId(garbage.text)).to.equal(withoutId(again.text));
    });

    it(`X-18 is refused in another box that has the same client (${id})`, async () => {
      const token = await tokenOf(id);
      expectRefused(await use(token, 'other'), token);
    });

    it(`T-32 is refused once its client was deleted, also when that is created again (${id})`, async () => {
      const gone = {
        ...resources('default').find((resource) => resource.id === id),
        kind: 'Client',
        id: 'gone',
      } as const;
      await api.declare('default', [gone]);
      const token = await tokenOf('gone');
      expect((await use(token)).status).to.equal(404);
      await api.remove('default', [{ kind: 'Client', id: 'gone' }]);
      expectRefused(await use(token), token);
      await api.declare('default', [gone]);
      expectRefused(await use(token), token);
      expect((await use(await tokenOf('gone'))).status).to.equal(404);
    });

    it(`T-31 for another service is taken by the box's own endpoints, unless its settings say no (${id})`, async () => {
      const audience = 'https://resource.example';
      expect((await use(await tokenOf(id, { audience }))).status).to.equal(404);
      const token = await tokenOf(id, { audience }, 'strict');
      for (const [method, path] of [
        ['GET', '/Client/none'],
        ['DELETE', '/Session'],
      ] as const) {
        expectRefused(await use(token, 'strict', method, path), token);
      }
    });

    it(`T-31 for the box itself is taken also where its settings say so (${id})`, async () => {
      const audience = 'http://boxgate.test/boxes/strict';
      for (const fields of [{}, { audience }]) {
        expect((await use(await tokenOf(id, fields, 'strict'), 'strict')).status).to.equal(404);
      }
    });
  }

  it('S-02 that is missing is 401 without an error code (RFC 6750 section 3.1)', async () => {
    const reply = await readReply(await fetch(`${api.url}/boxes/default/Session`, { method: 'DELETE' }));
    expect(reply.status).to.equal(401);
    expect(reply.headers.get('www-authenticate'))
      .to.match(/^Bearer realm="default"/)
      .and.not.contain('error=');
  });

  it('is not a refresh token (T-45)', async () => {
    const token = textOf(await issue('opaque'), 'refresh_token');
    expect(token).to.match(/^bgr_/);
    expectRefused(await use(token), token);
  });

  it('is refused without a policy: 403, and no reason', async () => {
    const { status, text } = await use(await tokenOf('stranger'));
    expect(status).to.equal(403);
    expect(text).not.to.contain('stranger');
  });

  const attacks: Record<string, (jwt: string) => string> = {
    'whose algorithm became none': (jwt) => `${rewritten(jwt, { alg: 'none' })}.`,
    'signed again with HS256 and nothing': (jwt) => hmac(rewritten(jwt, { alg: 'HS256' }), ''),
    'with a kid that is a path': (jwt) => resigned(jwt, { kid: '../../etc/passwd' }),
    'with a kid that is SQL': (jwt) => resigned(jwt, { kid: "' OR 1=1 --" }),
    'with a key of its own': (jwt) => resigned(jwt, { jwk: { kty: 'oct', k: 'AAAA' } }),
    'with another subject': (jwt) => resigned(jwt, {}, { sub: 'admin' }),
    'with a longer life': (jwt) => resigned(jwt, {}, { exp: 9_999_999_999 }),
    'without a signature': (jwt) => jwt.replace(/[^.]+$/, ''),
    'cut short': (jwt) => jwt.slice(0, -2),
    'of 10 KB': (jwt) => resigned(jwt, { padding: 'x'.repeat(7_000) }),
  };
  for (const [what, attack] of Object.entries(attacks)) {
    it(`T-30 is refused as a JWT ${what}`, async () => {
      const token = attack(await tokenOf('jwt'));
      const headers = { Authorization: `Bearer ${token}` };
      const reply = await readReply(await fetch(`${api.url}/boxes/default/Client/none`, { headers }));
      expectRefused(reply, token);
    });
  }

  it('T-30 leaves no token in the log', async () => {
    const token = await tokenOf('jwt');
    await use(token);
    await use(resigned(token, { kid: 'canary' }));
    const log = api.logLines.join('\n');
    for (const text of [token, token.split('.')[2] ?? '', 'canary']) expect(log).not.to.contain(text);
  });
});

/** Header and claims with some of their members changed. */
function rewritten(jwt: string, header: object, claims: object = {}): string {
  const parts = [
    { ...headerOf(jwt), ...header },
    { ...claimsOf(jwt), ...claims },
  ];
  return parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
}

/** Changed, with the old signature. */
function resigned(jwt: string, header: object, claims: object = {}): string {
  return `${rewritten(jwt, header, claims)}.${jwt.split('.')[2] ?? ''}`;
}

function hmac(text: string, key: string): string {
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
}
