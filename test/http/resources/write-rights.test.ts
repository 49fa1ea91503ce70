import { expect } from 'chai';
import { userTokens } from '../../support/user-token.ts';
import { startBoxApi, stringIn } from './box-api.ts';
import type { BoxApi, Reply } from './box-api.ts';

const member = (value: unknown, name: string): unknown => Reflect.get(Object(value), name);
const numberIn = ({ body, text }: Reply): number => {
  const id = member(body, 'id');
  if (typeof id !== 'number') throw new Error(text);
  return id;
};
const toClient = (id: string) => [{ resourceType: 'Client', id }];
const machine = { grant_types: ['client_credentials'] };

/** One test for each row of the table in docs/reference/security.md; it names the row. */
describe('what each write right really gives', () => {
  let api: BoxApi;
  let holder = '';
  let admins = 0;
  let nth = 0;

  before(async () => {
    api = await startBoxApi();
    const code = { redirect_uri: 'https://app.example.com/back' };
    const auth = { authorization_code: code };
    await api.declare('default', [
      { kind: 'Client', id: 'holder', ...machine, secret: 'a-secret' },
      { kind: 'Client', id: 'app', grant_types: ['authorization_code'], secret: 's', auth },
      {
        kind: 'AccessPolicy',
        id: 'admins',
        engine: 'allow',
        link: [
          { resourceType: 'Group', id: 'admins' },
          { resourceType: 'Group', id: 'nobody has it' },
        ],
      },
      { kind: 'AccessPolicy', id: 'by-id', engine: 'allow', link: toClient('not-yet') },
    ]);
    holder = stringIn(await api.requestToken('holder', 'a-secret'), 'access_token');
    admins = numberIn(await api.call('POST', '/Group', { body: { name: 'admins' } }));
  });
  after(() => api.stop());

  /** Gives the client `holder` one right, and no other. */
  async function giveRight(method: string, uri: string, changes?: readonly string[]): Promise<void> {
    const limited = changes === undefined ? '' : ` && changes.all(field, field in ${JSON.stringify(changes)})`;
    const expression = `request_method == "${method.toLowerCase()}" && uri.matches("^${uri}$")${limited}`;
    await api.declare('default', [
      { kind: 'AccessPolicy', id: 'holder', engine: 'cel', link: toClient('holder'), expression },
    ]);
  }

  const use = (method: string, path: string, body?: object) => api.call(method, path, { token: holder, body });
  const tokenOf = async (id: string, secret: string) => stringIn(await api.requestToken(id, secret), 'access_token');
  const maySeeSessions = async (token: string) => (await api.call('GET', '/Session', { token })).status === 200;
  const signedIn = async (user: number) => (await userTokens(api.database.ownerUrl, 'default', 'app', user)).access;

  async function aUser(fields: object = {}): Promise<number> {
    nth += 1;
    const body = { email: `user-${String(nth)}@mail.example`, password: 'correct horse', ...fields };
    return numberIn(await api.call('POST', '/users', { body }));
  }

  it('R-50 POST /Client: the policies that link an id which no client has', async () => {
    await giveRight('POST', '/Client');
    expect((await use('POST', '/Client', { id: 'not-yet', ...machine, secret: 'chosen' })).status).to.equal(201);
    expect(await maySeeSessions(await tokenOf('not-yet', 'chosen'))).to.equal(true);
    await api.call('DELETE', '/Client/not-yet');
  });

  it('R-50 PUT and PATCH /Client: all that a client may do which is not declared', async () => {
    await api.call('PUT', '/Client/orders', { body: { ...machine, secret: 'unknown to the holder' } });
    await api.call('PUT', '/AccessPolicy/orders', { body: { engine: 'allow', link: toClient('orders') } });
    for (const [method, uri] of [
      ['PUT', '/Client/.*'],
      ['PATCH', '/Client/.*'],
    ] as const) {
      await giveRight(method, uri);
      const secret = `by ${method}`;
      expect((await use(method, '/Client/orders', { ...machine, secret })).status).to.equal(200);
      expect(await maySeeSessions(await tokenOf('orders', secret))).to.equal(true);
      expect((await use(method, '/Client/admin', { secret })).status, 'a declared client').to.equal(409);
    }
    await giveRight('PUT', '/Client/.*');
    expect((await use('PUT', '/Client/not-yet', { ...machine, secret: 'chosen' })).status, 'a new ID').to.equal(201);
    expect(await maySeeSessions(await tokenOf('not-yet', 'chosen'))).to.equal(true);
    await api.call('DELETE', '/Client/not-yet');
    await giveRight('PATCH', '/Client/.*', ['name', 'description', 'details']);
    expect((await use('PATCH', '/Client/orders', { name: 'Orders' })).status).to.equal(200);
    expect((await use('PATCH', '/Client/orders', { secret: 'x' })).status).to.equal(403);
  });

  it('R-50 POST, PUT and PATCH /AccessPolicy: everything in the box', async () => {
    for (const [method, path, body] of [
      ['POST', '/AccessPolicy', { id: 'mine', engine: 'allow', link: toClient('holder') }],
      ['PUT', '/AccessPolicy/mine', { engine: 'allow', link: toClient('holder') }],
      ['PATCH', '/AccessPolicy/of-others', { link: toClient('holder') }],
    ] as const) {
      await api.call('PUT', '/AccessPolicy/of-others', { body: { engine: 'allow', link: toClient('others') } });
      await giveRight(method, '/AccessPolicy.*');
      expect(await maySeeSessions(holder)).to.equal(false);
      expect((await use(method, path, body)).status).to.be.lessThan(300);
      expect(await maySeeSessions(holder)).to.equal(true);
      for (const id of ['mine', 'of-others']) await api.call('DELETE', `/AccessPolicy/${id}`);
    }
  });

  it('R-50 POST /users: a user in any group, with a password that the caller knows', async () => {
    await giveRight('POST', '/users');
    const body = { email: 'made@mail.example', password: 'known to the holder', 'group-ids': [admins] };
    expect(await maySeeSessions(await signedIn(numberIn(await use('POST', '/users', body))))).to.equal(true);
    const claimed = { ...body, email: 'of-another@mail.example', email_verified: true };
    expect(member((await use('POST', '/users', claimed)).body, 'email_verified')).to.equal(true);
    await giveRight('POST', '/users', ['data', 'email', 'password']);
    expect((await use('POST', '/users', { ...body, email: 'other@mail.example' })).status).to.equal(403);
    const verified = { email: 'third@mail.example', password: body.password, email_verified: true };
    expect((await use('POST', '/users', verified)).status).to.equal(403);
  });

  it('R-50 PUT /users/<id>: any group for oneself, and the account of every user', async () => {
    const user = await aUser();
    await giveRight('PUT', '/users/.*');
    expect((await use('PUT', `/users/${String(user)}`, { 'group-ids': [admins] })).status).to.equal(200);
    expect(await maySeeSessions(await signedIn(user))).to.equal(true);
    const admin = await aUser({ 'group-ids': [admins] });
    expect((await use('PUT', `/users/${String(admin)}`, { password: 'known to the holder' })).status).to.equal(200);
    await giveRight('PUT', '/users/.*', ['data']);
    expect((await use('PUT', `/users/${String(admin)}`, { password: 'another of them' })).status).to.equal(403);
    expect((await use('PUT', `/users/${String(admin)}`, { email: 'x@mail.example' })).status).to.equal(403);
    expect((await use('PUT', `/users/${String(user)}`, { 'group-ids': [] })).status).to.equal(403);
    expect((await use('PUT', `/users/${String(user)}`, { email_verified: true })).status).to.equal(403);
    await giveRight('PUT', '/users/.*', ['email', 'email_verified']);
    const claimed = { email: 'of-somebody-else@mail.example', email_verified: true };
    expect((await use('PUT', `/users/${String(user)}`, claimed)).status).to.equal(200);
    expect(member((await api.call('GET', `/users/${String(user)}`)).body, 'email_verified')).to.equal(true);
  });

  it('R-50 POST /Group: a group that policies link by a name which no group has, without a member', async () => {
    const user = await aUser();
    const token = await signedIn(user);
    await giveRight('POST', '/Group');
    const made = await use('POST', '/Group', { name: 'nobody has it' });
    expect([made.status, member(made.body, 'members')]).to.deep.equal([201, 0]);
    expect(await maySeeSessions(token)).to.equal(false);
    // With a right to put users into groups it is all that those policies grant.
    await giveRight('PUT', '/users/.*', ['group-ids']);
    expect((await use('PUT', `/users/${String(user)}`, { 'group-ids': [numberIn(made)] })).status).to.equal(200);
    expect(await maySeeSessions(token)).to.equal(true);
  });

  it('R-50 PUT and PATCH /Group/<id>: no name that a policy links; names that apps or rules know', async () => {
    const group = numberIn(await api.call('POST', '/Group', { body: { name: 'own' } }));
    const user = await aUser({ 'group-ids': [group] });
    const token = await signedIn(user);
    // E-16: the group that has the name neither leaves it nor is deleted.
    const left = await api.call('PUT', `/Group/${String(admins)}`, { body: { name: 'admins no more' } });
    expect(left.status).to.equal(409);
    for (const method of ['PUT', 'PATCH']) {
      await giveRight(method, '/Group/.*');
      expect((await use(method, `/Group/${String(group)}`, { name: 'admins' })).status).to.equal(409);
      expect((await use(method, `/Group/${String(group)}`, { name: `known to apps by ${method}` })).status).to.equal(
        200,
      );
    }
    expect(await maySeeSessions(token)).to.equal(false);
    expect((await api.call('DELETE', `/Group/${String(admins)}`)).status).to.equal(409);
  });

  it('R-50 DELETE of a client, policy, user, group: takes access away and gives none', async () => {
    const group = numberIn(await api.call('POST', '/Group', { body: { name: 'short-lived' } }));
    const paths = [
      '/Client/going',
      '/AccessPolicy/going',
      `/Group/${String(group)}`,
      `/users/${String(await aUser())}`,
    ];
    await api.call('PUT', '/Client/going', { body: { ...machine, secret: 's3cr3t' } });
    await api.call('PUT', '/AccessPolicy/going', { body: { engine: 'allow', link: toClient('going') } });
    await giveRight('DELETE', '/.*');
    for (const path of paths) {
      expect((await use('DELETE', path)).status, path).to.equal(200);
      expect(await maySeeSessions(holder)).to.equal(false);
    }
    for (const path of ['/Client/admin', '/AccessPolicy/admin'])
      expect((await use('DELETE', path)).status).to.equal(409);
  });

  it('R-50 PUT, PATCH and DELETE of a session or grant: ends them and changes nothing else', async () => {
    await signedIn(await aUser());
    const { body: found } = await api.call('GET', '/Session?client=app&status=active&_result=array');
    const path = `/Session/${String(member(member(found, '0'), 'id'))}`;
    for (const method of ['PUT', 'PATCH']) {
      await giveRight(method, '/Session/.*');
      for (const change of [{ scope: 'everything' }, { user: null }, { expires_at: null }]) {
        expect((await use(method, path, change)).status).to.equal(422);
      }
    }
    await giveRight('DELETE', '/(Session|Grant)/.*');
    expect((await use('DELETE', path)).status).to.equal(200);
    expect((await use('DELETE', '/Grant/1.app')).status).to.equal(204);
    expect((await api.call('GET', path)).body).to.deep.include({ status: 'revoked' });
  });

  it('R-50 POST /AccessPolicy/$explain: writes nothing, and tells which policies there are', async () => {
    await giveRight('POST', '/AccessPolicy/[$]explain');
    const request = { 'request-method': 'get', uri: '/Session' };
    const reply = await use('POST', '/AccessPolicy/$explain', { subject: { client: 'admin' }, request });
    expect(reply.text).to.contain('"policy":"admin"');
    expect((await use('POST', '/AccessPolicy', { id: 'x', engine: 'allow' })).status).to.equal(403);
  });

  it('R-50 POST /$plan: writes nothing, tells who may do what, and counts guesses at a client secret', async () => {
    await giveRight('POST', '/[$]plan');
    const guess = async (secret: string): Promise<Reply> => {
      const resource = { resourceType: 'Client', id: 'holder', ...machine, secret };
      const line = JSON.stringify({ object: { kind: 'Client', id: 'holder', name: 'holder', resource } });
      return api.call('POST', '/$plan', { token: holder, type: 'application/x-ndjson', body: line });
    };
    expect((await guess('a-secret')).text)
      .to.contain('"secrets":[]')
      .and.to.contain('"id":"by-id","result":"deleted"');
    expect((await guess('no-secret')).text).to.contain('"secrets":["holder"]');
    for (let tried = 1; tried < 20; tried += 1) await guess(`guess ${String(tried)}`);
    const answer = await guess('a-secret');
    expect(answer.text).to.contain('"secrets":[]').and.to.contain('"secrets_not_compared":["holder"]');
    expect((await api.call('GET', '/AccessPolicy/by-id')).status).to.equal(200);
  });

  it('R-50 Client and AccessPolicy as custom resources: everything in the box', async () => {
    await giveRight('GET', '/nothing');
    expect(await maySeeSessions(holder)).to.equal(false);
    await api.declare('default', [
      { kind: 'AccessPolicy', id: 'declared', engine: 'allow', link: toClient('holder') },
      { kind: 'Client', id: 'declared', ...machine, secret: 'in-the-object' },
    ]);
    expect(await maySeeSessions(holder)).to.equal(true);
    await api.remove('default', [{ kind: 'AccessPolicy', id: 'declared' }]);
    expect(await tokenOf('declared', 'in-the-object')).to.match(/^bgt_/);
  });
});
