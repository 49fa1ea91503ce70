import { isObject } from '../../../crds/json-value.ts';
import { expect } from 'chai';
import { ownerQuery } from '../../support/owner-query.ts';
import { userTokens } from '../../support/user-token.ts';
import { startBoxApi } from './box-api.ts';
import type { BoxApi, CallOptions, Reply } from './box-api.ts';

describe('the users API', () => {
  let api: BoxApi;
  let nth = 0;

  before(async () => {
    api = await startBoxApi();
  });
  after(() => api.stop());

  const password = 'correct horse';
  const anEmail = (): string => `user-${String((nth += 1))}@mail.example`;
  const post = (body: object, options: CallOptions = {}) => api.call('POST', '/users', { body, ...options });
  const member = (value: unknown, name: string): unknown => Reflect.get(Object(value), name);
  const idOf = ({ body }: Reply): string => String(member(body, 'id'));
  const errorsIn = (body: unknown): Readonly<Record<string, unknown>> => {
    const errors = member(body, 'errors');
    return isObject(errors) ? errors : {};
  };
  const fieldsAtFault = ({ body }: Reply): readonly string[] => Object.keys(errorsIn(body));

  async function create(fields: object = {}): Promise<string> {
    const reply = await post({ email: anEmail(), password, ...fields });
    expect(reply.status, reply.text).to.equal(201);
    return idOf(reply);
  }

  async function listed(query: string): Promise<readonly string[]> {
    const { body, status, text } = await api.call('GET', `/users?${query}`);
    expect(status, text).to.equal(200);
    return Array.isArray(body) ? body.map((user) => String(member(user, 'email'))) : [];
  }

  describe('U-01 an email that is there already, of a hundred at the same time', () => {
    it('is stored once; the others are 422', async () => {
      const spellings = ['Ann@Mail.Example', 'ann@mail.example', 'ANN@MAIL.EXAMPLE'];
      const answers = await Promise.all(
        Array.from({ length: 100 }, async (_, index) => {
          // The queue of passwords is bounded: who is sent away tries again.
          for (;;) {
            const reply = await post({ email: spellings[index % 3], password });
            if (reply.status !== 503) return reply;
          }
        }),
      );
      const counts = Map.groupBy(answers, ({ status }) => status);
      expect([counts.get(201)?.length, counts.get(422)?.length]).to.deep.equal([1, 99]);
      for (const reply of counts.get(422) ?? []) {
        expect(fieldsAtFault(reply)).to.deep.equal(['email']);
        expect(reply.text).to.contain('taken');
      }
    });

    it('is refused in a PUT too', async () => {
      const [email, other] = [anEmail(), await create()];
      await create({ email });
      const reply = await api.call('PUT', `/users/${other}`, { body: { email: email.toUpperCase() } });
      expect([reply.status, fieldsAtFault(reply)]).to.deep.equal([422, ['email']]);
      expect((await api.call('PUT', `/users/${other}`, { body: { email: anEmail() } })).status).to.equal(200);
    });

    it('R-08 may be the one that the user has, in another case: its normal form is shown', async () => {
      const email = anEmail();
      const id = await create({ email });
      const reply = await api.call('PUT', `/users/${id}`, { body: { email: email.toUpperCase() } });
      expect([reply.status, member(reply.body, 'email')]).to.deep.equal([200, email]);
    });
  });

  for (const email of [
    'x@b\n.com',
    'x@b.com/path',
    'x@b.com?q',
    'x@b.com#f',
    'x@b.com\\x',
    'x@b%2ecom',
    'x@2130706433',
  ]) {
    it(`R-08 refuses the email ${JSON.stringify(email)} in a POST and in a PUT`, async () => {
      const id = await create();
      for (const reply of [
        await post({ email, password }),
        await api.call('PUT', `/users/${id}`, { body: { email } }),
      ]) {
        expect([reply.status, fieldsAtFault(reply)]).to.deep.equal([422, ['email']]);
      }
    });
  }

  it('R-08 stores, shows and finds an email in one normal form', async () => {
    const reply = await post({ email: 'J\u00f6rg.M@B\u00fccher.Example', password });
    const normal = 'j\u00f6rg.m@xn--bcher-kva.example';
    expect(member(reply.body, 'email')).to.equal(normal);
    expect(await listed(`email=${encodeURIComponent('J\u00f6rg.M@b\u00fccher.example')}`)).to.deep.equal([normal]);
  });

  const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  const faulty: Record<string, readonly [body: object, fields: readonly string[]]> = {
    'U-03 nothing': [{}, ['email', 'password']],
    'U-03 nulls': [{ email: null, password: null }, ['email', 'password']],
    'U-03 an email that is none': [{ email: 'ann', password }, ['email']],
    'U-03 an email with a blank behind it': [{ email: 'x@mail.example ', password }, ['email']],
    'U-03 a number as email': [{ email: 1, password }, ['email']],
    'U-03 a short password': [{ email: 'x@mail.example', password: 'abcdefg' }, ['password']],
    'U-03 one of the most used passwords': [{ email: 'x@mail.example', password: 'Password1' }, ['password']],
    'U-03 a password of a megabyte': [{ email: 'x@mail.example', password: 'x'.repeat(900_000) }, ['password']],
    'U-03 data that is no JSON': [{ email: 'x@mail.example', password, data: '{a: 1}' }, ['data']],
    'U-03 data that is empty': [{ email: 'x@mail.example', password, data: '' }, ['data']],
    'U-03 data of a megabyte': [{ email: 'x@mail.example', password, data: `"${'x'.repeat(900_000)}"` }, ['data']],
    'U-03 data that nests deep': [{ email: 'x@mail.example', password, data: deep(10_000) }, ['data']],
    'U-03 a number as data': [{ email: 'x@mail.example', password, data: 1 }, ['data']],
    'a status that there is not': [{ email: 'x@mail.example', password, status: 'banned' }, ['status']],
    'groups that are not there': [{ email: 'x@mail.example', password, 'group-ids': [99] }, ['group-ids']],
    'groups that are no ids': [{ email: 'x@mail.example', password, 'group-ids': ['1'] }, ['group-ids']],
    'groups that no id is': [{ email: 'x@mail.example', password, 'group-ids': [0] }, ['group-ids']],
    'all of it at once': [
      { email: 'x', password: 'x', data: 'x', status: 'x', 'group-ids': 'x', id: 1 },
      ['id', 'email', 'password', 'data', 'status', 'group-ids'],
    ],
  };
  for (const name of [
    'id',
    'groups',
    'box',
    'password_hash',
    'is_admin',
    'created_at',
    'sessions_from',
    'old_password',
  ]) {
    faulty[`U-04 the field ${name}`] = [{ email: 'x@mail.example', password, [name]: 1 }, [name]];
  }
  for (const [what, [body, fields]] of Object.entries(faulty)) {
    it(`${what}: 422 with every fault, the submitted fields and no password`, async () => {
      const reply = await post(body);
      expect(reply.status, reply.text).to.equal(422);
      expect(reply.body).to.have.all.keys('entity', 'errors');
      expect(fieldsAtFault(reply)).to.have.members([...fields]);
      for (const messages of Object.values(errorsIn(reply.body))) {
        expect(messages).to.be.an('array').that.is.not.empty;
      }
      const given = Object.entries(body).filter(([name]) => ['email', 'data', 'status', 'group-ids'].includes(name));
      expect(member(reply.body, 'entity')).to.deep.equal(Object.fromEntries(given));
      const id = await create();
      const { email: _, password: __, ...change } = { email: '', password: '', ...body };
      if (Object.keys(change).length === 0) return;
      const changed = await api.call('PUT', `/users/${id}`, { body: change });
      expect(changed.status, changed.text).to.equal(422);
    });
  }

  for (const data of [
    '{"a": 1, "a": 2}',
    '{"__proto__": {"admin": true}, "constructor": 1}',
    '"\\u0000 \\ud800"',
    '[12345678901234567890.12345678901234567890, 1e999, -0, 1.0]',
    ' { "b" : [ 1 , 2 ] }\n',
    `[${'0,'.repeat(30_000)}0]`,
    deep(64),
  ]) {
    it(`U-03 keeps the data ${JSON.stringify(data.slice(0, 40))} byte for byte`, async () => {
      const made = await post({ email: anEmail(), password, data });
      expect([made.status, member(made.body, 'data')]).to.deep.equal([201, data]);
      const id = await create();
      expect((await api.call('PUT', `/users/${id}`, { body: { data } })).status).to.equal(200);
      expect(member((await api.call('GET', `/users/${id}`)).body, 'data')).to.equal(data);
      const email = String(member((await api.call('GET', `/users/${id}`)).body, 'email'));
      const listedUsers = (await api.call('GET', `/users?email=${encodeURIComponent(email)}`)).body;
      expect(member(member(listedUsers, '0'), 'data')).to.equal(data);
    });
  }

  const anyJson: Record<string, string> = {
    'an integer of 20 digits': '{"n": 12345678901234567890}',
    'a fraction with zeros': ' [1.10, 1e5, -0.0] ',
    'equal names': '{"a": 1, "a": 2}',
    'names of a prototype': '{"__proto__": 1, "constructor": {"prototype": 2}}',
    'an escaped NUL': '"\\u0000"',
    'half of a surrogate pair': '"\\ud800"',
    'a thousand levels': deep(1_000),
  };
  for (const [what, data] of Object.entries(anyJson)) {
    it(`R-41 keeps data with ${what} byte for byte, and a token of that user works`, async () => {
      const id = await create({ data });
      expect(member((await api.call('GET', `/users/${id}`)).body, 'data')).to.equal(data);
      expect((await api.call('PUT', `/users/${id}`, { body: { data } })).status).to.equal(200);
      const auth = { authorization_code: { redirect_uri: 'https://app.example/cb' } };
      await api.call('PUT', '/Client/reader', { body: { grant_types: ['authorization_code'], auth } });
      const link = [{ resourceType: 'Client', id: 'reader' }];
      await api.call('PUT', '/AccessPolicy/reader', { body: { engine: 'cel', expression: 'user.data != ""', link } });
      const { access } = await userTokens(api.database.ownerUrl, 'default', 'reader', Number(id));
      expect((await api.call('GET', '/Group', { token: access })).status).to.equal(200);
    });
  }

  it('R-41 bounds the depth of data at a thousand levels, and its size', async () => {
    for (const data of [deep(1_001), `"${'x'.repeat(65_535)}"`]) {
      const reply = await post({ email: anEmail(), password, data });
      expect([reply.status, fieldsAtFault(reply)]).to.deep.equal([422, ['data']]);
    }
  });

  it('U-03 data gives no rights by names that reach a prototype, in any engine', async () => {
    const id = await create({ data: '{"__proto__": {"admin": true}, "x": {"__proto__": {"admin": true}}}' });
    const auth = { authorization_code: { redirect_uri: 'https://app.example/back' } };
    await api.declare('default', [{ kind: 'Client', id: 'walker', grant_types: ['authorization_code'], auth }]);
    const { access } = await userTokens(api.database.ownerUrl, 'default', 'walker', Number(id));
    const link = [{ resourceType: 'User', id }];
    const admin = { type: 'object', properties: { admin: { const: true } }, required: ['admin'] };
    const data = { type: 'object', properties: { data: admin }, required: ['data'] };
    const schema = { type: 'object', properties: { user: data }, required: ['user'] };
    for (const rule of [
      { engine: 'cel', expression: 'user.data.admin == true' },
      { engine: 'cel', expression: 'user.data.x.admin == true' },
      { engine: 'matcho', matcho: { user: { data: { admin: true } } } },
      { engine: 'matcho', matcho: { user: { data: { x: { admin: true } } } } },
      { engine: 'json-schema', schema },
    ]) {
      const put = await api.call('PUT', '/AccessPolicy/by-data', { body: { ...rule, link } });
      expect(put.status, put.text).to.be.lessThan(300);
      expect((await api.call('GET', '/Group', { token: access })).status, JSON.stringify(rule)).to.equal(403);
    }
    expect((await api.call('PUT', `/users/${id}`, { body: { data: '{"admin": true}' } })).status).to.equal(200);
    expect((await api.call('GET', '/Group', { token: access })).status, 'the same with true data').to.equal(200);
    await api.call('DELETE', '/AccessPolicy/by-data');
  });

  describe('R-16 a user as it was read', () => {
    const shown = async (id: string): Promise<Record<string, unknown>> => {
      const { body } = await api.call('GET', `/users/${id}`);
      return isObject(body) ? { ...body } : {};
    };
    const stored = async (id: string): Promise<unknown> =>
      (await ownerQuery(api, 'SELECT password, sessions_from FROM boxgate.user WHERE id = $1', [id]))[0];
    const put = (id: string, body: object) => api.call('PUT', `/users/${id}`, { body });

    it('R-16 a PUT of the record as GET returned it changes no password and ends no session', async () => {
      const id = await create({ data: '{"a": 1}' });
      const { access } = await userTokens(api.database.ownerUrl, 'default', 'admin', Number(id));
      const [before, user] = [await stored(id), await shown(id)];
      const reply = await put(id, user);
      expect(reply.status, reply.text).to.equal(200);
      expect(await stored(id)).to.deep.equal(before);
      const mine = await api.call('DELETE', '/Session', { token: access });
      expect(mine.status, 'the session of the user').to.equal(200);
    });

    it('R-16 a PUT of the stored hash changes the other fields that are given', async () => {
      const id = await create();
      const [before, { password: hash }] = [await stored(id), await shown(id)];
      const email = anEmail();
      expect(member((await put(id, { password: hash, email })).body, 'email')).to.equal(email);
      expect(await stored(id)).to.deep.equal(before);
    });

    it('R-16 a read-only field that differs from the stored one is 422', async () => {
      const id = await create();
      const user = await shown(id);
      const other = { id: 999_999, groups: [{ id: 1, name: 'admins' }], created_at: '2020-01-01T00:00:00.000Z' };
      const reply = await put(id, { ...user, ...other });
      expect(reply.status).to.equal(422);
      expect(fieldsAtFault(reply)).to.have.members(Object.keys(other));
    });

    const salt = 'c29tZXNhbHRzb21lc2FsdA';
    const hashes = [
      `$argon2id$v=19$m=19456,t=2,p=1$${salt}$${'A'.repeat(43)}`,
      `$argon2i$v=19$m=65536,t=3,p=4$${salt}$${'B'.repeat(43)}`,
      `$scrypt$ln=15,r=8,p=1$${salt}$${'C'.repeat(43)}`,
      `$pbkdf2-sha256$i=29000$${salt}$${'D'.repeat(43)}`,
      `$2b$12$${'abcdefghij./ABCDEFGHIJ'.repeat(2)}012345678`,
    ];
    for (const hash of hashes) {
      it(`R-16 another password in PHC format is 422 in a PUT and in a POST: ${hash.slice(0, 12)}…`, async () => {
        const id = await create();
        const before = await stored(id);
        for (const reply of [await put(id, { password: hash }), await post({ email: anEmail(), password: hash })]) {
          expect([reply.status, fieldsAtFault(reply)]).to.deep.equal([422, ['password']]);
          expect(reply.text).to.contain('leave it out');
          expect(reply.text).not.to.contain(hash);
        }
        expect(await stored(id)).to.deep.equal(before);
      });
    }

    it('R-16 the hash of another user is 422', async () => {
      const [id, other] = [await create(), await create()];
      const { password: hash } = await shown(other);
      expect(fieldsAtFault(await put(id, { password: hash }))).to.deep.equal(['password']);
    });

    it('R-16 a password that holds dollar signs is taken', async () => {
      const id = await create();
      expect((await put(id, { password: '$ecret$Pass phrase' })).status).to.equal(200);
    });
  });

  it('tells faults of the box together with those of the text', async () => {
    const email = anEmail();
    await create({ email });
    const reply = await post({ email, password: 'x', 'group-ids': [7] });
    expect(fieldsAtFault(reply)).to.have.members(['email', 'password', 'group-ids']);
  });

  it('U-02 repeats no password, also under a misspelt name', async () => {
    for (const name of ['password', 'passwrod', 'old_password', 'Password']) {
      const reply = await post({ email: 'x', [name]: 'canary' });
      expect([reply.status, reply.text.includes('canary')]).to.deep.equal([422, false]);
    }
  });

  it('U-02 tells a body that cannot be stored in the same form', async () => {
    const reply = await api.call('POST', '/users', { body: '{"email": "a", "email": "canary"}' });
    expect([reply.status, fieldsAtFault(reply)]).to.deep.equal([422, ['email']]);
    const large = await api.call('POST', '/users', { body: '{"group-ids": [9223372036854775808]}' });
    expect([large.status, fieldsAtFault(large)]).to.deep.equal([422, ['group-ids']]);
    expect((await api.call('POST', '/users', { body: '{"email": ' })).status).to.equal(400);
    expect((await api.call('POST', '/users', { body: '[]' })).status).to.equal(400);
  });

  it('an object or array as data becomes its JSON text', async () => {
    const data = { a: [1, 'x'] };
    const reply = await post({ email: anEmail(), password, data });
    expect(member(reply.body, 'data')).to.equal('{"a":[1,"x"]}');
  });

  const ids = { 0: 404, '-1': 404, 1.5: 404, abc: 400, 99999999999: 404, '1;drop': 400, '%31%00': 400, '1e3': 400 };
  for (const [id, status] of Object.entries({ ...ids, ['9'.repeat(30)]: 404 })) {
    it(`U-06 /users/${id} is ${String(status)}`, async () => {
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const reply = await api.call(method, `/users/${id}`, method === 'PUT' ? { body: { data: null } } : {});
        expect(reply.status, `${method} ${reply.text}`).to.equal(status);
      }
    });
  }

  describe('U-08 the token in the query', () => {
    const ask = (query: string, headers: Record<string, string> = {}) =>
      fetch(`${api.base}/users${query}`, { headers });

    it('works alone, and is in no link of the answer', async () => {
      const response = await ask(`?access_token=${api.adminToken}&_count=1`);
      expect(response.status).to.equal(200);
      expect(response.headers.get('cache-control')).to.equal('private, no-store');
      expect(response.headers.get('referrer-policy')).to.equal('no-referrer');
      expect(response.headers.get('link')).to.match(/_count=1/);
      expect([...response.headers].join()).not.to.contain(api.adminToken);
    });

    it('is 401 when it is missing or wrong, 400 when it stands twice', async () => {
      const bearer = { Authorization: `Bearer ${api.adminToken}` };
      const statuses = [
        await ask(''),
        await ask('?access_token='),
        await ask('?access_token=bgt_x'),
        await ask('?access_token=%0d%0a'),
        await ask(`?access_token=${api.adminToken}&access_token=${api.adminToken}`),
        await ask(`?access_token=${api.adminToken}`, bearer),
        await ask('?access_token=x', bearer),
      ].map(({ status }) => status);
      expect(statuses).to.deep.equal([401, 401, 401, 401, 400, 400, 400]);
    });

    it('is taken by no other resource', async () => {
      const response = await fetch(`${api.base}/Client?access_token=${api.adminToken}`);
      expect(response.status).to.equal(400);
    });

    it('is in no line of the log', () => {
      expect(api.logLines.join('\n')).not.to.contain(api.adminToken);
    });
  });

  describe('a box that is strict', () => {
    const strict = (compatibility: object) => api.declare('default', [{ kind: 'Box', id: 'default', compatibility }]);

    after(() => strict({}));

    it('takes no token from the query, shows no hash, and wants the old password for a new one', async () => {
      const id = await create();
      await strict({ profile: 'strict' });
      expect((await fetch(`${api.base}/users?access_token=${api.adminToken}`)).status).to.equal(400);
      expect((await api.call('GET', `/users/${id}`)).body).not.to.have.any.keys('password');
      const put = (body: object) => api.call('PUT', `/users/${id}`, { body });
      expect(fieldsAtFault(await put({ password: 'another horse' }))).to.deep.equal(['old_password']);
      const wrong = await put({ password: 'another horse', old_password: 'wrong horse' });
      expect([wrong.status, fieldsAtFault(wrong)]).to.deep.equal([422, ['old_password']]);
      expect((await put({ password: 'another horse', old_password: password })).status).to.equal(200);
      expect((await put({ data: '1' })).status).to.equal(200);
    });

    it('X-16 holds back who guesses the present password', async () => {
      const id = await create();
      await strict({ profile: 'strict' });
      const put = async (old_password: string): Promise<number> =>
        (await api.call('PUT', `/users/${id}`, { body: { password: 'another horse', old_password } })).status;
      const statuses: number[] = [];
      for (let nth = 0; nth < 21; nth += 1) statuses.push(await put('wrong horse'));
      expect(statuses).to.deep.equal([...Array.from({ length: 20 }, () => 422), 429]);
      expect(await put(password)).to.equal(429);
    });

    it('may switch each of them on again', async () => {
      const id = await create();
      await strict({ profile: 'strict', query_token: true, password_hash: true, password_change_without_old: true });
      expect((await fetch(`${api.base}/users?access_token=${api.adminToken}`)).status).to.equal(200);
      const reply = await api.call('PUT', `/users/${id}`, { body: { password: 'another horse' } });
      expect([reply.status, typeof member(reply.body, 'password')]).to.deep.equal([200, 'string']);
    });

    it('R-16 wants no old password for the stored hash that is sent back', async () => {
      const id = await create();
      const hash = member((await api.call('GET', `/users/${id}`)).body, 'password');
      await strict({ password_change_without_old: false });
      expect((await api.call('PUT', `/users/${id}`, { body: { password: hash } })).status).to.equal(200);
    });

    it('says how long a password must be', async () => {
      await api.declare('default', [{ kind: 'Box', id: 'default', password: { min_length: 15 } }]);
      const short = await post({ email: anEmail(), password: 'correct horse' });
      expect([short.status, short.text.includes('15')]).to.deep.equal([422, true]);
      expect((await post({ email: anEmail(), password: 'correct horse 2' })).status).to.equal(201);
    });
  });

  describe('the list', () => {
    before(async () => {
      for (const name of ['zoe', 'zack', 'zed']) await create({ email: `${name}@list.example` });
      await create({ email: 'Zora@list.example', status: 'inactive' });
    });

    it('is filtered by email, its beginning and the status', async () => {
      expect(await listed('email=ZED@list.example')).to.deep.equal(['zed@list.example']);
      expect(await listed('email=none')).to.deep.equal([]);
      expect(await listed('q=z')).to.deep.equal([
        'zack@list.example',
        'zed@list.example',
        'zoe@list.example',
        'zora@list.example',
      ]);
      expect(await listed('q=zo&status=active')).to.deep.equal(['zoe@list.example']);
      expect(await listed('status=inactive')).to.deep.equal(['zora@list.example']);
      expect(await listed('q=%25')).to.deep.equal([]);
    });

    it('is paged by links, with the total', async () => {
      const seen: string[] = [];
      let next: string | undefined = `${api.base}/users?q=z&_count=3`;
      while (next !== undefined) {
        const response: Response = await fetch(next, { headers: { Authorization: `Bearer ${api.adminToken}` } });
        expect(response.headers.get('x-total-count')).to.equal('4');
        const page: unknown = await response.json();
        if (Array.isArray(page)) seen.push(...page.map((user) => String(member(user, 'email'))));
        const [, url] = /<[^>]*?\/users([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? [];
        next = url === undefined ? undefined : `${api.base}/users${url}`;
      }
      expect(seen).to.have.length(4);
      expect(await listed('q=z&_count=3&_page=2')).to.deep.equal(['zora@list.example']);
      expect(await listed('q=z&_count=3&_page=last')).to.deep.equal(['zora@list.example']);
    });

    for (const query of ['_sort=id', '_elements=id', '_result=array', 'name=x', 'status=none', '_count=0', '_page=x']) {
      it(`?${query} is 400`, async () => {
        expect((await api.call('GET', `/users?${query}`)).status).to.equal(400);
      });
    }

    it('no other request takes parameters', async () => {
      const id = await create();
      expect((await api.call('GET', `/users/${id}?x=1`)).status).to.equal(400);
      expect((await api.call('DELETE', `/users/${id}?_count=1`)).status).to.equal(400);
      expect((await api.call('POST', '/users?x=1', { body: {} })).status).to.equal(400);
    });
  });
});
