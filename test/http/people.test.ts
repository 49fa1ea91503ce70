import { expect } from 'chai';
import { startApi } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { userTokens } from '../support/user-token.ts';
import type { UserTokens } from '../support/user-token.ts';
import { startBoxApi } from './resources/box-api.ts';
import type { BoxApi, Reply } from './resources/box-api.ts';

describe('a person with a token', () => {
  let api: BoxApi;
  /** Another replica on the same database. */
  let second: TestApi;
  let nth = 0;

  before(async () => {
    api = await startBoxApi();
    second = await startApi({ database: api.database });
    // Without rotation, so that a refresh token may be tried on each replica.
    const code = { redirect_uri: 'https://app.example.com/back', refresh_token: true, refresh_rotation: false };
    const auth = { authorization_code: code };
    await api.declare('default', [
      { kind: 'Client', id: 'app', grant_types: ['authorization_code'], secret: 's', auth },
    ]);
    // E-16: with another administrator, each of the others may go.
    const link = [{ resourceType: 'User', id: String(await aUser()) }];
    expect((await policy('chief', { engine: 'allow', link })).status).to.equal(201);
  });
  after(async () => {
    await second.stop();
    await api.stop();
  });

  const member = (value: unknown, name: string): unknown => Reflect.get(Object(value), name);
  const idOf = ({ body, text }: Reply): number => {
    const id = member(body, 'id');
    if (typeof id !== 'number') throw new Error(text);
    return id;
  };
  const policy = (id: string, fields: object) => api.call('PUT', `/AccessPolicy/${id}`, { body: fields });

  async function aUser(fields: object = {}): Promise<number> {
    nth += 1;
    const body = { email: `user-${String(nth)}@mail.example`, password: 'correct horse', ...fields };
    return idOf(await api.call('POST', '/users', { body }));
  }

  async function aGroup(): Promise<{ readonly id: number; readonly name: string }> {
    nth += 1;
    const name = `group ${String(nth)}`;
    return { id: idOf(await api.call('POST', '/Group', { body: { name } })), name };
  }

  const signedIn = (user: number): Promise<UserTokens> => userTokens(api.database.ownerUrl, 'default', 'app', user);
  const change = (user: number, body: object) => api.call('PUT', `/users/${String(user)}`, { body });

  /** Returns the status that each of two replicas answers to a request of the person. */
  async function statuses({ access }: UserTokens, path = '/Group'): Promise<readonly number[]> {
    const headers = { Authorization: `Bearer ${access}` };
    const bases = [api.url, second.url].map((url) => `${url}/boxes/default`);
    return Promise.all(bases.map(async (base) => (await fetch(base + path, { headers })).status));
  }

  async function refreshStatuses({ refresh }: UserTokens): Promise<readonly number[]> {
    const body = JSON.stringify({ grant_type: 'refresh_token', client_id: 'app', refresh_token: refresh });
    const headers = { 'Content-Type': 'application/json' };
    return Promise.all(
      [api.url, second.url].map(async (url) => {
        return (await fetch(`${url}/boxes/default/auth/token`, { method: 'POST', headers, body })).status;
      }),
    );
  }

  it('may do nothing without a policy, and what a policy that links the user grants', async () => {
    const [user, other] = [await aUser(), await aUser()];
    const tokens = await signedIn(user);
    expect(await statuses(tokens)).to.deep.equal([403, 403]);
    await policy('one', { engine: 'allow', link: [{ resourceType: 'User', id: String(user) }] });
    expect(await statuses(tokens)).to.deep.equal([200, 200]);
    expect(await statuses(await signedIn(other))).to.deep.equal([403, 403]);
    await api.call('DELETE', '/AccessPolicy/one');
    expect(await statuses(tokens)).to.deep.equal([403, 403]);
  });

  for (const by of ['id', 'name'] as const) {
    it(`G-01 may do what a policy that links a group by its ${by} grants, as long as it is in it, on every replica`, async () => {
      const group = await aGroup();
      const user = await aUser({ 'group-ids': [group.id] });
      const tokens = await signedIn(user);
      await policy(`by-${by}`, { engine: 'allow', link: [{ resourceType: 'Group', id: String(group[by]) }] });
      expect(await statuses(tokens)).to.deep.equal([200, 200]);
      for (let round = 0; round < 5; round += 1) {
        await change(user, { 'group-ids': [] });
        expect(await statuses(tokens)).to.deep.equal([403, 403]);
        await change(user, { 'group-ids': [group.id] });
        expect(await statuses(tokens)).to.deep.equal([200, 200]);
      }
      await policy(`by-${by}`, { engine: 'allow', link: [] });
      expect((await api.call('DELETE', `/Group/${String(group.id)}`)).status).to.equal(200);
      expect(await statuses(tokens)).to.deep.equal([403, 403]);
    });
  }

  it('G-01 is in a group by its new name, and no more by its old one', async () => {
    const group = await aGroup();
    const tokens = await signedIn(await aUser({ 'group-ids': [group.id] }));
    const rename = (name: string) => api.call('PUT', `/Group/${String(group.id)}`, { body: { name } });
    const expression = `user.groups.exists(group, group.name == "${group.name}")`;
    await policy('named', { engine: 'cel', expression, link: [{ resourceType: 'Group', id: String(group.id) }] });
    expect(await statuses(tokens)).to.deep.equal([200, 200]);
    expect((await rename('another name')).status).to.equal(200);
    expect(await statuses(tokens)).to.deep.equal([403, 403]);
    await policy('named', { engine: 'allow', link: [{ resourceType: 'Group', id: 'another name' }] });
    expect(await statuses(tokens)).to.deep.equal([200, 200]);
    // E-16: a linked name stays.
    expect((await rename(group.name)).status).to.equal(409);
  });

  it('is seen by policies with groups, ids of groups and the value of the data, without the password', async () => {
    const group = await aGroup();
    const data = '{"department": "sales"}';
    const [user, other] = [await aUser({ 'group-ids': [group.id], data }), await aUser({ data: '"sales"' })];
    const matcho = {
      user: {
        id: user,
        email: 'present?',
        data: { department: 'sales' },
        'group-ids': { $contains: group.id },
        groups: { $contains: { name: group.name } },
      },
    };
    await policy('by-data', { engine: 'matcho', subjects: 'authenticated', matcho });
    // E-19: nor is there a name for it.
    const named = { user: { password: 'nil?' } };
    expect(
      (await policy('by-password', { engine: 'matcho', subjects: 'authenticated', matcho: named })).status,
    ).to.equal(422);
    expect(await statuses(await signedIn(user))).to.deep.equal([200, 200]);
    expect(await statuses(await signedIn(other))).to.deep.equal([403, 403]);
    await change(user, { data: '{"department": "law"}' });
    expect(await statuses(await signedIn(user))).to.deep.equal([403, 403]);
    await api.call('DELETE', '/AccessPolicy/by-data');
  });

  it('is the subject of introspection and of the session', async () => {
    const user = await aUser();
    const { access } = await signedIn(user);
    const response = await fetch(`${api.base}/auth/introspect`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa('app:s')}` },
      body: new URLSearchParams({ token: access }),
    });
    const told: unknown = await response.json();
    expect(told)
      .to.include({ active: true, sub: String(user), client_id: 'app' })
      .and.not.have.property('username');
    const session = await api.call('GET', `/Session/${String(member(told, 'jti'))}`);
    expect(member(session.body, 'user')).to.deep.equal({ resourceType: 'User', id: String(user) });
  });

  const ends: Readonly<Record<string, (user: number) => Promise<Reply>>> = {
    'has a new password': (user) => change(user, { password: 'another horse' }),
    'is inactive': (user) => change(user, { status: 'inactive' }),
    'is deleted': (user) => api.call('DELETE', `/users/${String(user)}`),
  };
  for (const [what, end] of Object.entries(ends)) {
    it(`U-07 who ${what} has no session and no refresh token any more, on every replica, for good`, async () => {
      const user = await aUser();
      const tokens = await signedIn(user);
      await policy('all', { engine: 'allow', subjects: 'authenticated' });
      expect([await statuses(tokens), await refreshStatuses(tokens)]).to.deep.equal([
        [200, 200],
        [200, 200],
      ]);
      expect((await end(user)).status).to.equal(200);
      expect([await statuses(tokens), await refreshStatuses(tokens)]).to.deep.equal([
        [401, 401],
        [400, 400],
      ]);
      await change(user, { status: 'active' });
      expect([await statuses(tokens), await refreshStatuses(tokens)]).to.deep.equal([
        [401, 401],
        [400, 400],
      ]);
      const found = await api.call('GET', `/Session?user=${String(user)}&status=revoked&_result=array`);
      // The session of the sign-in, and those of the two refreshes.
      expect(Array.isArray(found.body) && found.body.length).to.equal(3);
      await api.call('DELETE', '/AccessPolicy/all');
    });
  }

  it('keeps its sessions when data, email or groups change', async () => {
    const group = await aGroup();
    const user = await aUser();
    const tokens = await signedIn(user);
    await policy('all', { engine: 'allow', subjects: 'authenticated' });
    await change(user, { email: 'new@mail.example', data: '1', 'group-ids': [group.id], status: 'active' });
    expect([await statuses(tokens), await refreshStatuses(tokens)]).to.deep.equal([
      [200, 200],
      [200, 200],
    ]);
    await api.call('DELETE', '/AccessPolicy/all');
  });
});
