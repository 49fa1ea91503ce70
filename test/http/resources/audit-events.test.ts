import { expect } from 'chai';
import { isObject } from '../../../crds/json-value.ts';
import { ownerQuery } from '../../support/owner-query.ts';
import { eventually } from '../../support/eventually.ts';
import { addUser, newBrowser } from '../pages/browser.ts';
import { auditRecords, record } from './audit-records.ts';
import type { AuditRecords } from './audit-records.ts';
import { adminSecret, entries, startBoxApi, stringIn } from './box-api.ts';
import type { BoxApi, Shown } from './box-api.ts';

const password = 'a long enough passphrase';

describe('the audit trail', () => {
  let api: BoxApi;
  let trail: AuditRecords;

  before(async () => {
    api = await startBoxApi();
    trail = auditRecords(api);
    await api.declare('default', [
      { kind: 'Client', id: 'stranger', grant_types: ['client_credentials'], secret: 'stranger-secret' },
    ]);
  });
  after(() => api.stop());

  function loggedRecords(): readonly Shown[] {
    const lines = api.logLines.map((line): unknown => JSON.parse(line)).filter(isObject);
    return lines.map(({ audit }) => audit).filter(isObject);
  }

  it('tells who changed which fields of a user, and never their values', async () => {
    const id = await addUser(api, 'ann@shop.example', password);
    const records = await trail.change('PUT', `/users/${String(id)}`, { body: { data: { secret: 'sesame' } } });
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
      const records = await trail.change(method, path, body === undefined ? {} : { body, ...patch });
      expect(events(records), `${method} ${path} ${JSON.stringify(body)}`).to.deep.equal(expected);
    }
  });

  it('leaves no record of a change that is refused or rolled back', async () => {
    const id = await addUser(api, 'dan@shop.example', password);
    const before = (await trail.found('_total=accurate&_count=1')).at(0);
    const refused: readonly [method: string, path: string, body: unknown][] = [
      ['PUT', `/users/${String(id)}`, { 'group-ids': [999_999] }],
      ['POST', '/users', { email: 'DAN@shop.example', password }],
      ['PUT', '/Client/admin', { grant_types: [] }],
      ['POST', '/Group', { name: '' }],
    ];
    for (const [method, path, body] of refused) {
      expect((await api.call(method, path, { body })).status, path).to.be.greaterThan(399);
    }
    expect((await trail.found('_count=1')).at(0)).to.deep.equal(before);
  });

  it('records what the operator applies, in the name of its cluster', async () => {
    await api.declare('default', [
      { kind: 'Client', id: 'applied', grant_types: ['client_credentials'], secret: 'one' },
      { kind: 'Box', id: 'default', password: { min_length: 9 } },
    ]);
    await api.declare('default', [{ kind: 'Box', id: 'default', password: { min_length: 10 } }]);
    await api.remove('default', [{ kind: 'Client', id: 'applied' }]);
    const expected = ['client.created', 'settings.created', 'settings.changed', 'client.deleted'];
    const records = (await trail.found('_count=4')).toReversed();
    expect(records.map(({ event }) => event)).to.have.members(expected);
    for (const { actor } of records) expect(actor).to.deep.equal({ operator: 'test' });
    expect(records.find(({ event }) => event === 'settings.changed')).to.deep.include({ changed: ['password'] });
  });

  it('records a new owner of a client, a policy and a group: adoption and release', async () => {
    const client = { grant_types: ['client_credentials'] };
    const policy = { engine: 'allow', link: [{ resourceType: 'Client', id: 'adopted' }] };
    await api.call('PUT', '/Client/adopted', { body: { ...client, secret: 'a secret of its own' } });
    await api.call('PUT', '/AccessPolicy/adopted', { body: policy });
    await api.call('POST', '/Group', { body: { name: 'adopted' } });
    const adopt = 'unowned';
    const rows = [
      { kind: 'Client', id: 'adopted', ...client, name: 'Adopted' },
      { kind: 'AccessPolicy', id: 'adopted', ...policy },
      { kind: 'Group', id: 'adopted' },
    ] as const;
    const newest = async () => {
      const records = await trail.found('_count=3');
      return records.map(({ event, changed }) => [event, changed]);
    };
    await api.declare(
      'default',
      rows.map((row) => ({ ...row, adopt })),
    );
    const owner = [
      ['client.changed', ['name', 'owner']],
      ['group.changed', ['owner']],
      ['policy.changed', ['owner']],
    ];
    expect(await newest()).to.have.deep.members(owner);
    await api.declare('default', [
      { ...rows[0], name: 'Again' },
      { ...rows[1], description: 'Again' },
      { ...rows[2], description: 'Again' },
    ]);
    expect(await newest()).to.have.deep.members([
      ['client.changed', ['name']],
      ['group.changed', ['description']],
      ['policy.changed', ['description']],
    ]);
    await api.remove(
      'default',
      rows.map(({ kind, id }) => ({ kind, id, retain: true })),
    );
    expect(await newest()).to.have.deep.members([
      ['client.changed', ['owner']],
      ['group.changed', ['owner']],
      ['policy.changed', ['owner']],
    ]);
  });

  it('records a revoked session once, and a grant that was taken back', async () => {
    const token = stringIn(await api.requestToken('admin', 'admin-secret'), 'access_token');
    const [session] = entries(await api.call('GET', '/Session?_count=1'));
    const path = `/Session/${String(session?.['id'])}`;
    expect(events(await trail.change('DELETE', path))).to.deep.equal([['session.revoked', 'Session']]);
    expect(events(await trail.change('DELETE', path))).to.deep.equal([]);
    expect((await api.call('GET', '/Client', { token })).status).to.equal(401);
  });

  it('records sign-ins and sign-outs of a user, and the failures before them', async () => {
    const id = await addUser(api, 'eve@shop.example', password);
    const target = { resourceType: 'User', id: String(id) };
    const browser = newBrowser(api);
    for (const wrong of ['wrong one', 'wrong two']) {
      await browser.submit('/auth/signin', { email: 'eve@shop.example', password: wrong });
    }
    await browser.submit('/auth/signin', { email: 'eve@shop.example', password });
    await browser.submit('/auth/signout', {});
    const failed = await trail.written(`event=user.sign_in_failed&target=User/${String(id)}`);
    expect(failed).to.deep.include({ result: 'failure', target });
    expect(failed['actor']).to.deep.equal({ remote_addr: '127.0.0.1' });
    for (const event of ['user.signed_in', 'user.signed_out']) {
      const record = await trail.written(`event=${event}&user=${String(id)}`);
      expect(record).to.deep.include({ result: 'success', target });
      expect(record['actor']).to.deep.equal({ user: target, remote_addr: '127.0.0.1' });
    }
  });

  it('stores nothing of what was typed for an unknown account or client', async () => {
    const typed = 'my-pass-word-in-the-wrong-field@shop.example';
    await newBrowser(api).submit('/auth/signin', { email: typed, password: 'wrong' });
    await api.requestToken('unknown-client-name', 'wrong-secret');
    await api.requestToken('admin', 'wrong-secret');
    expect(await trail.written('event=client.authentication_failed&target=Client/admin')).to.include({
      result: 'failure',
    });
    for (const event of ['user.sign_in_failed', 'client.authentication_failed']) {
      await eventually(`${event} is recorded without a target`, async () => {
        return (await trail.found(`event=${event}`)).some(({ target }) => target === undefined);
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
    const denied = await trail.written('event=access.denied&client=stranger&target=Client/admin');
    expect(denied).to.deep.include({ result: 'denied', actor, count: 1 });
    expect(await trail.written('event=access.denied&client=stranger&target=User/')).to.deep.include({
      target: { resourceType: 'User' },
    });
    await eventually('the gateway is recorded', async () => {
      return (await trail.found('event=access.denied&client=stranger')).some(({ target }) => target === undefined);
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
    const [given] = await trail.found(`event=consent.given&user=${String(id)}`);
    expect(given).to.deep.include({ target, result: 'success' });
    expect(events(await trail.change('DELETE', `/Grant/${target.id}`))).to.deep.equal([['consent.removed', 'Grant']]);
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
    const [joined, registered, group] = await trail.found('_count=3');
    expect([group?.['event'], registered?.['event'], joined?.['event']]).to.deep.equal([
      ...['group.created', 'user.signed_up', 'group.member_added'],
    ]);
    expect(joined).to.deep.include({ target: group?.['target'], member: registered?.['target'] });
    const token = stringIn(await api.requestToken('admin', adminSecret), 'access_token');
    expect((await api.call('DELETE', '/Session', { token })).status).to.equal(200);
    expect(await trail.written('event=session.closed&client=admin&target=Client/admin')).to.include({
      result: 'success',
    });
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
    expect(await trail.written('event=user.throttled')).to.include({ result: 'denied' });
    expect(await trail.written('event=client.throttled')).to.include({ result: 'denied' });
    expect(await trail.found(`event=user.sign_in_failed&target=User/${String(id)}`)).to.have.length(1);
  });

  it('writes a line of the log for each record, with the same record', async () => {
    const records = await trail.change('POST', '/Group', { body: { name: 'logged' } });
    const logged = loggedRecords();
    for (const one of logged) expect([...record.Errors(one)], JSON.stringify(one)).to.deep.equal([]);
    expect(logged).to.deep.include(records[0]);
    await eventually('all that is logged is stored', async () => {
      const rows = await ownerQuery(api, 'SELECT count(*)::int AS stored FROM boxgate.audit_event', []);
      return rows[0]?.['stored'] === loggedRecords().length;
    });
  });
});
