import { expect } from 'chai';
import { basic, sendForm, textOf } from '../../../oauth/requests.ts';
import type { DeclaredResource } from '../../../support/api.ts';
import { addUser, newBrowser } from '../../pages/browser.ts';
import type { Answer, Browser } from '../../pages/browser.ts';
import { sentences, startBoxApi } from '../box-api.ts';
import type { BoxApi } from '../box-api.ts';

const password = 'a long enough passphrase';
const back = 'https://app.example/back';
const files = 'https://files.example';
const secret = 'a secret of the client';
const auth = { implicit: { redirect_uri: back } };
const grant_types = ['implicit'];

/** An ordinary third-party app, one that may act for its users, and one for another audience. */
const clients: readonly DeclaredResource[] = [
  { kind: 'Client', id: 'third-party', grant_types, auth },
  { kind: 'Client', id: 'login-only', grant_types, auth, scope: ['openid', 'profile'] },
  { kind: 'Client', id: 'admin-tool', grant_types, auth, scope: ['openid', 'boxgate'] },
  {
    kind: 'Client',
    id: 'of-files',
    grant_types,
    auth: { implicit: { redirect_uri: back, audience: [files] } },
    scope: ['openid', 'boxgate'],
  },
  { kind: 'Client', id: 'legacy', grant_types: ['password'], secret, scope: ['openid', 'boxgate'] },
  { kind: 'Client', id: 'legacy-without-scope', grant_types: ['password'], secret },
];

const policies: readonly DeclaredResource[] = [
  { kind: 'AccessPolicy', id: 'admins', engine: 'allow', link: [{ resourceType: 'Group', id: 'admins' }] },
  { kind: 'AccessPolicy', id: 'everyone', engine: 'matcho', subjects: 'authenticated', matcho: { uri: '/Group' } },
  {
    kind: 'AccessPolicy',
    id: 'apps',
    engine: 'matcho',
    link: [{ resourceType: 'Client', id: 'login-only' }],
    matcho: { uri: '/Session' },
  },
  { kind: 'AccessPolicy', id: 'open', engine: 'matcho', subjects: 'anyone', matcho: { uri: '/Client/third-party' } },
];

