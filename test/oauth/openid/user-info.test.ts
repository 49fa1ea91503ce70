import { expect } from 'chai';
import { basic, readReply, sendForm, textOf } from '../requests.ts';
import type { Reply } from '../requests.ts';
import { ann, annsData, authorizePath, codeRequest, secret, startOpenIdApi } from './openid-api.ts';
import type { OpenIdApi } from './openid-api.ts';

describe('the userinfo endpoint', () => {
  let api: OpenIdApi;

  before(async () => {
    api = await startOpenIdApi();
  });
  after(() => api.stop());

  async function tokenFor(scope: string | undefined): Promise<string> {
    return textOf(await api.tokens({ scope }), 'access_token');
  }

  const bearer = (token: string): Record<string, string> => ({ Authorization: `Bearer ${token}` });

  async function post(body: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const url = `${api.url}/boxes/default/auth/userinfo`;
    return readReply(await fetch(url, { method: 'POST', headers: { ...type, ...headers }, body }));
  }

  const { name, given_name, family_name, birthdate, updated_at, address, phone_number, phone_number_verified } =
    annsData;
  const claims: readonly [scope: string, claims: object][] = [
    ['openid', {}],
    ['openid email', { email: ann.email, email_verified: false }],
    ['openid profile', { name, given_name, family_name, birthdate, updated_at, preferred_username: ann.email }],
    ['openid address', { address }],
    ['openid phone', { phone_number, phone_number_verified }],
  ];
  for (const [scope, expected] of claims) {
    it(`tells of the person what the scope ${scope} asks for, and no more`, async () => {
      const { status, body, headers } = await api.get('/auth/userinfo', bearer(await tokenFor(scope)));
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ sub: String(api.user), ...expected });
      expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
      expect(headers.get('cache-control')).to.equal('private, no-store');
    });
  }

  it('takes the token by POST, in the header or in the form, and in one place only', async () => {
    const token = await tokenFor('openid');
    const expected = { sub: String(api.user) };
    expect((await post('', bearer(token))).body).to.deep.equal(expected);
    expect((await post(`access_token=${token}`)).body).to.deep.equal(expected);
    expect((await post(`access_token=${token}`, bearer(token))).status).to.equal(400);
    expect((await post(`access_token=${token}&access_token=${token}`)).body['error']).to.equal('invalid_request');
    expect((await api.get(`/auth/userinfo?access_token=${token}`)).status).to.equal(400);
  });

  it('answers as RFC 6750 section 3.1 says when there is no token, or none that counts', async () => {
    const none = await api.get('/auth/userinfo');
    expect([none.status, none.headers.get('www-authenticate')]).to.deep.equal([401, 'Bearer realm="default"']);
    expect((await post('x=y')).status).to.equal(401);
    for (const reply of [
      await api.get('/auth/userinfo', bearer('bgt_nothing')),
      await api.get('/auth/userinfo', { Authorization: 'Basic abc' }),
      await post('access_token=a%0d%0ab'),
      await post('access_token=%C3%BC'),
    ]) {
      expect([reply.status, reply.body['error']]).to.deep.equal([401, 'invalid_token']);
      expect(reply.headers.get('www-authenticate')).to.contain('error="invalid_token"');
    }
  });

  it('reads a body as the other endpoints do, and needs none', async () => {
    const headers = bearer(await tokenFor('openid'));
    for (const [type, body, status] of [
      ['text/plain', '', 200],
      ['text/plain', 'x', 415],
      ['application/x-www-form-urlencoded', 'x=%ff', 400],
      ['application/x-www-form-urlencoded', `x=${'x'.repeat(70_000)}`, 413],
    ] as const) {
      expect((await post(body, { ...headers, 'Content-Type': type })).status, `${type} ${body}`).to.equal(status);
    }
  });

  it('may be read by scripts of an origin that is listed, and by no other (OpenID Connect Core section 5.3)', async () => {
    const listed = 'https://spa.example';
    await api.declare('default', [{ kind: 'Box', id: 'default', cors: { allowed_origins: [listed] } }]);
    const token = await tokenFor('openid email');
    const cross = ({ headers }: Pick<Reply, 'headers'>) =>
      Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-allow-')));
    const preflight = (Origin: string): Promise<Response> => {
      const asked = { 'Access-Control-Request-Method': 'GET', 'Access-Control-Request-Headers': 'authorization' };
      return fetch(`${api.url}/boxes/default/auth/userinfo`, { method: 'OPTIONS', headers: { Origin, ...asked } });
    };
    const allowed = await preflight(listed);
    expect([allowed.status, cross(allowed)]).to.deep.equal([
      204,
      {
        'access-control-allow-origin': listed,
        'access-control-allow-methods': 'GET, POST',
        'access-control-allow-headers': 'authorization',
      },
    ]);
    const read = await api.get('/auth/userinfo', { ...bearer(token), Origin: listed });
    expect(read.body).to.deep.equal({ sub: String(api.user), email: ann.email, email_verified: false });
    expect(cross(read)).to.deep.equal({ 'access-control-allow-origin': listed });
    const refused = await api.get('/auth/userinfo', { Origin: listed });
    expect([refused.status, cross(refused)]).to.deep.equal([401, { 'access-control-allow-origin': listed }]);
    const stranger = await preflight('https://evil.example');
    expect([stranger.status, cross(stranger)]).to.deep.equal([204, {}]);
    expect(cross(await api.get('/auth/userinfo', { ...bearer(token), Origin: 'https://evil.example' }))).to.deep.equal(
      {},
    );
    // A page for people: no script reads it.
    expect(cross(await api.get('/auth/logout', { Origin: listed }))).to.deep.equal({});
  });

  it('tells nothing to a token that is not for openid, or of no person', async () => {
    const url = `${api.url}/boxes/default/auth/token`;
    const fields = { grant_type: 'client_credentials', scope: 'openid' };
    const own = textOf(await sendForm(url, fields, basic('machine', secret)), 'access_token');
    for (const token of [await tokenFor('email'), own]) {
      const { status, body, headers } = await api.get('/auth/userinfo', bearer(token));
      expect([status, body['error']]).to.deep.equal([403, 'insufficient_scope']);
      expect(headers.get('www-authenticate')).to.contain('error="insufficient_scope", scope="openid"');
    }
  });

  // E-20: libraries that send no scope ask userinfo who it was.
  it('answers to a token that was requested without a scope, which has no id_token unless it is asked for', async () => {
    const { body } = await api.tokens({ scope: undefined });
    expect(body).to.include({ scope: 'openid boxgate' });
    expect(body).not.to.have.property('id_token');
    const { status, body: told } = await api.get('/auth/userinfo', bearer(String(body['access_token'])));
    expect([status, told]).to.deep.equal([200, { sub: String(api.user) }]);
    const refresh = (fields: Readonly<Record<string, string>>) =>
      sendForm(`${api.url}/boxes/default/auth/token`, {
        ...{ grant_type: 'refresh_token', client_id: 'own', refresh_token: String(body['refresh_token']) },
        ...fields,
      });
    const refreshed = await refresh({});
    expect(refreshed.body).to.include({ scope: 'openid boxgate' });
    expect(refreshed.body).not.to.have.property('id_token');
    const asked = await refresh({ scope: 'openid' });
    expect(asked.body).to.have.property('id_token');
  });

  it('U-07 tells nothing of a person who is disabled', async () => {
    const eve = await api.signedIn(api.eve);
    const reply = await api.redeem(await eve.get(authorizePath(codeRequest)));
    const token = textOf(reply, 'access_token');
    const { body } = await api.get('/auth/userinfo', bearer(token));
    await api.declare('default', [
      { kind: 'AccessPolicy', id: 'machine', engine: 'allow', link: [{ resourceType: 'Client', id: 'machine' }] },
    ]);
    const base = `${api.url}/boxes/default`;
    const machine = await sendForm(
      `${base}/auth/token`,
      { grant_type: 'client_credentials' },
      basic('machine', secret),
    );
    // Nor is the token worth anything when they are enabled again.
    for (const status of ['inactive', 'active']) {
      const changed = await fetch(`${base}/users/${String(body['sub'])}`, {
        method: 'PUT',
        headers: { ...bearer(textOf(machine, 'access_token')), 'Content-Type': 'application/json' },
        body: JSON.stringify({ status }),
      });
      expect(changed.status).to.equal(200);
      expect((await api.get('/auth/userinfo', bearer(token))).status).to.equal(401);
    }
  });

  it('tells nothing once the session is over, and tells a refreshed token as much as the first one', async () => {
    const first = await api.tokens({ scope: 'openid email' });
    const refreshed = await sendForm(`${api.url}/boxes/default/auth/token`, {
      grant_type: 'refresh_token',
      client_id: 'own',
      refresh_token: textOf(first, 'refresh_token'),
    });
    const token = textOf(refreshed, 'access_token');
    expect((await api.get('/auth/userinfo', bearer(token))).body).to.include({ email: ann.email });
    const url = `${api.url}/boxes/default/auth/revoke`;
    await sendForm(url, { token, client_id: 'own' });
    expect((await api.get('/auth/userinfo', bearer(token))).status).to.equal(401);
  });
});
