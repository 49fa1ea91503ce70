import { expect } from 'chai';
import { isObject } from '../../../../crds/path.ts';
import { addUser } from '../../pages/browser.ts';
import { auditRecords, eventsOf } from './audit-records.ts';
import type { AuditRecords } from './audit-records.ts';
import { entries, startBoxApi, stringIn } from '../box-api.ts';
import type { BoxApi } from '../box-api.ts';

const password = 'a long enough passphrase';

describe('the audit trail', () => {
  let api: BoxApi;
  let trail: AuditRecords;

  before(async () => {
    api = await startBoxApi();
    trail = auditRecords(api);
  });
  after(() => api.stop());

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
      expect(eventsOf(records), `${method} ${path} ${JSON.stringify(body)}`).to.deep.equal(expected);
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
    expect(eventsOf(await trail.change('DELETE', path))).to.deep.equal([['session.revoked', 'Session']]);
    expect(eventsOf(await trail.change('DELETE', path))).to.deep.equal([]);
    expect((await api.call('GET', '/Client', { token })).status).to.equal(401);
  });
});
