import { expect } from 'chai';
import { meanwhile } from '../../support/meanwhile.ts';
import { readFileSync } from 'node:fs';
import { createdAt } from '../../support/created-at.ts';
import { examplesIn, resourceIn } from '../../policy/documented-examples.ts';
import { userTokens } from '../../support/user-token.ts';
import { startBoxApi, stringIn } from './box-api.ts';
import type { BoxApi, Reply } from './box-api.ts';

const member = (value: unknown, name: string): unknown => Reflect.get(Object(value), name);
const numberIn = ({ body, text }: Reply): number => {
  const id = member(body, 'id');
  if (typeof id !== 'number') throw new Error(text);
  return id;
};

/** The rule of the first recipe in docs/guides/policy-recipes.md. */
const [recipe] = examplesIn(readFileSync('docs/guides/policy-recipes.md', 'utf8'));
const ownRecord = String(member(resourceIn(recipe?.source ?? ''), 'expression'));

describe('changes, as policies see them', () => {
  let api: BoxApi;
  let probe = '';
  let admins = 0;
  let staff = 0;
  let nth = 0;

  before(async () => {
    api = await startBoxApi();
    const code = { redirect_uri: 'https://app.example.com/back' };
    await api.declare('default', [
      { kind: 'Client', id: 'probe', grant_types: ['client_credentials'], secret: 'a-secret' },
      {
        kind: 'Client',
        id: 'app',
        grant_types: ['authorization_code'],
        secret: 's',
        auth: { authorization_code: code },
      },
      { kind: 'AccessPolicy', id: 'own-record', engine: 'cel', subjects: 'authenticated', expression: ownRecord },
    ]);
    probe = stringIn(await api.requestToken('probe', 'a-secret'), 'access_token');
    admins = numberIn(await api.call('POST', '/Group', { body: { name: 'admins' } }));
    staff = numberIn(await api.call('POST', '/Group', { body: { name: 'staff', description: 'all' } }));
  });
  after(() => api.stop());

  async function aUser(fields: object = {}): Promise<number> {
    nth += 1;
    const body = { email: `user-${String(nth)}@mail.example`, password: 'correct horse', ...fields };
    return numberIn(await api.call('POST', '/users', { body }));
  }

  /** Lets the client `probe` do what an expression says. */
  const allow = (expression: string) =>
    api.declare('default', [
      {
        kind: 'AccessPolicy',
        id: 'probe',
        engine: 'cel',
        link: [{ resourceType: 'Client', id: 'probe' }],
        expression,
      },
    ]);

  /** Demands that a request is granted by exactly these changes. */
  async function expectChanges(
    method: string,
    path: string,
    body: unknown,
    names: readonly string[],
    type = 'application/json',
  ): Promise<void> {
    const what = `${method} ${path} ${JSON.stringify(body)}`;
    const send = () => api.call(method, path, { token: probe, body, type });
    await allow(`changes != ${JSON.stringify(names)}`);
    expect((await send()).status, what).to.equal(403);
    await allow(`changes == ${JSON.stringify(names)}`);
    expect((await send()).status, what).not.to.equal(403);
  }

  it('R-50 a user who may change their own account does not become an administrator', async () => {
    const user = await aUser();
    const { access } = await userTokens(api.database.ownerUrl, 'default', 'app', user);
    const put = (id: number, body: object) => api.call('PUT', `/users/${String(id)}`, { token: access, body });
    expect((await put(user, { 'group-ids': [admins] })).status).to.equal(403);
    expect((await put(user, { data: { a: 1 }, 'group-ids': [admins] })).status).to.equal(403);
    expect((await put(user, { status: 'active' })).status).to.equal(403);
    expect((await put(user, { email: 'of-another@mail.example' })).status).to.equal(403);
    expect((await put(await aUser(), { data: { a: 1 } })).status).to.equal(403);
    expect((await put(user, { data: { a: 1 }, 'group-ids': [] })).status).to.equal(200);
    const { body } = await api.call('GET', `/users/${String(user)}`);
    expect(member(body, 'group-ids')).to.deep.equal([]);
  });

  it('R-50 of a user: fields that are given and differ from the stored ones', async () => {
    const user = await aUser({ data: '{"a": 1}', 'group-ids': [staff] });
    const path = `/users/${String(user)}`;
    const { body: stored } = await api.call('GET', path);
    const same = { email: member(stored, 'email'), data: '{"a": 1}', status: null, 'group-ids': [staff, staff] };
    await expectChanges('PUT', path, same, []);
    await expectChanges('PUT', path, { password: member(stored, 'password') }, []);
    await expectChanges('PUT', path, { email: String(member(stored, 'email')).toUpperCase() }, []);
    await expectChanges('PUT', path, { data: { b: 2 } }, ['data']);
    await expectChanges('PUT', path, { 'group-ids': [admins, staff] }, ['group-ids']);
    await expectChanges('PUT', path, { password: 'another horse', status: 'inactive' }, ['password', 'status']);
    await expectChanges('PUT', path, { email: 'no email' }, ['email']);
    await expectChanges('PUT', path, { id: 5, unknown: 1 }, []);
    await expectChanges('PUT', path, { end_sessions: true }, ['end_sessions']);
    await expectChanges('PUT', path, { end_sessions: false }, []);
    await expectChanges('PUT', '/users/999999', { 'group-ids': [admins] }, ['group-ids']);
    const another = { email: 'another@mail.example', password: 'correct horse', 'group-ids': [] };
    await expectChanges('POST', '/users', another, ['email', 'password']);
  });

  it('R-50 of a group: its name and description, by PUT and by every form of PATCH', async () => {
    const path = `/Group/${String(staff)}`;
    await expectChanges('PUT', path, { name: 'staff', description: 'all' }, []);
    await expectChanges('PUT', path, { name: 'staff' }, ['description']);
    await expectChanges('PATCH', path, { description: 'some' }, ['description'], 'application/merge-patch+json');
    const rename = [{ op: 'replace', path: '/name', value: 'crew' }];
    await expectChanges('PATCH', path, rename, ['name'], 'application/json-patch+json');
    const unfit = [{ op: 'test', path: '/name', value: 'x' }];
    await expectChanges('PATCH', path, unfit, [], 'application/json-patch+json');
    await expectChanges('POST', '/Group', { name: 'new group' }, ['name']);
  });

  it('R-50 of a client: what is given, what is left out, and its secret', async () => {
    const stored = { grant_types: ['client_credentials'], name: 'Orders' };
    await api.call('PUT', '/Client/orders', { body: { ...stored, secret: 'a long secret' } });
    const path = '/Client/orders';
    await expectChanges('PUT', path, stored, []);
    await expectChanges('PUT', path, { ...stored, resourceType: 'Client', id: 'orders' }, []);
    await expectChanges('PUT', path, { grant_types: ['implicit'], secret: 'x' }, ['grant_types', 'name', 'secret']);
    await expectChanges('PATCH', path, { details: { a: 1 } }, ['details'], 'application/merge-patch+json');
    await expectChanges('PATCH', path, { secret: null }, ['secret'], 'application/merge-patch+json');
    await expectChanges('POST', '/Client', { id: 'new', ...stored, secret: 's' }, ['grant_types', 'name', 'secret']);
    await expectChanges('PUT', '/Client/new-too', { grant_types: [] }, ['grant_types']);
  });

  it('R-48 never created_at of a client or policy, and nothing else because of it', async () => {
    const link = [{ reference: 'Client/somebody' }];
    const bodies = { Client: { grant_types: [], name: 'One' }, AccessPolicy: { engine: 'allow', link } };
    const other = '2020-01-01T00:00:00.000Z';
    for (const [kind, body] of Object.entries(bodies)) {
      const path = `/${kind}/dated`;
      const created_at = createdAt((await api.call('PUT', path, { body })).body);
      await expectChanges('PUT', path, { ...body, created_at }, []);
      await expectChanges('PUT', path, { ...body, created_at: other }, []);
      await expectChanges('PUT', path, { ...body, created_at, description: 'x' }, ['description']);
      for (const value of [created_at, other, null]) {
        await expectChanges('PATCH', path, { created_at: value }, [], 'application/merge-patch+json');
        const replaced = [{ op: 'replace', path: '/created_at', value }];
        await expectChanges('PATCH', path, replaced, [], 'application/json-patch+json');
      }
      const tested = [
        { op: 'test', path: '/created_at', value: created_at },
        { op: 'add', path: '/description', value: 'y' },
      ];
      await expectChanges('PATCH', path, tested, ['description'], 'application/json-patch+json');
      const own = Object.keys(body).sort();
      await expectChanges('POST', `/${kind}`, { ...body, id: 'dated-too', created_at }, own);
      await expectChanges('PUT', `/${kind}/dated-put`, { ...body, created_at }, own);
    }
  });

  it('R-50 of a policy: links are compared in their stored form', async () => {
    const link = [{ resourceType: 'Client', id: 'orders' }];
    await api.call('PUT', '/AccessPolicy/some', { body: { engine: 'allow', link } });
    const path = '/AccessPolicy/some';
    await expectChanges('PUT', path, { engine: 'allow', link: [{ reference: 'Client/orders' }] }, []);
    await expectChanges('PUT', path, { engine: 'allow', link, description: 'x' }, ['description']);
  });

  it('R-50 of a session: its status', async () => {
    const { body } = await api.call('GET', '/Session?client=probe&_result=array');
    const path = `/Session/${String(member(member(body, '0'), 'id'))}`;
    await expectChanges('PUT', path, { status: 'active' }, []);
    await allow('changes == ["status"]');
    expect((await api.call('PUT', path, { token: probe, body: { status: 'revoked' } })).status).to.equal(200);
    probe = stringIn(await api.requestToken('probe', 'a-secret'), 'access_token');
  });

  it('R-50 is absent where no record is changed, and empty where the body cannot be read', async () => {
    await allow('changes == null');
    const explain = { request: { 'request-method': 'get', uri: '/x' } };
    expect((await api.call('POST', '/AccessPolicy/$explain', { token: probe, body: explain })).status).to.equal(200);
    expect((await api.call('GET', '/Group', { token: probe })).status).to.equal(200);
    expect((await api.call('DELETE', '/Client/nobody', { token: probe })).status).to.equal(204);
    await allow('changes == []');
    expect((await api.call('PUT', '/Client/x', { token: probe, body: '{' })).status).to.equal(400);
  });

  it('R-50 is seen by matcho and JSON Schema as well, and by $explain', async () => {
    const link = [{ resourceType: 'Client', id: 'probe' }];
    const path = `/Group/${String(staff)}`;
    const put = (description: string, name = 'crew') =>
      api.call('PUT', path, { token: probe, body: { name, description } });
    const allowed = { $every: { $enum: ['description'] } };
    for (const rule of [
      { engine: 'matcho', matcho: { changes: allowed } },
      {
        engine: 'json-schema',
        schema: {
          type: 'object',
          required: ['changes'],
          properties: { changes: { type: 'array', items: { const: 'description' } } },
        },
      },
    ]) {
      await api.declare('default', [{ kind: 'AccessPolicy', id: 'probe', link, ...rule }]);
      const { body } = await api.call('GET', path);
      const name = String(member(body, 'name'));
      expect((await put(`by ${rule.engine}`, name)).status, rule.engine).to.equal(200);
      expect((await put('x', 'other')).status, rule.engine).to.equal(403);
    }
    const asked = (changes: readonly string[]) => ({
      subject: { client: 'probe' },
      request: { 'request-method': 'put', uri: path, changes },
    });
    for (const [changes, granted] of [
      [['description'], true],
      [['name'], false],
    ] as const) {
      const reply = await api.call('POST', '/AccessPolicy/$explain', { body: asked(changes) });
      expect(member(reply.body, 'granted'), changes.join()).to.equal(granted);
    }
  });

  it('R-50 is what is stored: a record that others change meanwhile is decided about again', async () => {
    const user = await aUser({ data: '1', 'group-ids': [staff] });
    const path = `/users/${String(user)}`;
    await allow('changes == ["data"]');
    const row = ['default', user];
    const held = ['SELECT FROM boxgate.user WHERE box = $1 AND id = $2 FOR UPDATE', row] as const;
    const left = ['DELETE FROM boxgate.group_member WHERE box = $1 AND user_id = $2', row] as const;
    const body = { data: '2', 'group-ids': [staff] };
    const answer = await meanwhile(api, [held, left], () => api.call('PUT', path, { token: probe, body }));
    expect(answer.status).to.equal(403);
    expect((await api.call('GET', path)).body).to.deep.include({ data: '1', 'group-ids': [] });
  });
});
