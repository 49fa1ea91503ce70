import { expect } from 'chai';
import { uuidAt } from '../../records/sample-sessions.ts';
import { nextMillisecond } from '../../support/eventually.ts';
import { adminSecret, complaints, entries, startBoxApi, stringIn } from './box-api.ts';
import type { BoxApi, Reply, Shown } from './box-api.ts';

describe('sessions over REST', () => {
  let api: BoxApi;
  let count = 0;

  before(async () => {
    api = await startBoxApi();
  });
  after(() => api.stop());

  /** A new client without any policy, and a token of it. */
  async function issue(
    auth: object = {},
  ): Promise<{ readonly client: string; readonly token: string; readonly reply: Reply }> {
    count += 1;
    const client = `app-${String(count)}`;
    const body = { grant_types: ['client_credentials'], secret: 'x', auth: { client_credentials: auth } };
    await api.call('PUT', `/Client/${client}`, { body });
    const reply = await api.requestToken(client, 'x');
    return { client, reply, token: stringIn(reply, 'access_token') };
  }

  async function sessionOf(client: string): Promise<Shown> {
    const [session] = entries(await api.call('GET', `/Session?client=${client}`));
    if (session === undefined) throw new Error(`no session of ${client}`);
    return session;
  }

  const pathOf = (session: Shown): string => `/Session/${String(session['id'])}`;

  describe('interface.txt §4.3', () => {
    it('GET /Session lists the sessions, newest first', async () => {
      const first = await issue();
      await nextMillisecond();
      const second = await issue({ access_token_expiration: 600 });
      const reply = await api.call('GET', '/Session');
      expect(reply.body).to.include({ resourceType: 'Bundle', type: 'searchset' });
      const clients = entries(reply).map(({ client }) => client);
      expect(clients.slice(0, 2)).to.deep.equal([
        { resourceType: 'Client', id: second.client },
        { resourceType: 'Client', id: first.client },
      ]);
    });

    it('DELETE /Session closes the session of its token', async () => {
      const { client, token } = await issue();
      const closed = await api.call('DELETE', '/Session', { token });
      expect([closed.status, closed.body]).to.deep.equal([200, await sessionOf(client)]);
      expect(closed.body).to.include({ status: 'closed', active: false });
      expect((await api.call('DELETE', '/Session', { token })).status).to.equal(401);
    });
  });

  it('shows every field of a session', async () => {
    const before = Date.now();
    const { client } = await issue({ access_token_expiration: 600 });
    const session = await sessionOf(client);
    expect(session).to.deep.include({
      resourceType: 'Session',
      type: 'client_credentials',
      client: { resourceType: 'Client', id: client },
      user: null,
      active: true,
      status: 'active',
      closed_at: null,
      parent: null,
      remote_addr: '127.0.0.1',
      user_agent: null,
    });
    const created = Date.parse(String(session['created_at']));
    expect(created).to.be.within(before - 1, Date.now());
    expect(Date.parse(String(session['expires_at'])) - created).to.be.within(599_000, 601_000);
    expect((await api.call('GET', pathOf(session))).body).to.deep.equal(session);
    const yaml = await api.call('GET', pathOf(session), { accept: 'application/yaml' });
    expect(yaml.body).to.deep.equal(session);
  });

  describe('S-04', () => {
    it('without a policy it is 403, without a token 401', async () => {
      const { token } = await issue();
      for (const path of ['/Session', `/Session/${uuidAt(Date.now())}`]) {
        expect((await api.call('GET', path, { token })).status).to.equal(403);
        expect((await api.call('GET', path, { token: null })).status).to.equal(401);
      }
    });

    it('no token and no hash is in any answer', async () => {
      const { client, token, reply } = await issue({ refresh_token: true });
      const refresh = stringIn(reply, 'refresh_token');
      const session = await sessionOf(client);
      const texts = [
        (await api.call('GET', '/Session?_count=1000')).text,
        (await api.call('GET', pathOf(session))).text,
        (await api.call('DELETE', pathOf(session))).text,
      ].join('\n');
      for (const secret of [token, refresh, token.slice(-20), refresh.slice(-20)]) expect(texts).to.not.include(secret);
      expect(texts).to.not.match(/hash|bgt_|bgr_|\\\\x/);
    });

    it('only the own box, at most 1000 a page', async () => {
      const token = stringIn(await api.requestToken('admin', adminSecret, 'other'), 'access_token');
      const response = await fetch(`${api.url}/boxes/other/Session`, { headers: { Authorization: `Bearer ${token}` } });
      const body: unknown = await response.json();
      expect(body).to.have.property('total', 1);
      expect(complaints(await api.call('GET', '/Session?_count=1001'))).to.deep.equal(['_count']);
    });
  });

  describe('S-05', () => {
    const foreign: readonly (readonly [object, readonly string[]])[] = [
      [{ client: { resourceType: 'Client', id: 'admin' } }, ['client']],
      [{ user: { resourceType: 'User', id: '1' } }, ['user']],
      [{ scope: 'all' }, ['scope']],
      [{ expires_at: '2099-01-01T00:00:00.000Z' }, ['expires_at']],
      [{ expires_at: null }, ['expires_at']],
      [{ box: 'other', token_hash: 'x' }, ['box', 'token_hash']],
      [{ id: '00000000-0000-7000-8000-000000000000' }, ['id']],
      [{ resourceType: 'Client' }, ['resourceType']],
      [
        { created_at: '2020-01-01T00:00:00.000Z', parent: { resourceType: 'Session', id: 'x' } },
        ['created_at', 'parent'],
      ],
      [{ status: 'expired' }, ['status']],
      [{ status: 'closed' }, ['status']],
      [{ active: 'no' }, ['active']],
      [{ active: false, scope: 'all' }, ['scope']],
    ];
    for (const method of ['PUT', 'PATCH']) {
      for (const [body, fields] of foreign) {
        it(`${method} ${JSON.stringify(body)} is 422 and changes nothing`, async () => {
          const { client, token } = await issue();
          const session = await sessionOf(client);
          const reply = await api.call(method, pathOf(session), { body });
          expect([reply.status, complaints(reply)]).to.deep.equal([422, fields]);
          expect(await sessionOf(client)).to.deep.equal(session);
          expect((await api.call('GET', '/Session', { token })).status).to.equal(403);
        });
      }
    }

    const ending: readonly (readonly [string, string, object | readonly object[], string?])[] = [
      ['PATCH active', 'PATCH', { active: false }],
      ['PATCH status', 'PATCH', { status: 'revoked' }],
      ['PUT active', 'PUT', { active: false }],
      ['PUT both', 'PUT', { active: false, status: 'revoked' }],
      ['JSON Patch', 'PATCH', [{ op: 'replace', path: '/active', value: false }], 'application/json-patch+json'],
    ];
    for (const [title, method, body, type] of ending) {
      it(`${title} revokes the session`, async () => {
        const { client, token } = await issue();
        const session = await sessionOf(client);
        const reply = await api.call(method, pathOf(session), { body, ...(type && { type }) });
        expect([reply.status, reply.headers.get('etag')]).to.deep.equal([200, '"revoked"']);
        expect(reply.body).to.include({ status: 'revoked', active: false });
        expect((await api.call('GET', '/Session', { token })).status).to.equal(401);
        const back = await api.call('PATCH', pathOf(session), { body: { active: true } });
        expect([back.status, complaints(back)]).to.deep.equal([422, ['active']]);
      });
    }

    it('a PUT of what is there changes nothing', async () => {
      const { client, token } = await issue();
      const session = await sessionOf(client);
      expect((await api.call('PUT', pathOf(session), { body: session })).body).to.deep.equal(session);
      expect((await api.call('PUT', pathOf(session), { body: {} })).body).to.deep.equal(session);
      expect((await api.call('GET', '/Session', { token })).status).to.equal(403);
    });

    it('a stale If-Match is 412, a known version 304', async () => {
      const { client } = await issue();
      const session = await sessionOf(client);
      const stale = await api.call('PATCH', pathOf(session), {
        body: { active: false },
        headers: { 'If-Match': '"closed"' },
      });
      expect(stale.status).to.equal(412);
      const known = await api.call('GET', pathOf(session), { headers: { 'If-None-Match': '"active"' } });
      expect(known.status).to.equal(304);
    });
  });

  describe('S-06', () => {
    it('POST /Session is 405, and a PUT makes none', async () => {
      const posted = await api.call('POST', '/Session', { body: {} });
      expect([posted.status, posted.headers.get('allow')]).to.deep.equal([405, 'DELETE, GET, HEAD']);
      const path = `/Session/${uuidAt(Date.now())}`;
      expect((await api.call('PUT', path, { body: { active: true } })).status).to.equal(404);
      expect((await api.call('GET', path)).status).to.equal(404);
      expect((await api.call('DELETE', path)).status).to.equal(204);
      expect((await api.call('GET', '/Session/nonsense')).status).to.equal(404);
    });
  });

  it('DELETE /Session/<id> revokes it with its family, and keeps the record (S-03)', async () => {
    const { client, token, reply } = await issue({ refresh_token: true });
    const refresh = { grant_type: 'refresh_token', client_id: client, refresh_token: stringIn(reply, 'refresh_token') };
    const post = () => api.call('POST', '/auth/token', { body: refresh, token: null });
    await nextMillisecond();
    const second = stringIn(await post(), 'access_token');
    const sessions = entries(await api.call('GET', `/Session?client=${client}`));
    expect(sessions.map(({ type }) => type)).to.deep.equal(['refresh_token', 'client_credentials']);
    const [newest, oldest] = sessions;
    expect(newest?.['parent']).to.deep.equal({ resourceType: 'Session', id: oldest?.['id'] });
    const revoked = await api.call('DELETE', pathOf(oldest ?? {}));
    expect([revoked.status, revoked.body]).to.deep.include.members([200]);
    expect(revoked.body).to.include({ status: 'revoked' });
    for (const dead of [token, second])
      expect((await api.call('GET', '/Session', { token: dead })).status).to.equal(401);
    expect((await post()).status).to.equal(400);
    const after = entries(await api.call('GET', `/Session?client=${client}&status=revoked`));
    expect(after.map(({ id }) => id)).to.deep.equal(sessions.map(({ id }) => id));
    expect((await api.call('DELETE', pathOf(oldest ?? {}))).body).to.deep.equal(revoked.body);
  });

  it('DELETE /Session/<id> revokes a session once, with one record, however many send it at once', async () => {
    const { client, token } = await issue();
    const path = pathOf(await sessionOf(client));
    const replies = await Promise.all(Array.from({ length: 12 }, () => api.call('DELETE', path)));
    expect(new Set(replies.map(({ status }) => status))).to.deep.equal(new Set([200]));
    const revoked = await sessionOf(client);
    expect(revoked).to.include({ status: 'revoked', active: false });
    for (const { body } of replies) expect(body).to.deep.equal(revoked);
    expect((await api.call('GET', '/Session', { token })).status).to.equal(401);
    const records = entries(await api.call('GET', `/AuditEvent?target=${path.slice(1)}`));
    expect(records).to.have.length(1);
    expect(records[0]).to.nested.include({ event: 'session.revoked', 'actor.client.id': 'admin' });
  });

  it('DELETE /Session closes a session once, however many send it at once', async () => {
    const { client, token } = await issue();
    const replies = await Promise.all(Array.from({ length: 12 }, () => api.call('DELETE', '/Session', { token })));
    expect(replies.map(({ status }) => status).toSorted()).to.deep.equal([200, ...Array<number>(11).fill(401)]);
    expect(await sessionOf(client)).to.include({ status: 'closed' });
  });

  it('DELETE /Session/<id> with a condition revokes a session only if it has this status', async () => {
    const { client } = await issue();
    const path = pathOf(await sessionOf(client));
    const remove = (headers: Readonly<Record<string, string>>) => api.call('DELETE', path, { headers });
    for (const headers of [{ 'If-Match': '"closed"' }, { 'If-None-Match': '"active"' }]) {
      expect((await remove(headers)).status).to.equal(412);
      expect(await sessionOf(client)).to.include({ status: 'active' });
    }
    expect((await remove({ 'If-Match': '"active"' })).status).to.equal(200);
    expect((await remove({ 'If-Match': '"active"' })).status).to.equal(412);
    expect(await sessionOf(client)).to.include({ status: 'revoked' });
  });

  it('the sessions from before `revoke_sessions_before` are revoked, also where nothing else was ever revoked', async () => {
    const other = await startBoxApi();
    try {
      const client = { grant_types: ['client_credentials'], secret: 'x' };
      await other.call('PUT', '/Client/app', { body: client });
      await other.requestToken('app', 'x');
      await nextMillisecond();
      const revoke_sessions_before = new Date().toISOString();
      await other.call('PUT', '/Client/app', { body: { ...client, revoke_sessions_before } });
      await other.requestToken('app', 'x');
      const statuses = async (query: string) =>
        entries(await other.call('GET', `/Session?client=app${query}`)).map(({ status }) => status);
      expect(await statuses('')).to.deep.equal(['active', 'revoked']);
      expect(await statuses('&status=active')).to.deep.equal(['active']);
      expect(await statuses('&status=revoked')).to.deep.equal(['revoked']);
    } finally {
      await other.stop();
    }
  });

  it('the sessions of a deleted client are revoked', async () => {
    const { client } = await issue();
    await api.call('DELETE', `/Client/${client}`);
    expect(await sessionOf(client)).to.include({ status: 'revoked', active: false });
  });
});
