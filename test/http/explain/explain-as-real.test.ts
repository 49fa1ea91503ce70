import { isObject } from '../../../crds/path.ts';
import { expect } from 'chai';
import { userTokens } from '../../support/user-token.ts';
import { sentences, startBoxApi, stringIn } from '../resources/box-api.ts';
import type { BoxApi } from '../resources/box-api.ts';

const issuer = 'http://boxgate.test/boxes/default';

describe('POST /AccessPolicy/$explain and the request that it is about', () => {
  let api: BoxApi;
  let user: number;
  let clientToken: string;

  before(async () => {
    api = await startBoxApi();
    await api.call('POST', '/Client', {
      body: { id: 'orders', grant_types: ['client_credentials'], secret: 's3cr3t' },
    });
    const web = {
      id: 'web',
      grant_types: ['authorization_code'],
      auth: { authorization_code: { redirect_uri: 'https://a.example/cb' } },
    };
    await api.call('POST', '/Client', { body: web });
    const ann = { email: 'ann@mail.example', password: 'correct horse', data: '{"a": 1}' };
    user = Number(Reflect.get(Object((await api.call('POST', '/users', { body: ann })).body), 'id'));
    clientToken = stringIn(await api.requestToken('orders', 's3cr3t'), 'access_token');
  });
  after(() => api.stop());

  interface Asked {
    readonly method: string;
    readonly path: string;
    readonly body?: object;
    readonly headers?: Readonly<Record<string, string>>;
    /** Members of the question that replace those derived from the rest. */
    readonly question?: object;
  }

  /**
   * Returns the decisions on a request of the user, or of the client, under one policy: the real one and that of
   * `$explain`.
   */
  async function verdicts(
    policy: object,
    { method, path, body, headers, question }: Asked,
    by: 'user' | 'client' = 'user',
  ) {
    await api.call('PUT', '/AccessPolicy/only', { body: { ...policy, id: 'only', subjects: 'authenticated' } });
    const own = path.replace('{user}', String(user));
    const token =
      by === 'user' ? (await userTokens(api.database.ownerUrl, 'default', 'web', user)).access : clientToken;
    const real = await api.call(method, own, {
      token,
      ...(body && { body }),
      ...(headers && { headers, type: headers['Content-Type'] }),
    });
    expect(real.status, real.text).not.to.equal(401);
    const subject = by === 'user' ? { client: 'web', user } : { client: 'orders' };
    const request = { 'request-method': method.toLowerCase(), uri: own, ...(body && { body }), ...question };
    const told = await api.call('POST', '/AccessPolicy/$explain', { body: { subject, request } });
    expect(told.status, told.text).to.equal(200);
    return { real: real.status !== 403, told: Reflect.get(Object(told.body), 'granted') === true };
  }

  const own = { resource: { resourceType: 'User', id: '.user.id' } };
  const rows: readonly [what: string, policy: object, asked: Asked, granted: boolean][] = [
    ['matcho: own record', { engine: 'matcho', matcho: own }, { method: 'GET', path: '/users/{user}' }, true],
    ['matcho: record of another', { engine: 'matcho', matcho: own }, { method: 'GET', path: '/users/999' }, false],
    ['matcho: the list', { engine: 'matcho', matcho: own }, { method: 'GET', path: '/users' }, false],
    [
      'cel: own record',
      { engine: 'cel', expression: 'user != null && resource.id == user.id && token.sub == resource.id' },
      { method: 'GET', path: '/users/{user}' },
      true,
    ],
    [
      'cel: audience',
      { engine: 'cel', expression: `"${issuer}" in token.aud && token.aud[0] == "${issuer}"` },
      { method: 'GET', path: '/users' },
      true,
    ],
    [
      'cel: a parameter',
      { engine: 'cel', expression: 'params._count == "5"' },
      { method: 'GET', path: '/users?_count=5' },
      true,
    ],
    [
      'matcho: changes',
      { engine: 'matcho', matcho: { ...own, changes: { $every: { $enum: ['data'] } } } },
      { method: 'PUT', path: '/users/{user}', body: { data: '{"a": 2}' } },
      true,
    ],
    [
      'matcho: other changes',
      { engine: 'matcho', matcho: { ...own, changes: { $every: { $enum: ['data'] } } } },
      { method: 'PUT', path: '/users/{user}', body: { status: 'active' } },
      false,
    ],
    [
      'matcho: no password, as the body shows',
      { engine: 'matcho', matcho: { ...own, body: { password: '[present]' } } },
      { method: 'PUT', path: '/users/{user}', body: { password: 'correct horse' } },
      true,
    ],
    [
      'cel: session and claims',
      {
        engine: 'cel',
        expression:
          'session.user.id == user.id && session.active && session.client.id == token.client_id && token.exp > token.iat && has(token.jti) && token.scope == "boxgate"',
      },
      { method: 'GET', path: '/users' },
      true,
    ],
    [
      'cel: the time of the request',
      {
        engine: 'cel',
        expression:
          'time >= token.iat && time < token.iat + 600 && timestamp(time) > timestamp("2026-01-01T00:00:00Z") && timestamp(time) < timestamp("2126-01-01T00:00:00Z")',
      },
      { method: 'GET', path: '/users' },
      true,
    ],
    [
      'a header with several values is one text',
      { engine: 'matcho', matcho: { headers: { 'x-team': 'red, blue' } } },
      {
        method: 'GET',
        path: '/users',
        headers: { 'X-Team': 'red, blue' },
        question: { headers: { 'X-Team': ['red', ' blue'] } },
      },
      true,
    ],
    [
      'a parameter with one value is a text',
      { engine: 'matcho', matcho: { params: { _count: '5', _page: 'nil?' } } },
      { method: 'GET', path: '/users?_count=5', question: { uri: '/users', params: { _count: [5], _page: [] } } },
      true,
    ],
    [
      'a GET has no body',
      { engine: 'matcho', matcho: { body: 'present?' } },
      { method: 'GET', path: '/users', question: { body: { a: 1 } } },
      false,
    ],
    [
      'a POST without a body changes nothing',
      { engine: 'matcho', matcho: { changes: [], body: 'nil?' } },
      { method: 'POST', path: '/users' },
      true,
    ],
    [
      'a list is no body of a PUT',
      { engine: 'matcho', matcho: { body: 'present?' } },
      { method: 'PUT', path: '/users/{user}', body: [] },
      false,
    ],
    [
      'a body is what its Content-Type says',
      { engine: 'matcho', matcho: { body: 'present?' } },
      {
        method: 'PUT',
        path: '/users/{user}',
        body: { status: 'active' },
        headers: { 'Content-Type': 'application/json-patch+json' },
        question: { headers: { 'Content-Type': 'application/json-patch+json' } },
      },
      false,
    ],
    [
      'a patch is no body of a PUT',
      { engine: 'matcho', matcho: { body: 'present?' } },
      {
        method: 'PUT',
        path: '/users/{user}',
        body: [{ op: 'replace', path: '/status', value: 'active' }],
        headers: { 'Content-Type': 'application/json-patch+json' },
        question: { headers: { 'Content-Type': 'application/json-patch+json' } },
      },
      false,
    ],
    [
      'a question to $explain changes no record',
      { engine: 'cel', expression: 'changes == null && !has(resource.id)' },
      { method: 'POST', path: '/AccessPolicy/$explain', body: { request: { 'request-method': 'get', uri: '/' } } },
      true,
    ],
    [
      '$explain is an ID elsewhere',
      { engine: 'matcho', matcho: { resource: { resourceType: 'Client', id: '$explain' } } },
      { method: 'GET', path: '/Client/$explain' },
      true,
    ],
  ];
  for (const [what, policy, asked, granted] of rows) {
    it(`R-40 gives one verdict for both: ${what}`, async () => {
      expect(await verdicts(policy, asked)).to.deep.equal({ real: granted, told: granted });
    });
  }

  // E-17
  for (const [expression, granted] of [
    ['token.client_id == "boxgate.ui" && session.client.id == client.id', true],
    ['client == null || session == null || token == null', false],
  ] as const)
    it(`takes a user who is named without a client to be signed in to boxgate.ui, and says so: ${expression}`, async () => {
      await api.call('PUT', '/AccessPolicy/only', { body: { engine: 'cel', expression, subjects: 'authenticated' } });
      const { access: token } = await userTokens(api.database.ownerUrl, 'default', 'boxgate.ui', user);
      expect((await api.call('GET', '/Client', { token })).status).to.equal(granted ? 200 : 403);
      const request = { 'request-method': 'get', uri: '/Client' };
      const { body } = await api.call('POST', '/AccessPolicy/$explain', { body: { subject: { user }, request } });
      expect(body).to.include({ granted, assumed_client: 'boxgate.ui' });
      const named = await api.call('POST', '/AccessPolicy/$explain', {
        body: { subject: { user, client: 'web' }, request },
      });
      expect(named.body).not.to.have.property('assumed_client');
    });

  it('R-48 gives one verdict for both: a client with its created_at is sent back', async () => {
    const { body } = await api.call('GET', '/Client/web');
    const read = isObject(body) ? body : {};
    const policy = { engine: 'cel', expression: 'has(body.created_at) && changes == []' };
    for (const [sent, granted] of [
      [read, true],
      [{ ...read, created_at: '2020-01-01T00:00:00.000Z' }, true],
      [{ ...read, name: 'Web' }, false],
    ] as const) {
      const asked = { method: 'PUT', path: '/Client/web', body: sent };
      expect(await verdicts(policy, asked)).to.deep.equal({ real: granted, told: granted });
    }
  });

  it('R-40 gives one verdict for both: a token of a client', async () => {
    const expression = `token.sub == "orders" && session.type == "client_credentials" && "${issuer}" in token.aud && !has(session.user)`;
    const asked = { method: 'GET', path: '/Client/orders' };
    expect(await verdicts({ engine: 'cel', expression }, asked, 'client')).to.deep.equal({ real: true, told: true });
  });

  it('R-40: shows the session of a question with the ID that it gives, in its claims too', async () => {
    const policy = {
      engine: 'cel',
      expression: 'token.jti == "x" && session.id == token.jti',
      link: [{ resourceType: 'Client', id: 'web' }],
    };
    await api.call('PUT', '/AccessPolicy/only', { body: { ...policy, id: 'only' } });
    for (const subject of [{ session: { id: 'x' } }, { token: { jti: 'x' } }]) {
      const body = { subject: { client: 'web', ...subject }, request: { 'request-method': 'get', uri: '/users' } };
      expect((await api.call('POST', '/AccessPolicy/$explain', { body })).body).to.include({ granted: true });
    }
  });

  it('R-40: takes a token without any scope, which has none of the rights of its user', async () => {
    const policy = { engine: 'cel', expression: '!has(token.scope)', link: [{ resourceType: 'Client', id: 'web' }] };
    await api.call('PUT', '/AccessPolicy/only', { body: { ...policy, id: 'only' } });
    for (const [scope, granted] of [
      [{ scope: null }, true],
      [{}, false],
    ] as const) {
      const body = { subject: { client: 'web', user, ...scope }, request: { 'request-method': 'get', uri: '/users' } };
      expect((await api.call('POST', '/AccessPolicy/$explain', { body })).body).to.include({ granted });
    }
  });

  it('R-40 shows one form of the audience in introspection', async () => {
    const { text } = await introspected(api, clientToken);
    expect(JSON.parse(text)).to.deep.include({ active: true, aud: [issuer] });
  });

  it('R-40 takes a link to a user or group by number and by text, and stores text', async () => {
    for (const [resourceType, id] of [
      ['User', user],
      ['User', String(user)],
      ['Group', 12],
    ] as const) {
      const body = { id: 'linked', engine: 'matcho', matcho: {}, link: [{ resourceType, id }] };
      const { status, body: stored } = await api.call('PUT', '/AccessPolicy/linked', { body });
      expect(status).to.be.oneOf([200, 201]);
      expect(Reflect.get(Object(stored), 'link')).to.deep.equal([{ resourceType, id: String(id) }]);
    }
    for (const id of [1.5, -1, true, null, 1e20]) {
      const body = { id: 'linked', engine: 'matcho', matcho: {}, link: [{ resourceType: 'User', id }] };
      expect((await api.call('PUT', '/AccessPolicy/linked', { body })).status, String(id)).to.equal(422);
    }
    const client = { id: 'linked', engine: 'matcho', matcho: {}, link: [{ resourceType: 'Client', id: 7 }] };
    expect((await api.call('PUT', '/AccessPolicy/linked', { body: client })).status).to.equal(422);
  });

  it('R-40 refuses a question about a request that nobody can make', async () => {
    const request = { 'request-method': 'get', uri: '/users/7' };
    const wrong: readonly [object, string][] = [
      [
        { request: { ...request, resource: { resourceType: 'User', id: '8' } } },
        'request.resource must be what the path addresses, {"resourceType":"User","id":"7"}, or be left out',
      ],
      [{ request: { ...request, params: { a: { b: 1 } } } }, 'request.params.a must be text, or a list of texts'],
    ];
    for (const [body, sentence] of wrong) {
      const reply = await api.call('POST', '/AccessPolicy/$explain', { body });
      expect([reply.status, sentences(reply)]).to.deep.equal([422, [sentence]]);
    }
    const same = { request: { ...request, resource: { resourceType: 'User', id: 7 } } };
    expect((await api.call('POST', '/AccessPolicy/$explain', { body: same })).status).to.equal(200);
    await api.call('PATCH', '/Client/orders', { body: { active: false } });
    const off = await api.call('POST', '/AccessPolicy/$explain', { body: { subject: { client: 'orders' }, request } });
    expect([off.status, sentences(off)]).to.deep.equal([422, ['subject.client must be an active client']]);
  });
});

async function introspected(api: BoxApi, token: string) {
  const body = new URLSearchParams({ token, client_id: 'admin', client_secret: 'admin-secret' });
  const response = await fetch(`${api.base}/auth/introspect`, { method: 'POST', body });
  return { text: await response.text() };
}