describe('the rights of a user, in the token of an app', () => {
  let api: BoxApi;
  let admin = 0;
  let browser: Browser;
  let nth = 0;

  before(async () => {
    api = await startBoxApi();
    await api.declare('default', [{ kind: 'Box', id: 'default', bootstrap_admin: undefined }, ...clients, ...policies]);
    const group = await api.call('POST', '/Group', { body: { name: 'admins' } });
    const id: unknown = Reflect.get(Object(group.body), 'id');
    admin = await addUser(api, 'admin@shop.example', password);
    await api.call('PUT', `/users/${String(admin)}`, { body: { 'group-ids': [id] } });
  });
  after(() => api.stop());
  beforeEach(async () => {
    browser = newBrowser(api);
    await browser.submit('/auth/signin', { email: 'admin@shop.example', password });
  });

  const ask = (wish: Record<string, string>): Promise<Answer> =>
    browser.get(`/auth/authorize?${new URLSearchParams({ response_type: 'token', ...wish }).toString()}`);

  /**
   * Returns the parameters that the app receives; if the consent page is shown, the administrator allows the request.
   */
  async function answered(wish: Record<string, string>): Promise<URLSearchParams> {
    let { location } = await ask(wish);
    if (location.includes('/auth/consent')) location = (await browser.submit(location, { answer: 'allow' })).location;
    return new URLSearchParams(location.split('#')[1]);
  }

  const tokenOf = async (wish: Record<string, string>): Promise<string> =>
    (await answered(wish)).get('access_token') ?? '';

  /** Statuses of: reading users, creating a policy, what everyone may, what the client may, what anyone may. */
  async function statuses(token: string): Promise<readonly number[]> {
    nth += 1;
    const body = { engine: 'allow', subjects: 'anyone' };
    const replies = [
      await api.call('GET', '/users', { token }),
      await api.call('PUT', `/AccessPolicy/stolen-${String(nth)}`, { token, body }),
      await api.call('GET', '/Group', { token }),
      await api.call('GET', '/Session', { token }),
      await api.call('GET', '/Client/third-party', { token }),
    ];
    await api.call('DELETE', `/AccessPolicy/stolen-${String(nth)}`);
    return replies.map(({ status }) => status);
  }

  it('R-B1 are not in a token for openid: an administrator signs in, and the app reads no users and creates no policy', async () => {
    const token = await tokenOf({ client_id: 'third-party', scope: 'openid' });
    expect(await statuses(token)).to.deep.equal([403, 403, 403, 403, 200]);
  });

  it('R-B1 leave the app what its own policies grant', async () => {
    const token = await tokenOf({ client_id: 'login-only', scope: 'openid' });
    expect(await statuses(token)).to.deep.equal([403, 403, 403, 200, 200]);
  });

  it('R-B1 are in a token with the scope boxgate', async () => {
    const answer = await answered({ client_id: 'admin-tool', scope: 'openid boxgate' });
    expect(answer.has('scope')).to.equal(false);
    expect(await statuses(answer.get('access_token') ?? '')).to.deep.equal([200, 201, 200, 200, 200]);
  });

  for (const [client_id, scope] of [
    ['third-party', 'openid boxgate'],
    ['admin-tool', 'openid boxgate'],
    ['login-only', 'openid'],
  ] as const) {
    it(`R-B1 are the default scope where the client may request it: ${client_id}`, async () => {
      const answer = await answered({ client_id });
      expect(answer.get('scope')).to.equal(scope);
      const { body } = await api.call('GET', `/Grant/${String(admin)}.${client_id}?_elements=scope`);
      expect(Reflect.get(Object(body), 'scope')).to.equal(scope);
      const [users] = await statuses(answer.get('access_token') ?? '');
      expect(users).to.equal(scope === 'openid' ? 403 : 200);
    });
  }

  it('R-B1 are refused to a client that does not list the scope', async () => {
    expect((await ask({ client_id: 'login-only', scope: 'openid boxgate' })).location).to.contain(
      'error=invalid_scope',
    );
  });

  it('R-B1 are not in a token for another audience, whatever the box accepts', async () => {
    const token = await tokenOf({ client_id: 'of-files', scope: 'openid boxgate' });
    expect(await statuses(token)).to.deep.equal([403, 403, 403, 403, 200]);
  });

  it('R-B1 are in no token of the profile strict that was not consented to', async () => {
    await api.declare('default', [
      { kind: 'Box', id: 'default', compatibility: { profile: 'strict', implicit: true } },
    ]);
    const token = await tokenOf({ client_id: 'third-party', scope: 'openid' });
    const foreign = await tokenOf({ client_id: 'of-files', scope: 'openid boxgate' });
    const found = [await statuses(token), await statuses(foreign)];
    await api.declare('default', [{ kind: 'Box', id: 'default' }]);
    expect(found[0]).to.deep.equal([403, 403, 403, 403, 200]);
    expect(found[1]).to.deep.equal([401, 401, 401, 401, 401]);
  });

  const legacy: readonly [client: string, scope: string | undefined, status: number, users: number][] = [
    ['legacy', undefined, 200, 403],
    ['legacy', 'openid', 200, 403],
    ['legacy', 'openid boxgate', 200, 200],
    ['legacy-without-scope', undefined, 200, 403],
    ['legacy-without-scope', 'boxgate', 400, 401],
  ];
  for (const [client, scope, status, users] of legacy) {
    it(`R-B1 come with a password only for a declared client that lists the scope, on request: ${client}, ${String(scope)}`, async () => {
      const fields = { grant_type: 'password', username: 'admin@shop.example', password, scope };
      const reply = await sendForm(`${api.base}/auth/token`, fields, basic(client, secret));
      expect(reply.status, reply.text).to.equal(status);
      expect((await api.call('GET', '/users', { token: textOf(reply, 'access_token') || 'none' })).status).to.equal(
        users,
      );
    });
  }

  it('R-B1 come with no password for a client that nobody declares', async () => {
    const body = { grant_types: ['password'], secret, scope: ['openid', 'boxgate'] };
    await api.call('PUT', '/Client/undeclared', { body });
    const fields = { grant_type: 'password', username: 'admin@shop.example', password };
    const wide = await sendForm(`${api.base}/auth/token`, { ...fields, scope: 'boxgate' }, basic('undeclared', secret));
    expect(wide.body['error']).to.equal('invalid_scope');
    const narrow = await sendForm(`${api.base}/auth/token`, fields, basic('undeclared', secret));
    expect((await api.call('GET', '/users', { token: textOf(narrow, 'access_token') })).status).to.equal(403);
  });

  it('R-B1 are in no token of a client itself', async () => {
    const body = { grant_types: ['client_credentials'], secret, scope: ['read', 'boxgate'] };
    await api.call('PUT', '/Client/robot', { body });
    const get = (scope?: string) =>
      sendForm(`${api.base}/auth/token`, { grant_type: 'client_credentials', scope }, basic('robot', secret));
    expect((await get('boxgate')).body['error']).to.equal('invalid_scope');
    expect((await get('read')).status).to.equal(200);
    expect(Object.keys((await get()).body)).to.deep.equal(['token_type', 'access_token']);
  });

  describe('first_party', () => {
    const app = { grant_types, auth };
    const merge = { type: 'application/merge-patch+json' };
    const patch = { type: 'application/json-patch+json' };
    const writes: readonly [method: string, path: string, options: object][] = [
      ['PUT', '/Client/mine', { body: { ...app, first_party: true } }],
      ['POST', '/Client', { body: { id: 'mine-2', ...app, first_party: true } }],
      ['PATCH', '/Client/mine', { body: { first_party: true }, ...merge }],
      ['PATCH', '/Client/mine', { body: [{ op: 'add', path: '/first_party', value: true }], ...patch }],
    ];
    before(() => api.call('PUT', '/Client/mine', { body: app }));

    for (const [method, path, options] of writes) {
      it(`R-B1 is not true over REST: ${method} ${JSON.stringify(options)}`, async () => {
        const reply = await api.call(method, path, options);
        expect([reply.status, sentences(reply)]).to.deep.equal([
          422,
          ['first_party must not be true over REST: declare the client as a custom resource'],
        ]);
      });
    }

    it('R-B1 may be false over REST', async () => {
      const reply = await api.call('PUT', '/Client/mine', { body: { ...app, first_party: false } });
      expect(reply.body).to.include({ first_party: false });
    });

    it('R-B1 ends when the client loses its owner: its next user is asked, and it can be changed over REST', async () => {
      const client = { kind: 'Client', id: 'trusted', grant_types, auth, first_party: true } as const;
      await api.declare('default', [client]);
      expect((await ask({ client_id: 'trusted' })).location).to.contain('#access_token=');
      await api.remove('default', [{ ...client, retain: true }]);
      expect((await api.call('GET', '/Client/trusted')).body).to.include({ first_party: false });
      expect((await ask({ client_id: 'trusted' })).location).to.contain('/auth/consent?id=');
      expect((await api.call('PATCH', '/Client/trusted', { body: { name: 'x' }, ...merge })).status).to.equal(200);
    });
  });
});
