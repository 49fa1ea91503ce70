import { expect } from 'chai';
import type { allows } from '../../crds/compatibility.ts';
import { boxSchema } from '../../crds/box.ts';
import { newBrowser, issuerOf } from './pages/browser.ts';
import { adminSecret, startBoxApi, stringIn } from './resources/box-api.ts';
import type { BoxApi } from './resources/box-api.ts';

type Switch = Parameters<typeof allows>[1];

const ann = { email: 'ann@mail.example', password: 'correct horse' };

/** For each switch a request that its laxness lets through: whether it did. */
const probes: Readonly<Record<Switch, (api: BoxApi, user: string) => Promise<boolean>>> = {
  async implicit(api) {
    const browser = newBrowser(api);
    const metadata = await api.call('GET', '/.well-known/oauth-authorization-server', { token: null });
    const { location } = await browser.get('/auth/authorize?response_type=token&client_id=people');
    const isOffered = location.startsWith(`${issuerOf('default')}/auth/signin?`);
    if (!isOffered) expect(location).to.match(/^https:\/\/app\.example\/back#error=unsupported_response_type&/);
    const grants: unknown = Reflect.get(Object(metadata.body), 'grant_types_supported');
    expect(Array.isArray(grants) && grants.includes('implicit'), 'the metadata say so').to.equal(isOffered);
    return isOffered;
  },
  async query_token(api) {
    const { status } = await fetch(`${api.base}/users?access_token=${api.adminToken}`);
    return oneOf(status, 200, 400);
  },
  async password_hash(api, user) {
    const { body } = await api.call('GET', `/users/${user}`);
    return 'password' in Object(body);
  },
  async password_change_without_old(api, user) {
    // The same again: the probes that follow sign in with it.
    const { status } = await api.call('PUT', `/users/${user}`, { body: { password: ann.password } });
    return oneOf(status, 200, 422);
  },
  async password_grant(api) {
    const metadata = await api.call('GET', '/.well-known/oauth-authorization-server', { token: null });
    const body = { grant_type: 'password', client_id: 'desk', username: ann.email, password: ann.password };
    const reply = await api.call('POST', '/auth/token', { body, token: null });
    const isGranted = oneOf(reply.status, 200, 400);
    if (!isGranted) expect(reply.body).to.include({ error: 'unsupported_grant_type' });
    const grants: unknown = Reflect.get(Object(metadata.body), 'grant_types_supported');
    expect(Array.isArray(grants) && grants.includes('password'), 'the metadata say so').to.equal(isGranted);
    return isGranted;
  },
  async refresh_without_secret(api) {
    const refresh_token = stringIn(await api.requestToken('admin', adminSecret), 'refresh_token');
    const body = { grant_type: 'refresh_token', client_id: 'admin', refresh_token };
    const { status } = await api.call('POST', '/auth/token', { body, token: null });
    return oneOf(status, 200, 401);
  },
  async foreign_audience(api) {
    const token = stringIn(await api.requestToken('elsewhere', adminSecret), 'access_token');
    const { status } = await api.call('GET', '/Client/admin', { token });
    return oneOf(status, 200, 401);
  },
};

function oneOf(status: number, allowed: number, refused: number): boolean {
  expect(status).to.be.oneOf([allowed, refused]);
  return status === allowed;
}

const switches = Object.keys(boxSchema.properties.compatibility.properties).filter(
  (name): name is Switch => name in probes,
);
const strict = { profile: 'strict' };
const all = (value: boolean) => Object.fromEntries(switches.map((name) => [name, value]));

/** Settings of a box, and what each of them allows. */
const settings: readonly [compatibility: object, allowed: object][] = [
  [{}, all(true)],
  [strict, all(false)],
  [all(true), all(true)],
  ...switches.flatMap((name): [object, object][] => [
    [{ [name]: false }, { ...all(true), [name]: false }],
    [
      { ...strict, [name]: true },
      { ...all(false), [name]: true },
    ],
  ]),
];

describe('compatibility of a box', () => {
  let api: BoxApi;
  let user: string;

  before(async () => {
    api = await startBoxApi();
    const machine = { kind: 'Client', grant_types: ['client_credentials'], secret: adminSecret } as const;
    await api.declare('default', [
      { ...machine, id: 'admin', auth: { client_credentials: { refresh_token: true } } },
      { kind: 'Client', id: 'desk', grant_types: ['password'] },
      { ...machine, id: 'elsewhere', auth: { client_credentials: { audience: ['https://elsewhere.example'] } } },
      { kind: 'AccessPolicy', id: 'elsewhere', engine: 'allow', link: [{ resourceType: 'Client', id: 'elsewhere' }] },
      {
        kind: 'Client',
        id: 'people',
        grant_types: ['implicit'],
        auth: { implicit: { redirect_uri: 'https://app.example/back' } },
      },
    ]);
    user = String(Reflect.get(Object((await api.call('POST', '/users', { body: ann })).body), 'id'));
  });
  after(() => api.stop());

  it('R-09 the metadata of a box list the grant password only where a client may use it', async () => {
    const listed = async (box: string): Promise<boolean> => {
      const { text } = await api.call('GET', `/../${box}/.well-known/oauth-authorization-server`, { token: null });
      return text.includes('"password"');
    };
    expect(await listed('other')).to.equal(false);
    await api.declare('other', [{ kind: 'Client', id: 'desk', grant_types: ['password'], active: false }]);
    expect(await listed('other'), 'of a client that is switched off').to.equal(false);
    await api.declare('other', [{ kind: 'Client', id: 'desk', grant_types: ['password'] }]);
    expect(await listed('other')).to.equal(true);
    await api.declare('other', [{ kind: 'Box', id: 'other', compatibility: { profile: 'strict' } }]);
    expect(await listed('other')).to.equal(false);
  });

  it('has a probe for each switch', () => {
    expect([...switches, 'profile'].toSorted()).to.deep.equal(
      Object.keys(boxSchema.properties.compatibility.properties).toSorted(),
    );
  });

  for (const [compatibility, allowed] of settings) {
    it(`${JSON.stringify(compatibility)} allows what it says, and nothing else`, async () => {
      await api.declare('default', [{ kind: 'Box', id: 'default', compatibility }]);
      const found: Record<string, boolean> = {};
      for (const name of switches) found[name] = await probes[name](api, user);
      expect(found).to.deep.equal(allowed);
    });
  }
});
