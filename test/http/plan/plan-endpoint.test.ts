import { expect } from 'chai';
import { isList, isObject } from '../../../crds/path.ts';
import { eventually } from '../../support/eventually.ts';
import { ownerQuery } from '../../support/owner-query.ts';
import { userTokens } from '../../support/user-token.ts';
import { sentences, startBoxApi, stringIn } from '../resources/box-api.ts';
import type { BoxApi, Reply, Shown } from '../resources/box-api.ts';

const secret = 'a secret of the client';
const machine = { grant_types: ['client_credentials'] };
const ndjson = 'application/x-ndjson';

/** An object of the desired state. */
function object(kind: string, id: string, fields: object, more: object = {}): object {
  const named = kind === 'Group' ? { name: id } : { id };
  return { object: { kind, id, name: id, ...more, resource: { resourceType: kind, ...named, ...fields } } };
}

const admin = [
  object('Client', 'admin', machine),
  object('AccessPolicy', 'admin', { engine: 'allow', link: [{ resourceType: 'Client', id: 'admin' }] }),
];

describe('POST /$plan', () => {
  let api: BoxApi;

  before(async () => {
    api = await startBoxApi();
    await api.declare('default', [
      { kind: 'Client', id: 'app', ...machine, secret },
      { kind: 'Group', id: 'staff' },
      { kind: 'AccessPolicy', id: 'staff', engine: 'allow', link: [{ resourceType: 'Group', id: 'staff' }] },
    ]);
  });
  after(() => api.stop());

  const present = [
    ...admin,
    object('Client', 'app', machine),
    object('Group', 'staff', {}),
    object('AccessPolicy', 'staff', { engine: 'allow', link: [{ resourceType: 'Group', id: 'staff' }] }),
  ];
  const send = (lines: readonly unknown[]): Promise<Reply> =>
    api.call('POST', '/$plan', { type: ndjson, body: lines.map((line) => `${JSON.stringify(line)}\n`).join('') });
  const plan = async (lines: readonly unknown[]): Promise<Shown> => {
    const reply = await send(lines);
    expect(reply.status, reply.text).to.equal(200);
    return isObject(reply.body) ? reply.body : {};
  };

  const staffId = async (): Promise<unknown> => {
    const { body } = await api.call('GET', '/Group?name=staff&_result=array');
    const [group] = (isList(body) ? body : []).filter(isObject);
    return group?.['id'];
  };

  it('answers alike for a host that another box has and for one that no box has', async () => {
    // E-25 f: a plan of one box asked which hosts the others have.
    await api.declare('other', [{ kind: 'Box', id: 'other', hosts: ['taken.example'] }]);
    const answer = async (host: string): Promise<string> => {
      const { compared: _, ...rest } = await plan([...present, object('Box', 'default', { hosts: [host] })]);
      return JSON.stringify(rest).replaceAll(host, 'host');
    };
    expect(await answer('taken.example')).to.equal(await answer('free.example'));
    expect(await answer('taken.example')).not.to.contain('another box');
  });

  it('finds no change in what is declared, whatever the secrets are', async () => {
    expect(await plan(present)).to.deep.include({ resources: [], secrets: [], sessions: [], decisions: [] });
  });

  it('names each kind of change: created, changed, deleted, released, and what is refused', async () => {
    await api.call('PUT', '/Client/by-hand', { body: { ...machine, secret } });
    const { resources } = await plan([
      ...admin,
      object('Client', 'app', { ...machine, scope: ['read'], name: 'App' }),
      object('Client', 'new', machine),
      object('Client', 'by-hand', machine),
      object('AccessPolicy', 'faulty', { engine: 'cel' }),
      object('AccessPolicy', 'useless', { engine: 'cel', expression: 'no_such_name' }),
    ]);
    const results = (isList(resources) ? resources : [])
      .filter(isObject)
      .map(({ faults: _faults, detail: _detail, ...one }) => one);
    expect(results).to.have.deep.members([
      { kind: 'AccessPolicy', id: 'faulty', result: 'invalid' },
      { kind: 'AccessPolicy', id: 'staff', result: 'deleted' },
      { kind: 'Group', id: 'staff', result: 'deleted' },
      { kind: 'Client', id: 'app', result: 'changed', fields: ['name', 'scope'] },
      { kind: 'Client', id: 'new', result: 'created' },
      { kind: 'Client', id: 'by-hand', result: 'conflict' },
      { kind: 'AccessPolicy', id: 'useless', result: 'created' },
    ]);
    expect(JSON.stringify(resources)).to.contain('no_such_name').and.to.contain('adoption: IfUnowned takes it over');
  });

  it('adopts as the operator does: the sessions of an adopted client end', async () => {
    await api.requestToken('by-hand', secret);
    const { sessions } = await plan([...present, object('Client', 'by-hand', machine, { adopt: 'unowned' })]);
    expect((isList(sessions) ? sessions : []).filter(isObject).map(({ client }) => client)).to.deep.equal(['by-hand']);
  });

  it('ends the sessions of a client that is switched off, or may no longer have such a token', async () => {
    const token = stringIn(await api.requestToken('app', secret), 'access_token');
    const others = present.filter((_, index) => index !== 2);
    for (const fields of [
      { ...machine, active: false },
      { grant_types: [], service_accounts: undefined },
    ]) {
      const { sessions } = await plan([...others, object('Client', 'app', fields)]);
      expect(isList(sessions) ? sessions : [], JSON.stringify(fields)).to.have.length(1);
    }
    expect((await api.call('GET', '/Client', { token })).status).to.equal(403);
  });

  it('leaves a suspended object and its row alone', async () => {
    const others = present.filter((_, index) => index !== 2);
    const suspended = object('Client', 'app', { ...machine, name: 'changed' }, { suspended: true });
    expect(await plan([...others, suspended])).to.deep.include({ resources: [] });
  });

  it('decides requests of a group, and of a user who is in it, before and after', async () => {
    const person = { email: 'ann@mail.example', password: 'correct horse', 'group-ids': [await staffId()] };
    const { body: user } = await api.call('POST', '/users', { body: person });
    const subjects = [{ group: 'staff' }, { user: isObject(user) ? user['id'] : 0 }, { group: 'nobody' }];
    const requests = subjects.map((subject) => ({
      request: { subject, request: { 'request-method': 'get', uri: '/Client' } },
    }));
    const { decisions } = await plan([...admin, object('Client', 'app', machine), ...requests]);
    const given = (isList(decisions) ? decisions : []).filter(isObject).filter(({ from }) => from === 'given');
    expect(given.map(({ subject, effect, policy }) => ({ subject, effect, policy }))).to.deep.equal(
      subjects.slice(0, 2).map((subject) => ({ subject, effect: 'lost', policy: 'staff' })),
    );
  });

  it('is certain that a client which it deletes loses what a policy granted by more than is recorded', async () => {
    const link = [{ resourceType: 'Client', id: 'robot' }];
    const byHeader = { engine: 'matcho', matcho: { headers: { 'x-team': 'blue' } }, link } as const;
    await api.declare('default', [
      { kind: 'Client', id: 'robot', ...machine, secret },
      { kind: 'AccessPolicy', id: 'by-header', ...byHeader },
    ]);
    const token = stringIn(await api.requestToken('robot', secret), 'access_token');
    expect((await api.call('GET', '/Group', { token, headers: { 'X-Team': 'blue' } })).status).to.equal(200);
    await eventually('the request is recorded', async () =>
      (await api.call('GET', '/AccessPolicy/$requests')).text.includes('by-header'),
    );
    const certainties = async (lines: readonly object[]): Promise<unknown> => {
      const { decisions } = await plan(lines);
      const shown = (isList(decisions) ? decisions : []).filter(isObject);
      return shown.filter(({ policy }) => policy === 'by-header').map(({ effect, certain }) => [effect, certain]);
    };
    const client = object('Client', 'robot', machine);
    const policy = object('AccessPolicy', 'by-header', byHeader);
    expect(await certainties([...present, client, policy])).to.deep.equal([]);
    expect(await certainties([...present, policy])).to.deep.equal([['lost', true]]);
    expect(await certainties([...present, client])).to.deep.equal([['lost', false]]);
    await api.remove('default', [
      { kind: 'Client', id: 'robot' },
      { kind: 'AccessPolicy', id: 'by-header' },
    ]);
  });

  describe('for requests of boxgate.cli, which has no row', () => {
    const linked = {
      engine: 'matcho',
      link: [{ resourceType: 'Client', id: 'boxgate.cli' }],
      matcho: { uri: '/Group', client: { name: 'boxctl', auth: { authorization_code: { pkce: true } } } },
    } as const;
    const tool = object('AccessPolicy', 'tool', linked);

    before(async () => {
      await api.declare('default', [{ kind: 'AccessPolicy', id: 'tool', ...linked }]);
      await callAs('bea@mail.example', [await staffId()], '/Client');
      await callAs('cleo@mail.example', [], '/Group');
      const recorded = async (): Promise<string> => (await api.call('GET', '/AccessPolicy/$requests')).text;
      const both = /boxgate\.cli.*boxgate\.cli/s;
      await eventually('both requests are recorded', async () => both.test(await recorded()));
    });
    after(() => api.remove('default', [{ kind: 'AccessPolicy', id: 'tool' }]));

    /** Creates a user, who then makes an allowed request with boxctl. */
    async function callAs(email: string, groups: readonly unknown[], path: string): Promise<void> {
      const person = { email, password: 'correct horse', 'group-ids': groups };
      const { body } = await api.call('POST', '/users', { body: person });
      const user = isObject(body) ? Number(body['id']) : 0;
      const { access } = await userTokens(api.database.ownerUrl, 'default', 'boxgate.cli', user);
      expect((await api.call('GET', path, { token: access })).status).to.equal(200);
    }

    const ofTool = (list: unknown): readonly Shown[] =>
      (isList(list) ? list : []).filter(isObject).filter((one) => JSON.stringify(one).includes('boxgate.cli'));
    const ofGroup = { subject: { client: 'boxgate.cli', group: 'staff' }, path: '/Client', policy: 'staff' };
    const ofOthers = { subject: { client: 'boxgate.cli', any_user: true }, path: '/Group', policy: 'tool' };
    const lost = { effect: 'lost', method: 'GET', from: 'recorded', certain: true };

    const plans: Readonly<Record<string, readonly [planned: readonly object[], lost: readonly object[]]>> = {
      'what the box has': [[...present, tool], []],
      'no policy for boxgate.cli': [present, [ofOthers]],
      'no policy for the group': [[...present.slice(0, -1), tool], [ofGroup]],
      'a policy for other built-in clients': [
        [...present, object('AccessPolicy', 'tool', { ...linked, matcho: { client: { id: 'boxgate.ui' } } })],
        [ofOthers],
      ],
      'a disabled box': [
        [...present, tool, object('Box', 'default', { active: false })],
        [ofGroup, ofOthers],
      ],
    };
    for (const [what, [planned, expected]] of Object.entries(plans)) {
      it(`decides those that are recorded, for ${what}`, async () => {
        const { decisions, sessions } = await plan(planned);
        expect(ofTool(decisions)).to.have.deep.members(expected.map((one) => ({ ...lost, ...one })));
        expect(ofTool(sessions)).to.have.length(what === 'a disabled box' ? 2 : 0);
      });
    }

    it('decides those that are given', async () => {
      const subject = { client: 'boxgate.cli', group: 'staff' };
      const request = { request: { subject, request: { 'request-method': 'delete', uri: '/Client/app' } } };
      const { decisions } = await plan([...present.slice(0, -1), tool, request]);
      const given = ofTool(decisions).filter(({ from }) => from === 'given');
      expect(given.map(({ effect, policy }) => [effect, policy])).to.deep.equal([['lost', 'staff']]);
    });
  });

  it('writes no row, version, session end or record, also when it deletes everything', async () => {
    const rows = () =>
      ownerQuery(
        api,
        `SELECT (SELECT json_agg(r ORDER BY r.kind, r.id) FROM boxgate.resource r)::text AS resources,
                (SELECT json_agg(b ORDER BY b.box) FROM boxgate.box b)::text AS boxes,
                (SELECT json_agg(g ORDER BY g.id) FROM boxgate.group g)::text AS groups,
                (SELECT json_agg(u ORDER BY u.box) FROM boxgate.box_use u)::text AS used,
                (SELECT count(*) FROM boxgate.tombstone) AS tombstones, (SELECT count(*) FROM boxgate.revocation) AS ends,
                (SELECT count(*) FROM boxgate.box_version) AS versions, (SELECT count(*) FROM boxgate.session) AS sessions,
                (SELECT count(*) FROM boxgate.audit_event WHERE event <> 'access.denied') AS records`,
        [],
      );
    const before = await rows();
    const { resources } = await plan([
      object('Client', 'only-one', machine),
      object('Box', 'default', { active: false }),
    ]);
    expect(isList(resources) ? resources.length : 0).to.be.greaterThan(5);
    expect(await rows()).to.deep.equal(before);
  });

  it('names the line of a fault', async () => {
    const many = Array.from({ length: 20_001 }, () => 0);
    const cases: readonly (readonly [line: unknown, status: number, sentence: RegExp])[] = [
      [{ neither: 1 }, 400, /^line 3 must be a JSON object with the member `object` or `request`/],
      [object('Secret', 'x', {}), 422, /^line 3: kind /],
      [object('Client', 'x', machine, { id: 'y' }), 422, /^line 3: id must be the id of the resource/],
      [{ request: { subject: {}, request: { uri: '/' } } }, 422, /^line 3: request\.request-method /],
      [{ request: { subject: { group: 1 }, request: {} } }, 422, /^line 3: subject\.group must be a string/],
      [{ request: { request: { changes: many } } }, 422, /^line 3: request\.changes must have at most 20000 entries$/],
      [{ object: { kind: many } }, 422, /^line 3: kind must have at most 20000 entries$/],
    ];
    for (const [line, status, sentence] of cases) {
      const reply = await send([...admin, line]);
      expect(reply.status, reply.text).to.equal(status);
      expect(sentences(reply)[0]).to.match(sentence);
    }
  });

  it('refuses another format, and more than it takes', async () => {
    expect((await api.call('POST', '/$plan', { body: {} })).status).to.equal(415);
    const tooLong = await api.call('POST', '/$plan', { type: ndjson, body: 'x'.repeat(16_777_217) });
    expect(tooLong.status).to.equal(413);
    const longLine = await send([...admin, object('Client', 'long', { details: 'x'.repeat(1_048_576) })]);
    expect([longLine.status, ...sentences(longLine)]).to.deep.equal([
      413,
      'line 3 must have at most 1048576 characters: a line has one object or request',
    ]);
    const request = { request: { subject: { client: 'app' }, request: { 'request-method': 'get', uri: '/' } } };
    expect((await send(Array.from({ length: 1001 }, () => request))).status).to.equal(413);
  });

  it('answers two plans of one box one after the other, and the other requests meanwhile', async () => {
    const many = Array.from({ length: 300 }, (_, nth) => object('Client', `many-${String(nth)}`, machine));
    const [first, second, other] = await Promise.all([
      plan([...present, ...many]),
      plan([...present, ...many]),
      api.call('GET', '/Client/app'),
    ]);
    expect(first['resources']).to.deep.equal(second['resources']).and.to.have.length(300);
    expect(other.status).to.equal(200);
  });
});
