import { createHash, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import { countActive } from '../../api/db/box/session-count.ts';
import { createPool, defaultLimits } from '../../api/db/core/pool.ts';
import { inBox } from '../../api/db/core/transaction.ts';
import { isObject } from '../../crds/path.ts';
import { addUser, issuerOf, newBrowser } from '../http/pages/browser.ts';
import type { Answer, Browser } from '../http/pages/browser.ts';
import { complaints, startBoxApi } from '../http/resources/box-api.ts';
import type { BoxApi } from '../http/resources/box-api.ts';
import { basic, sendForm, textOf } from './requests.ts';
import type { Fields, Reply } from './requests.ts';

const ann = { email: 'ann@shop.example', password: 'a long enough passphrase' };
const verifier = randomBytes(32).toString('base64url');
const challenge = createHash('sha256').update(verifier).digest('base64url');
const loopback = 'http://127.0.0.1:43210/callback';
const secret = generateClientSecret();
const client = { kind: 'Client', grant_types: ['authorization_code'] } as const;

/** The path of a request for a code of a client. */
function codePath(client_id: string, redirect_uri: string, over: Readonly<Record<string, string>> = {}): string {
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
  const fields = { response_type: 'code', client_id, redirect_uri, scope: 'openid boxgate', ...pkce, ...over };
  return `/auth/authorize?${new URLSearchParams(fields).toString()}`;
}

/** The parameters in the query of the address that a browser is sent to. */
function answered({ location }: Answer): Record<string, string> {
  return Object.fromEntries(new URL(location).searchParams);
}

describe('the built-in clients of a box', () => {
  let api: BoxApi;
  let boxes = 0;

  before(async () => {
    api = await startBoxApi({ BOXGATE_FAILURES_PER_CLIENT: '100000', BOXGATE_FAILURES_PER_BOX: '100000' });
  });
  after(() => api.stop());

  /** A box of a test's own, with a user who may do everything there. */
  async function newBox(settings: Readonly<Record<string, unknown>> = {}): Promise<{ box: string; user: number }> {
    boxes += 1;
    const box = `box-${String(boxes)}`;
    const rights = { kind: 'AccessPolicy', id: 'all', engine: 'allow', subjects: 'authenticated' } as const;
    const app = { kind: 'Client', id: 'app', grant_types: [], secret } as const;
    await api.declare(box, [{ kind: 'Box', id: box, ...settings }, rights, app]);
    return { box, user: await addUser(api, ann.email, ann.password, box) };
  }

  async function signedIn(box: string): Promise<Browser> {
    const browser = newBrowser(api, box);
    await browser.submit('/auth/signin', ann);
    return browser;
  }

  const redeem = (box: string, code: string, fields: Fields): Promise<Reply> =>
    sendForm(`${api.url}/boxes/${box}/auth/token`, {
      grant_type: 'authorization_code',
      code,
      code_verifier: verifier,
      ...fields,
    });

  async function uiTokens(box: string, issuer = issuerOf(box)): Promise<Reply> {
    const redirect_uri = `${issuer}/ui/`;
    const answer = await (await signedIn(box)).get(codePath('boxgate.ui', redirect_uri));
    return redeem(box, answered(answer)['code'] ?? '', { client_id: 'boxgate.ui', redirect_uri });
  }

  /** Answers the consent page of `boxgate.cli`; returns the code. */
  async function cliCode(browser: Browser, redirect_uri = loopback): Promise<string> {
    const asked = await browser.get(codePath('boxgate.cli', redirect_uri));
    expect(asked.location).to.contain('/auth/consent?id=');
    return answered(await browser.submit(asked.location, { answer: 'allow' }))['code'] ?? '';
  }

  async function cliTokens(box: string): Promise<Reply> {
    const code = await cliCode(await signedIn(box));
    return redeem(box, code, { client_id: 'boxgate.cli', redirect_uri: loopback });
  }

  async function statusOf(box: string, token: string, url = api.url): Promise<number> {
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch(`${url}/boxes/${box}/users`, { headers });
    await response.text();
    return response.status;
  }

  for (const profile of ['default', 'strict']) {
    const settings = profile === 'strict' ? { compatibility: { profile } } : {};

    it(`boxgate.ui gets a user's token by code and PKCE without consent, profile ${profile}`, async () => {
      const { box } = await newBox(settings);
      const tokens = await uiTokens(box);
      const { status, body } = tokens;
      expect([status, body['token_type'], body['expires_in']]).to.deep.equal([200, 'Bearer', 3600]);
      expect(body).to.have.property('id_token');
      expect(body).not.to.have.property('refresh_token');
      expect(await statusOf(box, textOf(tokens, 'access_token'))).to.equal(200);
    });

    it(`boxgate.cli gets one on a loopback address, with consent each time, profile ${profile}`, async () => {
      const { box } = await newBox(settings);
      const browser = await signedIn(box);
      for (const redirect_uri of [loopback, 'http://[::1]:5000/callback', loopback]) {
        const code = await cliCode(browser, redirect_uri);
        const tokens = await redeem(box, code, { client_id: 'boxgate.cli', redirect_uri });
        expect(tokens.status).to.equal(200);
        expect(await statusOf(box, textOf(tokens, 'access_token'))).to.equal(200);
      }
    });

    it(`the refresh token of boxgate.cli rotates, profile ${profile}`, async () => {
      const { box } = await newBox(settings);
      const first = textOf(await cliTokens(box), 'refresh_token');
      const url = `${api.url}/boxes/${box}/auth/token`;
      const fields = { grant_type: 'refresh_token', client_id: 'boxgate.cli' };
      const next = await sendForm(url, { ...fields, refresh_token: first });
      expect(next.status).to.equal(200);
      expect(textOf(next, 'refresh_token')).not.to.equal(first);
      expect(await statusOf(box, textOf(next, 'access_token'))).to.equal(200);
    });
  }

  it('other redirect URIs, other grants and requests without PKCE are refused', async () => {
    const { box } = await newBox();
    const browser = await signedIn(box);
    const strange: readonly (readonly [string, string])[] = [
      ['boxgate.ui', 'https://app.example/ui/'],
      ['boxgate.ui', `${issuerOf(box)}/ui`],
      ['boxgate.ui', `${issuerOf('default')}/ui/`],
      ['boxgate.ui', loopback],
      ['boxgate.cli', 'http://127.0.0.1:1/other'],
      ['boxgate.cli', 'http://localhost:43210/callback'],
      ['boxgate.cli', `${issuerOf(box)}/ui/`],
      ['boxgate.x', loopback],
    ];
    for (const [id, uri] of strange) expect((await browser.get(codePath(id, uri))).status).to.equal(400);
    const loose = await browser.get(codePath('boxgate.ui', `${issuerOf(box)}/ui/`, { code_challenge: '' }));
    expect(answered(loose)['error']).to.equal('invalid_request');
    const implicit = await browser.get(codePath('boxgate.ui', `${issuerOf(box)}/ui/`, { response_type: 'token' }));
    expect(answered({ ...implicit, location: implicit.location.replace('#', '?') })['error']).to.be.oneOf([
      'unauthorized_client',
      'unsupported_response_type',
    ]);
    const wider = await browser.get(codePath('boxgate.ui', `${issuerOf(box)}/ui/`, { scope: 'openid groups' }));
    expect(answered(wider)['error']).to.equal('invalid_scope');
    for (const grant_type of ['client_credentials', 'password']) {
      const fields = { grant_type, client_id: 'boxgate.cli', username: ann.email, password: ann.password };
      const { status } = await sendForm(`${api.url}/boxes/${box}/auth/token`, fields);
      expect([400, 401]).to.include(status);
    }
  });

  it('prompt=none gives boxgate.ui a code again, and login_required after the sign-out', async () => {
    const { box } = await newBox();
    const browser = await signedIn(box);
    const path = codePath('boxgate.ui', `${issuerOf(box)}/ui/`, { prompt: 'none' });
    expect(answered(await browser.get(path))).to.have.property('code');
    expect(answered(await newBrowser(api, box).get(path))['error']).to.equal('login_required');
  });

  it('signing out with the id_token of boxgate.ui returns to the UI', async () => {
    const { box } = await newBox();
    const id_token_hint = textOf(await uiTokens(box), 'id_token');
    const query = new URLSearchParams({ id_token_hint, post_logout_redirect_uri: `${issuerOf(box)}/ui/` });
    const browser = await signedIn(box);
    const answer = await browser.get(`/auth/logout?${query.toString()}`);
    expect([answer.status, answer.location]).to.deep.equal([303, `${issuerOf(box)}/ui/`]);
  });

  it('the redirect URI of boxgate.ui follows the issuer of its box', async () => {
    const { box } = await newBox();
    const browser = await signedIn(box);
    const before = answered(await browser.get(codePath('boxgate.ui', `${issuerOf(box)}/ui/`)))['code'] ?? '';
    await api.declare(box, [{ kind: 'Box', id: box, issuer: 'https://id.example/login' }]);
    const old = { client_id: 'boxgate.ui', redirect_uri: `${issuerOf(box)}/ui/` };
    expect((await redeem(box, before, old)).body).to.deep.include({ error: 'invalid_grant' });
    expect((await browser.get(codePath('boxgate.ui', `${issuerOf(box)}/ui/`))).status).to.equal(400);
    const other = newBrowser(api, box, 'https://id.example/login');
    expect((await other.get(codePath('boxgate.ui', 'https://id.example/login/ui/'))).status).to.equal(303);
  });

  it('lifetimes are at most those of the Box', async () => {
    const { box } = await newBox({ tokens: { default_access_token_expiration: 60, max_refresh_lifetime: 120 } });
    const tokens = await cliTokens(box);
    expect(tokens.body['expires_in']).to.equal(60);
    const refresh = await sendForm(
      `${api.url}/boxes/${box}/auth/introspect`,
      { token: textOf(tokens, 'refresh_token') },
      basic('app', secret),
    );
    expect(refresh.body).to.deep.include({ active: true, client_id: 'boxgate.cli' });
    expect(Number(refresh.body['exp']) - Date.now() / 1000).to.be.within(0, 120);
  });

  const withdrawals: Readonly<Record<string, (box: string, user: number, token: string) => Promise<unknown>>> = {
    'the box is disabled': (box) => api.declare(box, [{ kind: 'Box', id: box, active: false }]),
    'the user is disabled': async (box, user, token) => {
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
      const body = JSON.stringify({ status: 'inactive' });
      await fetch(`${api.url}/boxes/${box}/users/${String(user)}`, { method: 'PUT', headers, body });
    },
    'the sessions of the box are revoked': (box) =>
      api.declare(box, [{ kind: 'Box', id: box, revoke_sessions_before: new Date().toISOString() }]),
    'its session is closed': (box, _user, token) =>
      fetch(`${api.url}/boxes/${box}/Session`, { method: 'DELETE', headers: { Authorization: `Bearer ${token}` } }),
    'the token is revoked': (box, _user, token) =>
      sendForm(`${api.url}/boxes/${box}/auth/revoke`, { token, client_id: 'boxgate.cli' }),
    'the consent is removed': (box, user, token) =>
      fetch(`${api.url}/boxes/${box}/Grant/${String(user)}.boxgate.cli`, {
        method: 'DELETE',
        headers: { Authorization: `Bearer ${token}` },
      }),
  };
  for (const [what, withdraw] of Object.entries(withdrawals)) {
    it(`a token of boxgate.cli and its refresh token are not valid after ${what}`, async () => {
      const { box, user } = await newBox();
      const tokens = await cliTokens(box);
      const token = textOf(tokens, 'access_token');
      expect(await statusOf(box, token)).to.equal(200);
      await withdraw(box, user, token);
      expect(await statusOf(box, token)).to.equal(401);
      const refresh_token = textOf(tokens, 'refresh_token');
      const fields = { grant_type: 'refresh_token', client_id: 'boxgate.cli', refresh_token };
      expect((await sendForm(`${api.url}/boxes/${box}/auth/token`, fields)).body['error']).to.equal('invalid_grant');
    });
  }

  it('a code, a token and a refresh token of one box are nothing in another', async () => {
    const [{ box }, { box: other }] = [await newBox(), await newBox()];
    const code = await cliCode(await signedIn(box));
    const request = { client_id: 'boxgate.cli', redirect_uri: loopback };
    expect((await redeem(other, code, request)).body['error']).to.equal('invalid_grant');
    const tokens = await cliTokens(box);
    expect(await statusOf(other, textOf(tokens, 'access_token'))).to.equal(401);
    const fields = { grant_type: 'refresh_token', client_id: 'boxgate.cli' };
    const refresh_token = textOf(tokens, 'refresh_token');
    const refreshed = await sendForm(`${api.url}/boxes/${other}/auth/token`, { ...fields, refresh_token });
    expect(refreshed.body['error']).to.equal('invalid_grant');
  });

  it('their sessions are found by client', async () => {
    await addUser(api, ann.email, ann.password);
    expect((await uiTokens('default')).status).to.equal(200);
    const { body } = await api.call('GET', '/Session?client=boxgate.ui&status=active&_result=array');
    expect(body).to.have.length(1);
    expect(body).to.have.nested.property('[0].client').that.deep.equals({ resourceType: 'Client', id: 'boxgate.ui' });
  });

  it('their sessions count towards the quota of the box', async () => {
    const { box } = await newBox();
    for (let nth = 0; nth < 2; nth += 1) expect((await cliTokens(box)).status).to.equal(200);
    const pool = createPool(api.databaseOf(box).apiUrl, { ...defaultLimits, connections: 1 }, 'test', () => undefined);
    const active = await inBox(pool, box, 'snapshot', (connection) => countActive(connection, box, Date.now(), 10));
    await pool.end();
    expect(active).to.equal(2);
  });

  describe('over REST', () => {
    it('can be read alone, and lists do not have them', async () => {
      const ui = await api.call('GET', '/Client/boxgate.ui');
      expect(ui.status).to.equal(200);
      expect(ui.body).to.deep.include({ id: 'boxgate.ui', first_party: true, scope: ['openid', 'boxgate', 'email'] });
      const etag = ui.headers.get('etag') ?? '';
      const again = await api.call('GET', '/Client/boxgate.ui', { headers: { 'If-None-Match': etag } });
      expect(again.status).to.equal(304);
      const { body } = await api.call('GET', '/Client?_result=array');
      expect(JSON.stringify(body)).not.to.contain('boxgate.');
      expect((await api.call('GET', '/Client/boxgate.x')).status).to.equal(404);
    });

    it('an id that begins with boxgate. is refused, and the message names the field', async () => {
      const body = { resourceType: 'Client', grant_types: [] };
      for (const id of ['boxgate.ui', 'boxgate.cli', 'boxgate.anything']) {
        const put = await api.call('PUT', `/Client/${id}`, { body });
        const post = await api.call('POST', '/Client', { body: { ...body, id } });
        expect([put.status, post.status]).to.deep.equal([422, 422]);
        expect([complaints(put), complaints(post)]).to.deep.equal([['id'], ['id']]);
      }
    });

    it('a built-in client cannot be changed or deleted', async () => {
      const headers = { 'Content-Type': 'application/merge-patch+json' };
      const patched = await api.call('PATCH', '/Client/boxgate.cli', { body: '{"active":false}', headers });
      expect([patched.status, complaints(patched)]).to.deep.equal([409, ['id']]);
      const deleted = await api.call('DELETE', '/Client/boxgate.cli');
      expect([deleted.status, complaints(deleted)]).to.deep.equal([409, ['id']]);
    });

    it('a policy may link one, and $explain knows it', async () => {
      const question = { subject: { client: 'boxgate.cli' }, request: { 'request-method': 'get', uri: '/users' } };
      expect((await api.call('POST', '/AccessPolicy/$explain', { body: question })).status).to.equal(200);
      const links = [
        { resourceType: 'Client', id: 'boxgate.cli' },
        { resourceType: 'Client', id: 'boxgate.x' },
      ];
      const response = await fetch(`${api.managementUrl}/boxes/default/missing-links`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${api.managementKey}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ links }),
      });
      const found: unknown = await response.json();
      expect(isObject(found) && found['missing']).to.deep.equal([links[1]]);
    });
  });

  it('a client that had the id before it was reserved stays as it is, until it is deleted', async () => {
    const { box } = await newBox();
    const back = 'https://app.example/back';
    const auth = { authorization_code: { redirect_uri: back } };
    // As an operator of the release before declares it.
    await api.declare(box, [{ ...client, id: 'boxgate.ui', first_party: true, auth, scope: ['openid', 'boxgate'] }]);
    const browser = await signedIn(box);
    const code = answered(await browser.get(codePath('boxgate.ui', back)))['code'] ?? '';
    const token = textOf(await redeem(box, code, { client_id: 'boxgate.ui', redirect_uri: back }), 'access_token');
    expect((await browser.get(codePath('boxgate.ui', `${issuerOf(box)}/ui/`))).status).to.equal(400);
    expect(await statusOf(box, token)).to.equal(200);
    await api.remove(box, [{ kind: 'Client', id: 'boxgate.ui' }]);
    expect(await statusOf(box, token)).to.equal(401);
    expect((await uiTokens(box)).status).to.equal(200);
    expect(await statusOf(box, token)).to.equal(401);
  });

  it('add no signing key to a box whose own key signs their id_tokens', async () => {
    const { box } = await newBox();
    await uiTokens(box);
    const response = await fetch(`${api.url}/boxes/${box}/.well-known/jwks.json`);
    expect(await response.json())
      .to.have.property('keys')
      .with.length(1);
  });
});
