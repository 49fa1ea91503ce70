import { expect } from 'chai';
import { ownerQuery } from '../../../support/owner-query.ts';
import { startBoxApi } from '../box-api.ts';
import type { BoxApi, Reply } from '../box-api.ts';

describe('conditional requests and unchanged writes of users', () => {
  let api: BoxApi;
  let path: string;
  let group: unknown;

  before(async () => {
    api = await startBoxApi();
    group = field(await api.call('POST', '/Group', { body: { name: 'staff' } }), 'id');
  });
  after(() => api.stop());

  let count = 0;
  beforeEach(async () => {
    count += 1;
    const body = {
      email: `u${String(count)}@mail.example`,
      password: 'correct horse',
      data: '{"a":1}',
      'group-ids': [group],
    };
    const created = await api.call('POST', '/users', { body });
    expect(created.status, created.text).to.equal(201);
    path = `/users/${String(field(created, 'id'))}`;
    expect(created.headers.get('etag')).to.equal((await api.call('GET', path)).headers.get('etag'));
  });

  const tag = async () => (await api.call('GET', path)).headers.get('etag') ?? 'none';

  it('R-43 every write that changes a user changes the ETag, and no read does', async () => {
    const seen = new Set<string>();
    const writes = [
      { data: '{"a":2}' },
      { email: 'new@mail.example' },
      { status: 'active' },
      { 'group-ids': [] },
      { password: 'another horse' },
    ];
    for (const body of [{}, ...writes]) {
      const reply = await api.call('PUT', path, { body });
      expect(reply.status, reply.text).to.equal(200);
      expect(reply.headers.get('etag'))
        .to.match(/^"[\x21\x23-\x7e]+"$/)
        .and.to.equal(await tag());
      seen.add(await tag());
    }
    expect(seen).to.have.length(1 + writes.length);
  });

  it('RFC 9110 §13.1.1: a GET with a stale If-Match answers 412, and with the present one the user', async () => {
    const present = await tag();
    for (const [tags, status] of [
      ['"1"', 412],
      [present, 200],
      ['*', 200],
    ] as const) {
      const reply = await api.call('GET', path, { headers: { 'If-Match': tags } });
      expect(reply.status, tags).to.equal(status);
    }
  });

  it('R-43 PUT and DELETE with a stale If-Match answer 412 and change nothing', async () => {
    const stale = await tag();
    await api.call('PUT', path, { body: { data: '{"a":2}' } });
    const before = (await api.call('GET', path)).text;
    for (const [method, body] of [
      ['PUT', { data: '{"a":3}' }],
      ['PUT', { password: 'another horse' }],
      ['PUT', { status: 'inactive' }],
      ['DELETE', undefined],
    ] as const) {
      for (const condition of [stale, '"x"']) {
        const reply = await api.call(method, path, { headers: { 'If-Match': condition }, ...(body && { body }) });
        expect(reply.status, `${method} ${JSON.stringify(body)}`).to.equal(412);
      }
      const none = await api.call(method, path, { headers: { 'If-None-Match': await tag() }, ...(body && { body }) });
      expect(none.status).to.equal(412);
    }
    expect((await api.call('GET', path)).text).to.equal(before);
  });

  it('R-43 PUT and DELETE with the present If-Match, or *, are carried out', async () => {
    expect(
      (await api.call('PUT', path, { headers: { 'If-Match': await tag() }, body: { data: '2' } })).status,
    ).to.equal(200);
    expect((await api.call('PUT', path, { headers: { 'If-Match': '*' }, body: { data: '3' } })).status).to.equal(200);
    expect((await api.call('DELETE', path, { headers: { 'If-Match': await tag() } })).status).to.equal(200);
    expect((await api.call('PUT', path, { headers: { 'If-Match': '*' }, body: {} })).status).to.be.oneOf([404, 412]);
  });

  it('R-43 of two writers with one ETag exactly one wins', async () => {
    const condition = { 'If-Match': await tag() };
    const replies = await Promise.all(
      [1, 2, 3, 4].map((n) => api.call('PUT', path, { headers: condition, body: { data: String(n) } })),
    );
    expect(replies.map(({ status }) => status).sort()).to.deep.equal([200, 412, 412, 412]);
  });

  it('R-43 GET answers 304 to the present If-None-Match', async () => {
    const condition = { 'If-None-Match': await tag() };
    const known = await api.call('GET', path, { headers: condition });
    expect([known.status, known.text]).to.deep.equal([304, '']);
    await api.call('PUT', path, { body: { data: '5' } });
    expect((await api.call('GET', path, { headers: condition })).status).to.equal(200);
  });

  it('R-43 a malformed condition is 400', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const reply = await api.call(method, path, {
        headers: { 'If-Match': 'x' },
        ...(method === 'PUT' && { body: {} }),
      });
      expect(reply.status, method).to.equal(400);
    }
  });

  it('R-47 a user that is written back as it was read is not changed', async () => {
    for (const type of ['application/json', 'application/yaml']) {
      const read = await api.call('GET', path, { accept: type });
      const written = await api.call('PUT', path, { body: read.text, type, accept: type });
      expect([written.status, written.text]).to.deep.equal([200, read.text]);
      expect((await api.call('GET', path, { accept: type })).text).to.equal(read.text);
    }
  });

  it('R-47 nothing is written where nothing changes', async () => {
    const before = await api.call('GET', path);
    const version = await configVersion(api);
    for (const body of [
      {},
      { data: '{"a":1}' },
      { 'group-ids': [group, group] },
      { status: null },
      { email: `U${String(count)}@Mail.Example` },
    ]) {
      const reply = await api.call('PUT', path, { body });
      expect([reply.status, reply.text], JSON.stringify(body)).to.deep.equal([200, before.text]);
    }
    await api.call('PUT', path, { body: { status: 'inactive' } });
    const off = await configVersion(api);
    expect(off).to.be.above(version);
    await api.call('PUT', path, { body: { status: 'inactive' } });
    expect(await configVersion(api)).to.equal(off);
  });

  it('R-47 a read-only field that differs is refused with its name', async () => {
    for (const body of [
      { id: 999_999 },
      { groups: [] },
      { created_at: '2020-01-01T00:00:00.000Z' },
      { updated_at: null },
    ]) {
      const reply = await api.call('PUT', path, { body });
      expect(reply.status).to.equal(422);
      expect(field(reply, 'errors')).to.have.all.keys(Object.keys(body));
    }
  });

  it('R-47 every resource that is written back as it was read keeps its version', async () => {
    const link = [{ resourceType: 'User', id: '7' }];
    const fields = {
      id: 'kept',
      grant_types: ['client_credentials'],
      secret: 's3cr3t',
      name: 'Kept',
      details: { a: 1 },
    };
    expect((await api.call('POST', '/Client', { body: fields })).status).to.equal(201);
    await api.call('POST', '/AccessPolicy', { body: { id: 'kept', engine: 'matcho', matcho: { uri: '/x' }, link } });
    const session = field({ ...(await api.call('GET', '/Session?_count=1&_result=array')) }, '0');
    const paths = [
      '/Client/kept',
      '/AccessPolicy/kept',
      `/Group/${String(group)}`,
      `/Session/${String(Reflect.get(Object(session), 'id'))}`,
    ];
    for (const one of paths) {
      for (const type of ['application/json', 'application/yaml']) {
        const read: Reply = await api.call('GET', one, { accept: type });
        const version = await configVersion(api);
        const written = await api.call('PUT', one, { body: read.text, type, accept: type });
        expect([written.status, written.text, written.headers.get('etag')], one).to.deep.equal([
          200,
          read.text,
          read.headers.get('etag'),
        ]);
        expect(await configVersion(api), one).to.equal(version);
      }
    }
  });
});

function field({ body }: Reply, name: string): unknown {
  return Reflect.get(Object(body), name);
}

async function configVersion(api: BoxApi): Promise<number> {
  const statement = `SELECT config_version AS version FROM boxgate.box WHERE box = 'default'`;
  const [row] = await ownerQuery(api, statement, []);
  return Number(row?.['version']);
}
