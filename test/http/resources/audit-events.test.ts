import { expect } from 'chai';
import { parse } from 'yaml';
import { Compile } from 'typebox/compile';
import { auditRecordSchema } from '../../../api/audit/audit-record.ts';
import { isObject } from '../../../crds/json-value.ts';
import { ownerQuery } from '../../support/owner-query.ts';
import { eventually } from '../../support/eventually.ts';
import { blocksOf } from '../../support/page-block.ts';
import { addUser, newBrowser } from '../pages/browser.ts';
import { adminSecret, entries, startBoxApi, stringIn } from './box-api.ts';
import type { BoxApi, CallOptions, Reply, Shown } from './box-api.ts';

const record = Compile(auditRecordSchema);
const password = 'a long enough passphrase';

describe('the audit trail', () => {
  let api: BoxApi;

  before(async () => {
    api = await startBoxApi();
  });
  after(() => api.stop());

  /** The records that a search finds, newest first; each must fit the documented schema. */
  async function found(query: string, box = 'default'): Promise<readonly Shown[]> {
    const path = `${api.url}/boxes/${box}/AuditEvent?${query}`;
    const token =
      box === 'default'
        ? api.adminToken
        : stringIn(await api.requestToken('admin', 'admin-secret', box), 'access_token');
    const response = await fetch(path, { headers: { Authorization: `Bearer ${token}` } });
    const body: unknown = await response.json();
    const records = entries({ status: response.status, headers: response.headers, text: '', body });
    for (const one of records) expect([...record.Errors(one)], JSON.stringify(one)).to.deep.equal([]);
    return records;
  }

  /** The records of one request, oldest first, without their ids and times. */
  async function recordsOf({ headers }: Reply): Promise<readonly Shown[]> {
    const requestId = headers.get('x-request-id');
    const all = await found('_count=100');
    return all.filter(({ request_id }) => request_id === requestId).toReversed();
  }

  function loggedRecords(): readonly Shown[] {
    const lines = api.logLines.map((line): unknown => JSON.parse(line)).filter(isObject);
    return lines.map(({ audit }) => audit).filter(isObject);
  }

  async function change(method: string, path: string, options: CallOptions = {}): Promise<readonly Shown[]> {
    const reply = await api.call(method, path, options);
    expect(reply.status, reply.text).to.be.lessThan(300);
    return recordsOf(reply);
  }

  it('tells who changed which fields of a user, and never their values', async () => {
    const id = await addUser(api, 'ann@shop.example', password);
    const records = await change('PUT', `/users/${String(id)}`, { body: { data: { secret: 'sesame' } } });
    expect(records).to.have.length(1);
    expect(records[0]).to.deep.include({
      resourceType: 'AuditEvent',
      box: 'default',
      event: 'user.changed',
      result: 'success',
      target: { resourceType: 'User', id: String(id) },
      changed: ['data'],
      count: 1,
    });
    expect(records[0]?.['actor']).to.deep.include({ client: { resourceType: 'Client', id: 'admin' } });
    expect(JSON.stringify(records)).not.to.contain('sesame');
  });

  it('reads one record, which no request changes or deletes', async () => {
    await change('POST', '/Group', { body: { name: 'read-one' } });
    const [newest] = await found('_count=1');
    const path = `/AuditEvent/${String(newest?.['id'])}`;
    const read = await api.call('GET', path);
    expect(read.status).to.equal(200);
    expect(read.body).to.deep.equal(newest);
    for (const method of ['PUT', 'PATCH', 'DELETE', 'POST']) {
      const { status } = await api.call(method, method === 'POST' ? '/AuditEvent' : path, { body: {} });
      expect(status, method).to.equal(405);
    }
  });

  it('answers only with a policy that allows it', async () => {
    await api.declare('default', [
      { kind: 'Client', id: 'stranger', grant_types: ['client_credentials'], secret: 'stranger-secret' },
    ]);
    const token = stringIn(await api.requestToken('stranger', 'stranger-secret'), 'access_token');
    expect((await api.call('GET', '/AuditEvent', { token })).status).to.equal(403);
    expect((await api.call('GET', '/AuditEvent', { token: null })).status).to.equal(401);
    const [block = ''] = blocksOf('audit.md', 'Read it', 'yaml');
    const manifest: unknown = parse(block);
    const spec = isObject(manifest) && isObject(manifest['spec']) ? manifest['spec'] : {};
    const link = [{ resourceType: 'Client', id: 'auditor' }];
    await api.declare('default', [
      { kind: 'Client', id: 'auditor', grant_types: ['client_credentials'], secret: 'auditor-secret' },
      { kind: 'AccessPolicy', id: 'auditors', ...spec, link },
    ]);
    const auditor = stringIn(await api.requestToken('auditor', 'auditor-secret'), 'access_token');
    expect((await api.call('GET', '/AuditEvent', { token: auditor })).status).to.equal(200);
    expect((await api.call('GET', '/Client', { token: auditor })).status).to.equal(403);
  });

  const events = (records: readonly Shown[]) =>
    records.map(({ event, target, changed, member }) => {
      const names = [event, isObject(target) ? target['resourceType'] : undefined];
      return [...names, ...(Array.isArray(changed) ? [changed] : []), ...(isObject(member) ? ['member'] : [])];
    });

  it('records each kind of change over REST, with the names of the changed fields', async () => {
    const user = (await api.call('POST', '/users', { body: { email: 'bob@shop.example', password } })).body;
    const userPath = `/users/${String(isObject(user) ? user['id'] : '')}`;
    const group = (await api.call('POST', '/Group', { body: { name: 'staff' } })).body;
    const groupId = isObject(group) ? Number(group['id']) : 0;
    const client = { grant_types: ['client_credentials'], secret: 'first-secret' };
    const policy = { engine: 'allow', link: [{ resourceType: 'Client', id: 'made' }] };
    const cases: readonly [method: string, path: string, body: unknown, events: readonly unknown[]][] = [
      [
        'POST',
        '/users',
        { email: 'cid@shop.example', password, 'group-ids': [groupId] },
        [
          ['user.created', 'User'],
          ['group.member_added', 'Group', 'member'],
        ],
      ],
      [
        'PUT',
        userPath,
        { 'group-ids': [groupId] },
        [
          ['user.changed', 'User', ['group-ids']],
          ['group.member_added', 'Group', 'member'],
        ],
      ],
      [
        'PUT',
        userPath,
        { 'group-ids': [] },
        [
          ['user.changed', 'User', ['group-ids']],
          ['group.member_removed', 'Group', 'member'],
        ],
      ],
      ['PUT', userPath, { password: 'another passphrase' }, [['user.password_changed', 'User']]],
      [
        'PUT',
        userPath,
        { status: 'inactive', password: 'a third passphrase' },
        [
          ['user.password_changed', 'User'],
          ['user.changed', 'User', ['status']],
        ],
      ],
      ['PUT', userPath, { status: 'inactive' }, []],
      ['DELETE', userPath, undefined, [['user.deleted', 'User']]],
      [
        'PATCH',
        `/Group/${String(groupId)}`,
        { description: 'of the shop' },
        [['group.changed', 'Group', ['description']]],
      ],
      ['DELETE', `/Group/${String(groupId)}`, undefined, [['group.deleted', 'Group']]],
      ['PUT', '/Client/made', client, [['client.created', 'Client']]],
      [
        'PUT',
        '/Client/made',
        { ...client, name: 'Made', secret: 'second-secret' },
        [['client.changed', 'Client', ['name', 'secret']]],
      ],
      ['PATCH', '/Client/made', { name: 'Made again' }, [['client.changed', 'Client', ['name']]]],
      ['PATCH', '/Client/made', { name: 'Made again' }, []],
      ['POST', '/AccessPolicy', { id: 'made', ...policy }, [['policy.created', 'AccessPolicy']]],
      [
        'PATCH',
        '/AccessPolicy/made',
        { description: 'for made' },
        [['policy.changed', 'AccessPolicy', ['description']]],
      ],
      ['DELETE', '/AccessPolicy/made', undefined, [['policy.deleted', 'AccessPolicy']]],
      ['DELETE', '/Client/made', undefined, [['client.deleted', 'Client']]],
    ];
    for (const [method, path, body, expected] of cases) {
      const patch = method === 'PATCH' ? { type: 'application/merge-patch+json' } : {};
      const records = await change(method, path, body === undefined ? {} : { body, ...patch });
      expect(events(records), `${method} ${path} ${JSON.stringify(body)}`).to.deep.equal(expected);
    }
  });

  it('leaves no record of a change that is refused or rolled back', async () => {
    const id = await addUser(api, 'dan@shop.example', password);
    const before = (await found('_total=accurate&_count=1')).at(0);
    const refused: readonly [method: string, path: string, body: unknown][] = [
      ['PUT', `/users/${String(id)}`, { 'group-ids': [999_999] }],
      ['POST', '/users', { email: 'DAN@shop.example', password }],
      ['PUT', '/Client/admin', { grant_types: [] }],
      ['POST', '/Group', { name: '' }],
    ];
    for (const [method, path, body] of refused) {
      expect((await api.call(method, path, { body })).status, path).to.be.greaterThan(399);
    }
    expect((await found('_count=1')).at(0)).to.deep.equal(before);
  });

  it('records what the operator applies, in the name of its cluster', async () => {
    await api.declare('default', [
      { kind: 'Client', id: 'applied', grant_types: ['client_credentials'], secret: 'one' },
      { kind: 'Box', id: 'default', password: { min_length: 9 } },
    ]);
    await api.declare('default', [{ kind: 'Box', id: 'default', password: { min_length: 10 } }]);
    await api.remove('default', [{ kind: 'Client', id: 'applied' }]);
    const expected = ['client.created', 'settings.created', 'settings.changed', 'client.deleted'];
    const records = (await found('_count=4')).toReversed();
    expect(records.map(({ event }) => event)).to.have.members(expected);
    for (const { actor } of records) expect(actor).to.deep.equal({ operator: 'test' });
    expect(records.find(({ event }) => event === 'settings.changed')).to.deep.include({ changed: ['password'] });
  });

  it('records a revoked session once, and a grant that was taken back', async () => {
    const token = stringIn(await api.requestToken('admin', 'admin-secret'), 'access_token');
    const [session] = entries(await api.call('GET', '/Session?_count=1'));
    const path = `/Session/${String(session?.['id'])}`;
    expect(events(await change('DELETE', path))).to.deep.equal([['session.revoked', 'Session']]);
    expect(events(await change('DELETE', path))).to.deep.equal([]);
    expect((await api.call('GET', '/Client', { token })).status).to.equal(401);
  });

  it('finds records by event, user, client, target, result and time, and pages through them', async () => {
    const target = 'Client/searched';
    await api.call('PUT', '/Client/searched', { body: { grant_types: ['client_credentials'], secret: 'one' } });
    for (const name of ['a', 'b', 'c'])
      await api.call('PATCH', '/Client/searched', { body: { name }, type: 'application/merge-patch+json' });
    expect(await found(`target=${target}`)).to.have.length(4);
    expect(await found(`target=${target}&event=client.changed&client=admin&result=success`)).to.have.length(3);
    expect(await found(`target=${target}&result=denied`)).to.have.length(0);
    expect(await found(`target=${target}&user=7`)).to.have.length(0);
    expect(await found(`target=${target}&created_at=lt2020-01-01`)).to.have.length(0);
    expect(await found(`target=${target}&created_at=ge2020-01-01`)).to.have.length(4);
    const first = await api.call('GET', `/AuditEvent?target=${target}&_count=3`);
    expect(entries(first).map(({ changed }) => changed)).to.deep.equal([['name'], ['name'], ['name']]);
    const next = /"next","url":"[^"]*(\/AuditEvent[^"]*)"/.exec(first.text)?.[1] ?? '';
    expect(entries(await api.call('GET', next)).map(({ event }) => event)).to.deep.equal(['client.created']);
    for (const query of ['event=unheard.of', 'target=7', 'result=maybe', 'user=ann', 'id=7', 'colour=red']) {
      expect((await api.call('GET', `/AuditEvent?${query}`)).status, query).to.equal(400);
    }
  });

  it('shows a box only its own records', async () => {
    const ours = await found('_count=1000');
    const theirs = await found('_count=1000', 'other');
    expect(theirs.map(({ box }) => box)).to.satisfy((names: unknown[]) => names.every((name) => name === 'other'));
    expect(theirs).to.have.length.greaterThan(0);
    const other = ours[0];
    const token = stringIn(await api.requestToken('admin', 'admin-secret', 'other'), 'access_token');
    const headers = { Authorization: `Bearer ${token}` };
    const read = await fetch(`${api.url}/boxes/other/AuditEvent/${String(other?.['id'])}`, { headers });
    expect(read.status).to.equal(404);
  });

  /** Waits for a record of an event, which is written in the background; the newest one. */
  async function written(query: string): Promise<Shown> {
    let newest: Shown | undefined;
    await eventually(`there is a record of ${query}`, async () => {
      [newest] = await found(`${query}&_count=1`);
      return newest !== undefined;
    });
    return newest ?? {};
  }

  it('records sign-ins and sign-outs of a user, and the failures before them', async () => {
    const id = await addUser(api, 'eve@shop.example', password);
    const target = { resourceType: 'User', id: String(id) };
    const browser = newBrowser(api);
    for (const wrong of ['wrong one', 'wrong two']) {
      await browser.submit('/auth/signin', { email: 'eve@shop.example', password: wrong });
    }
    await browser.submit('/auth/signin', { email: 'eve@shop.example', password });
    await browser.submit('/auth/signout', {});
    const failed = await written(`event=user.sign_in_failed&target=User/${String(id)}`);
    expect(failed).to.deep.include({ result: 'failure', target });
    expect(failed['actor']).to.deep.equal({ remote_addr: '127.0.0.1' });
    for (const event of ['user.signed_in', 'user.signed_out']) {
      const record = await written(`event=${event}&user=${String(id)}`);
      expect(record).to.deep.include({ result: 'success', target });
      expect(record['actor']).to.deep.equal({ user: target, remote_addr: '127.0.0.1' });
    }
  });

  it('stores nothing of what was typed for an unknown account or client', async () => {
    const typed = 'my-pass-word-in-the-wrong-field@shop.example';
    await newBrowser(api).submit('/auth/signin', { email: typed, password: 'wrong' });
    await api.requestToken('unknown-client-name', 'wrong-secret');
    await api.requestToken('admin', 'wrong-secret');
    expect(await written('event=client.authentication_failed&target=Client/admin')).to.include({ result: 'failure' });
    for (const event of ['user.sign_in_failed', 'client.authentication_failed']) {
      await eventually(`${event} is recorded without a target`, async () => {
        return (await found(`event=${event}`)).some(({ target }) => target === undefined);
      });
    }
    const everything = JSON.stringify(await ownerQuery(api, 'SELECT * FROM boxgate.audit_event', []));
    for (const text of [typed, 'unknown-client-name', 'wrong-secret']) {
      expect(everything).not.to.contain(text);
      expect(api.logLines.filter((line) => line.includes('"audit event"')).join()).not.to.contain(text);
    }
  });

  it('records who was denied what, of resources and at a gateway', async () => {
    const token = stringIn(await api.requestToken('stranger', 'stranger-secret'), 'access_token');
    expect((await api.call('DELETE', '/Client/admin', { token })).status).to.equal(403);
    expect((await api.call('GET', '/users', { token })).status).to.equal(403);
    const headers = { 'X-Original-Method': 'GET', 'X-Original-URI': '/', Host: 'app.example' };
    expect((await api.call('GET', '/auth/check?app=app.example', { token, headers })).status).to.equal(403);
    const actor = { client: { resourceType: 'Client', id: 'stranger' }, remote_addr: '127.0.0.1' };
    const denied = await written('event=access.denied&client=stranger&target=Client/admin');
    expect(denied).to.deep.include({ result: 'denied', actor, count: 1 });
    expect(await written('event=access.denied&client=stranger&target=User/')).to.deep.include({
      target: { resourceType: 'User' },
    });
    await eventually('the gateway is recorded', async () => {
      return (await found('event=access.denied&client=stranger')).some(({ target }) => target === undefined);
    });
  });

  it('records a consent that was given with its transaction, and its removal', async () => {
    const auth = { implicit: { redirect_uri: 'https://app.example/back' } };
    await api.declare('default', [{ kind: 'Client', id: 'shop', grant_types: ['implicit'], auth, scope: ['read'] }]);
    const id = await addUser(api, 'fay@shop.example', password);
    const browser = newBrowser(api);
    await browser.submit('/auth/signin', { email: 'fay@shop.example', password });
    const { location } = await browser.get('/auth/authorize?response_type=token&client_id=shop&scope=read');
    await browser.submit(location, { answer: 'allow' });
    const target = { resourceType: 'Grant', id: `${String(id)}.shop` };
    const [given] = await found(`event=consent.given&user=${String(id)}`);
    expect(given).to.deep.include({ target, result: 'success' });
    expect(events(await change('DELETE', `/Grant/${target.id}`))).to.deep.equal([['consent.removed', 'Grant']]);
  });

  it('begins no line of its own with text from a request', async () => {
    const forged = '"}\n{"level":"info","audit":{"event":"forged.event"}}\r\n\u2028';
    const headers = { 'User-Agent': 'a"}{"audit":{}}', 'X-Forwarded-For': '1.2.3.4", "x": "' };
    await newBrowser(api).submit('/auth/signin', { email: forged, password: forged }, headers);
    await api.requestToken(forged, forged);
    await api.call('GET', `/Client/${encodeURIComponent(forged)}`, { token: api.adminToken });
    const { body } = await api.call('POST', '/Group', { body: { name: 'an honest one' } });
    expect(body).to.include({ name: 'an honest one' });
    expect(loggedRecords().map(({ event }) => event)).not.to.include('forged.event');
  });

  it('records a registration with the group that it joins, and a session that its own token closes', async () => {
    await api.declare('default', [
      { kind: 'Box', id: 'default', registration: { enabled: true, default_group: 'members' } },
    ]);
    const email = 'gus@shop.example';
    const answer = await newBrowser(api).submit('/auth/signup', { email, password });
    expect(answer.status, answer.text).to.be.lessThan(400);
    const [joined, registered, group] = await found('_count=3');
    expect([group?.['event'], registered?.['event'], joined?.['event']]).to.deep.equal([
      ...['group.created', 'user.signed_up', 'group.member_added'],
    ]);
    expect(joined).to.deep.include({ target: group?.['target'], member: registered?.['target'] });
    const token = stringIn(await api.requestToken('admin', adminSecret), 'access_token');
    expect((await api.call('DELETE', '/Session', { token })).status).to.equal(200);
    expect(await written('event=session.closed&client=admin&target=Client/admin')).to.include({ result: 'success' });
  });

  it('records guesses that are not verified any more', async () => {
    const id = await addUser(api, 'hal@shop.example', password);
    const browser = newBrowser(api);
    let status = 200;
    for (let tries = 0; status !== 429 && tries < 100; tries += 1) {
      ({ status } = await browser.submit('/auth/signin', { email: 'hal@shop.example', password: 'wrong' }));
    }
    for (let tries = 0; tries < 100; tries += 1) {
      if ((await api.requestToken('stranger', 'wrong-secret')).status === 429) break;
    }
    expect(await written('event=user.throttled')).to.include({ result: 'denied' });
    expect(await written('event=client.throttled')).to.include({ result: 'denied' });
    expect(await found(`event=user.sign_in_failed&target=User/${String(id)}`)).to.have.length(1);
  });

  it('writes a line of the log for each record, with the same record', async () => {
    const records = await change('POST', '/Group', { body: { name: 'logged' } });
    const logged = loggedRecords();
    for (const one of logged) expect([...record.Errors(one)], JSON.stringify(one)).to.deep.equal([]);
    expect(logged).to.deep.include(records[0]);
    await eventually('all that is logged is stored', async () => {
      const rows = await ownerQuery(api, 'SELECT count(*)::int AS stored FROM boxgate.audit_event', []);
      return rows[0]?.['stored'] === loggedRecords().length;
    });
  });
});
