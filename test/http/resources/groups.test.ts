import { expect } from 'chai';
import { meanwhile } from '../../support/meanwhile.ts';
import { complaints, entries, startBoxApi } from './box-api.ts';
import type { BoxApi, Reply } from './box-api.ts';

describe('groups over REST', () => {
  let api: BoxApi;
  let nth = 0;

  before(async () => {
    api = await startBoxApi();
  });
  after(() => api.stop());

  const aName = (): string => `group ${String((nth += 1))}`;
  const member = (value: unknown, name: string): unknown => Reflect.get(Object(value), name);
  const post = (body: object) => api.call('POST', '/Group', { body });

  async function create(fields: object = {}): Promise<{ id: string; reply: Reply }> {
    const reply = await post({ name: aName(), ...fields });
    expect(reply.status, reply.text).to.equal(201);
    return { id: String(member(reply.body, 'id')), reply };
  }

  /** Makes a new user a member. */
  async function join(id: string): Promise<void> {
    const email = `member-${String((nth += 1))}@mail.example`;
    const body = { email, password: 'correct horse', 'group-ids': [Number(id)] };
    const { status, text } = await api.call('POST', '/users', { body });
    expect(status, text).to.equal(201);
  }

  it('are created with a name and a description, under an id that the service gives', async () => {
    const name = aName();
    const reply = await post({ resourceType: 'Group', name, description: 'who pays' });
    expect(reply.status, reply.text).to.equal(201);
    const id = member(reply.body, 'id');
    expect(id).to.be.a('number');
    expect(reply.headers.get('location')).to.equal(`http://boxgate.test/boxes/default/Group/${String(id)}`);
    expect(reply.body).to.deep.include({ resourceType: 'Group', id, name, description: 'who pays', members: 0 });
    expect(member(reply.body, 'created_at')).to.be.a('string');
    const read = await api.call('GET', `/Group/${String(id)}`);
    expect([read.status, read.body]).to.deep.equal([200, reply.body]);
    expect(read.headers.get('etag')).to.equal(reply.headers.get('etag'));
  });

  it('are renamed in the order of locks in which users are created, so that neither waits for the other', async () => {
    const { id } = await create();
    const use = ["SELECT FROM boxgate.box_use WHERE box = 'default' FOR NO KEY UPDATE", []] as const;
    const group = ["SELECT FROM boxgate.group WHERE box = 'default' AND id = $1 FOR KEY SHARE NOWAIT", [id]] as const;
    const renamed = await meanwhile(api, [use, group], () =>
      api.call('PUT', `/Group/${id}`, { body: { name: aName() } }),
    );
    expect(renamed.status, renamed.text).to.equal(200);
  });

  it('R-50 do not take, by PUT or PATCH, a name that a policy links: 409 names the policy', async () => {
    const [linked, own] = [aName(), await create()];
    await join(own.id);
    const link = [{ resourceType: 'Group', id: linked }];
    await api.call('PUT', '/AccessPolicy/of-a-group', { body: { engine: 'allow', link } });
    const path = `/Group/${own.id}`;
    const renames = [
      await api.call('PUT', path, { body: { name: linked } }),
      await api.call('PATCH', path, { body: { name: linked }, type: 'application/merge-patch+json' }),
      await api.call('PATCH', path, {
        body: [{ op: 'replace', path: '/name', value: linked }],
        type: 'application/json-patch+json',
      }),
    ];
    for (const reply of renames) {
      expect([reply.status, complaints(reply)]).to.deep.equal([409, ['name']]);
      expect(reply.text).to.contain('AccessPolicy of-a-group');
    }
    const toAdmins = await api.call('PUT', path, { body: { name: 'admins' } });
    expect([toAdmins.status, complaints(toAdmins)]).to.deep.equal([409, ['name']]);
    expect(toAdmins.text).to.contain('is the group of administrators');
    // A new group has no members yet.
    const made = await create({ name: linked });
    expect((await api.call('PUT', `/Group/${made.id}`, { body: { name: linked, description: 'x' } })).status).to.equal(
      200,
    );
    // E-16: a group that leaves the name would take the rights of its members.
    const left = await api.call('PUT', `/Group/${made.id}`, { body: { name: aName() } });
    expect([left.status, left.text.includes('AccessPolicy of-a-group')]).to.deep.equal([409, true]);
    await api.call('DELETE', '/AccessPolicy/of-a-group');
    expect((await api.call('DELETE', `/Group/${made.id}`)).status).to.equal(200);
    expect((await api.call('PUT', path, { body: { name: linked } })).status).to.equal(200);
  });

  it('E-16 take a linked name without members, and with members only their last one', async () => {
    const [before, free, own, other] = [aName(), aName(), await create(), await create()];
    const rename = (id: string, name: string) => api.call('PUT', `/Group/${id}`, { body: { name } });
    expect((await rename(own.id, before)).status).to.equal(200);
    expect((await rename(own.id, aName())).status).to.equal(200);
    const link = [before, free].map((id) => ({ resourceType: 'Group', id }));
    await api.call('PUT', '/AccessPolicy/of-a-name', { body: { engine: 'cel', expression: 'true', link } });
    expect((await rename((await create()).id, free)).status).to.equal(200);
    await join(other.id);
    await join(own.id);
    expect((await rename(other.id, before)).status).to.equal(409);
    expect((await rename(own.id, before)).status).to.equal(200);
  });

  it('R-50 do not take the name of the group that everybody joins who registers', async () => {
    const { id } = await create();
    await join(id);
    await api.declare('default', [
      { kind: 'Box', id: 'default', registration: { enabled: true, default_group: 'new' } },
    ]);
    const reply = await api.call('PUT', `/Group/${id}`, { body: { name: 'new' } });
    expect([reply.status, complaints(reply)]).to.deep.equal([409, ['name']]);
    expect(reply.text).to.contain('registration.default_group');
  });

  const faulty: readonly (readonly [what: string, body: object, fields: readonly string[]])[] = [
    ['no name', {}, ['name']],
    ['an empty name', { name: '' }, ['name']],
    ['a name of two lines', { name: 'a\nb' }, ['name']],
    ['a name with a blank at its end', { name: 'a ' }, ['name']],
    ['a name of digits', { name: '17' }, ['name']],
    ['a name that is turned round', { name: 'a\u202eb' }, ['name']],
    ['a long name', { name: 'x'.repeat(257) }, ['name']],
    ['a name longer than a manifest or a link takes', { name: 'x'.repeat(129) }, ['name']],
    ['a description longer than a manifest takes', { name: 'x', description: 'x'.repeat(1025) }, ['description']],
    ['a description with a bell', { name: 'x', description: 'ring\u0007' }, ['description']],
    ['a number as description', { name: 'x', description: 1 }, ['description']],
    ['an id, members and a box', { name: 'x', id: 1, members: 5, box: 'other' }, ['id', 'members', 'box']],
    ['another type', { name: 'x', resourceType: 'User' }, ['resourceType']],
  ];
  for (const [what, body, fields] of faulty) {
    it(`are refused with ${what}, every fault at once`, async () => {
      const reply = await post(body);
      expect([reply.status, complaints(reply).toSorted()]).to.deep.equal([422, [...fields].sort()]);
    });
  }

  it('are created with the longest name that a manifest and a link take, and two lines of description', async () => {
    const [name, description] = ['ü'.repeat(128), 'Who cooks\nand who cleans'];
    const { id, reply } = await create({ name, description });
    expect(reply.body).to.include({ name, description });
    const link = [{ resourceType: 'Group', id: name }];
    const { status, text } = await api.call('PUT', '/AccessPolicy/of-the-longest', { body: { engine: 'allow', link } });
    expect(status, text).to.equal(201);
    // E-16: its members would lose what the policy grants.
    const kept = await api.call('DELETE', `/Group/${id}`);
    expect([kept.status, kept.text.includes('AccessPolicy of-the-longest')]).to.deep.equal([409, true]);
    await api.call('DELETE', '/AccessPolicy/of-the-longest');
    expect((await api.call('DELETE', `/Group/${id}`)).status).to.equal(200);
  });

  it('have names of their own: 409, of twenty at the same time too', async () => {
    const name = aName();
    const answers = await Promise.all(Array.from({ length: 20 }, () => post({ name })));
    expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
    // On a slow machine some are sent away: changes of a box come one after the other.
    expect(answers.filter(({ status }) => ![201, 409, 503].includes(status))).to.deep.equal([]);
    expect((await post({ name })).status).to.equal(409);
    const { id } = await create();
    expect((await api.call('PUT', `/Group/${id}`, { body: { name } })).status).to.equal(409);
  });

  it('are replaced by a PUT, also by what was read, and changed by a PATCH', async () => {
    const { id, reply } = await create({ description: 'one' });
    const name = aName();
    const back = await api.call('PUT', `/Group/${id}`, { body: { ...Object(reply.body), name } });
    expect([back.status, member(back.body, 'name'), member(back.body, 'description')]).to.deep.equal([
      200,
      name,
      'one',
    ]);
    const put = await api.call('PUT', `/Group/${id}`, { body: { name } });
    expect(member(put.body, 'description')).to.equal(null);
    const merged = await api.call('PATCH', `/Group/${id}`, { body: { description: 'two' } });
    expect([merged.status, member(merged.body, 'name'), member(merged.body, 'description')]).to.deep.equal([
      200,
      name,
      'two',
    ]);
    const type = 'application/json-patch+json';
    const patched = await api.call('PATCH', `/Group/${id}`, { type, body: [{ op: 'remove', path: '/description' }] });
    expect([patched.status, member(patched.body, 'description')]).to.deep.equal([200, null]);
    expect((await api.call('PUT', `/Group/${id}`, { body: { name, id: Number(id) + 1 } })).status).to.equal(422);
  });

  it('have a version', async () => {
    const { id, reply } = await create();
    const headers = { 'If-Match': reply.headers.get('etag') ?? '' };
    const known = { 'If-None-Match': reply.headers.get('etag') ?? '' };
    expect((await api.call('GET', `/Group/${id}`, { headers: known })).status).to.equal(304);
    expect((await api.call('PUT', `/Group/${id}`, { body: { name: aName() }, headers })).status).to.equal(200);
    expect((await api.call('PUT', `/Group/${id}`, { body: { name: aName() }, headers })).status).to.equal(412);
    expect((await api.call('DELETE', `/Group/${id}`, { headers })).status).to.equal(412);
  });

  it('are deleted, and are gone then; their ids do not come back', async () => {
    const { id } = await create();
    expect((await api.call('DELETE', `/Group/${id}`)).status).to.equal(200);
    expect((await api.call('DELETE', `/Group/${id}`)).status).to.equal(204);
    expect((await api.call('GET', `/Group/${id}`)).status).to.equal(404);
    expect((await api.call('PUT', `/Group/${id}`, { body: { name: aName() } })).status).to.equal(404);
    expect(Number((await create()).id)).to.be.greaterThan(Number(id));
    for (const other of ['0', '-1', 'abc', '9'.repeat(30)]) {
      expect((await api.call('GET', `/Group/${other}`)).status, other).to.equal(404);
    }
  });

  it('are found by name and id, in any order, in pages, also as YAML', async () => {
    const names = ['zeta', 'alpha', 'mu'];
    const ids: string[] = [];
    for (const name of names) ids.push((await create({ name })).id);
    const found = async (query: string) => entries(await api.call('GET', `/Group?${query}`)).map((one) => one['name']);
    expect(await found('name=mu')).to.deep.equal(['mu']);
    expect(await found(`id=${ids[0] ?? ''}`)).to.deep.equal(['zeta']);
    expect((await found('_sort=name')).filter((name) => names.includes(String(name)))).to.deep.equal(names.toSorted());
    expect((await found('_sort=-created_at'))[0]).to.equal('mu');
    expect(await found('_sort=-name&_count=1')).to.deep.equal(['zeta']);
    expect((await api.call('GET', '/Group?color=red')).status).to.equal(400);
    const yaml = await api.call('GET', `/Group/${ids[1] ?? ''}`, { accept: 'application/yaml' });
    expect(member(yaml.body, 'name')).to.equal('alpha');
  });

  it('hold the users whose group-ids name them, and count them', async () => {
    const { id } = await create({ description: 'd' });
    const body = { email: 'ann@mail.example', password: 'correct horse', 'group-ids': [Number(id)] };
    const user = await api.call('POST', '/users', { body });
    expect([user.status, member(user.body, 'group-ids')], user.text).to.deep.equal([201, [Number(id)]]);
    expect(member(user.body, 'groups')).to.deep.equal([
      { id: Number(id), name: member((await api.call('GET', `/Group/${id}`)).body, 'name'), description: 'd' },
    ]);
    expect(member((await api.call('GET', `/Group/${id}`)).body, 'members')).to.equal(1);
    const listed = await api.call('GET', `/users?group-id=${id}`);
    expect(Array.isArray(listed.body) && listed.body.length).to.equal(1);
    await api.call('DELETE', `/Group/${id}`);
    const after = await api.call('GET', `/users/${String(member(user.body, 'id'))}`);
    expect([member(after.body, 'groups'), member(after.body, 'group-ids')]).to.deep.equal([null, []]);
  });
});
