import { expect } from 'chai';
import { sentences, startBoxApi, stringIn } from '../resources/box-api.ts';
import type { BoxApi } from '../resources/box-api.ts';

const request = { 'request-method': 'get', uri: '/orders' };

describe('POST /AccessPolicy/$explain', () => {
  let api: BoxApi;

  before(async () => {
    api = await startBoxApi();
    const orders = { id: 'orders', grant_types: ['client_credentials'], secret: 's3cr3t' };
    const link = [{ resourceType: 'Client', id: 'orders' }];
    await api.call('POST', '/Client', { body: orders });
    const writers = { id: 'by-token', engine: 'cel', expression: 'token.scope == "write"', link };
    const others = { id: 'by-uri', engine: 'matcho', matcho: { uri: '/else' }, link };
    for (const body of [writers, others]) await api.call('POST', '/AccessPolicy', { body });
  });
  after(() => api.stop());

  const explain = (body: object) => api.call('POST', '/AccessPolicy/$explain', { body });

  it('tells what every candidate says to a subject and a request, and which one decides', async () => {
    const { status, body } = await explain({ subject: { client: 'orders', token: { scope: 'write' } }, request });
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      granted: true,
      policy: 'by-token',
      candidates: [
        { policy: 'by-token', engine: 'cel', granted: true },
        { policy: 'by-uri', engine: 'matcho', granted: false },
      ],
    });
  });

  it('tells after a denial what each candidate wants, and which policies for others would grant it', async () => {
    const asked = { subject: { client: 'orders' }, request };
    const denied = {
      granted: false,
      candidates: [
        { policy: 'by-token', engine: 'cel', granted: false, fault: 'line 1, column 6: field not found: scope' },
        { policy: 'by-uri', engine: 'matcho', granted: false, lacks: { path: 'uri', wants: '/else' } },
      ],
    };
    const others = [{ policy: 'admin', link: [{ resourceType: 'Client', id: 'admin' }] }];
    expect((await explain(asked)).body).to.deep.equal({ ...denied, would_grant: others });
    expect((await explain({ request })).body).to.deep.equal({ granted: false, candidates: [] });
  });

  it('tells nothing of the rules to one who may ask, but not list the policies', async () => {
    await api.call('POST', '/Client', { body: { id: 'asks', grant_types: ['client_credentials'], secret: 's3cr3t' } });
    const link = [{ resourceType: 'Client', id: 'asks' }];
    const rule = { id: 'asks', engine: 'matcho', matcho: { uri: '/AccessPolicy/$explain' }, link };
    await api.call('POST', '/AccessPolicy', { body: rule });
    const token = stringIn(await api.requestToken('asks', 's3cr3t'), 'access_token');
    const body = { subject: { client: 'orders' }, request };
    const told = await api.call('POST', '/AccessPolicy/$explain', { body, token });
    expect(told.status, told.text).to.equal(200);
    expect(told.text).to.contain('by-uri').and.not.to.contain('/else').and.not.to.contain('would_grant');
    await api.call('PUT', '/AccessPolicy/asks', { body: { ...rule, matcho: { uri: '#^/AccessPolicy' } } });
    const more = await api.call('POST', '/AccessPolicy/$explain', { body, token });
    expect(more.text).to.contain('/else').and.to.contain('would_grant');
    await api.call('DELETE', '/AccessPolicy/asks');
  });

  it('tells it for another time, and for now without one', async () => {
    const expression = 'timestamp(time).getHours("Europe/Berlin") == 9 && time == token.iat';
    const link = [{ resourceType: 'Client', id: 'orders' }];
    await api.call('PUT', '/AccessPolicy/by-time', { body: { engine: 'cel', expression, link } });
    for (const [time, granted] of [
      ['2026-11-23T08:30:00Z', true],
      ['2026-11-23T09:00:00Z', false],
      ['2026-07-23T07:30:00Z', true],
    ] as const) {
      const at = { ...request, time: Date.parse(time) / 1000 };
      const { body } = await explain({ subject: { client: 'orders' }, request: at });
      expect(Reflect.get(Object(body), 'granted'), time).to.equal(granted);
    }
    const always = { engine: 'cel', expression: 'timestamp(time) > timestamp("2026-01-01T00:00:00Z")', link };
    await api.call('PUT', '/AccessPolicy/by-time', { body: always });
    expect((await explain({ subject: { client: 'orders' }, request })).body).to.include({ policy: 'by-time' });
    for (const time of ['2026-11-23T08:30:00Z', 1.5, -1, 253_402_300_800]) {
      const wrong = await explain({ subject: { client: 'orders' }, request: { ...request, time } });
      expect(wrong.status, String(time)).to.equal(422);
      expect(sentences(wrong)[0], String(time)).to.contain('request.time');
    }
    await api.call('DELETE', '/AccessPolicy/by-time');
  });

  it('tells it for a user too, with the groups they are in', async () => {
    const group = Number(
      Reflect.get(Object((await api.call('POST', '/Group', { body: { name: 'staff' } })).body), 'id'),
    );
    const fields = { email: 'ann@mail.example', password: 'correct horse', 'group-ids': [group], data: '{"a": 1}' };
    const user = Number(Reflect.get(Object((await api.call('POST', '/users', { body: fields })).body), 'id'));
    const link = [{ resourceType: 'Group', id: 'staff' }];
    const body = { id: 'by-group', engine: 'matcho', matcho: { user: { data: { a: 1 } } }, link };
    await api.call('POST', '/AccessPolicy', { body });
    const answer = await explain({ subject: { client: 'orders', user }, request });
    expect(answer.body).to.deep.include({ granted: true, policy: 'by-group' });
    for (const [token, granted] of [
      [{ scope: 'boxgate' }, true],
      [{ scope: 'openid boxgate', audience: 'http://boxgate.test/boxes/default' }, true],
      [{ scope: 'openid' }, false],
      [{ audience: 'https://files.example' }, false],
      [{ token: { scope: 'openid' } }, false],
      [{ token: { aud: ['https://files.example'] } }, false],
    ] as const) {
      const { body: told } = await explain({ subject: { client: 'orders', user, ...token }, request });
      const candidates: unknown = Reflect.get(Object(told), 'candidates');
      expect(Reflect.get(Object(told), 'granted'), `R-B1 ${JSON.stringify(token)}`).to.equal(granted);
      expect(JSON.stringify(candidates).includes('by-group'), `R-B1 ${JSON.stringify(token)}`).to.equal(granted);
    }
    const gone = await explain({ subject: { user: user + 1 }, request });
    expect([gone.status, sentences(gone)]).to.deep.equal([422, ['subject.user must be an active user of this box']]);
  });

  it('R-B1 shows the scope and the audience of the question to policies', async () => {
    const asked = { subject: { client: 'orders', scope: 'write', audience: 'x' }, request };
    expect((await explain(asked)).body).to.deep.include({ granted: true, policy: 'by-token' });
  });

  const wrong: Record<string, readonly [object, string]> = {
    'no request': [{}, 'request must be given'],
    'no method': [{ request: { uri: '/' } }, 'request.request-method must be given'],
    'a field nobody knows': [{ subject: { person: 'x' }, request }, 'subject.person is not a known field'],
    'a client that is not there': [
      { subject: { client: 'nobody' }, request },
      'subject.client must be a client of this box',
    ],
    'a path that is no text': [
      { request: { ...request, uri: 1 } },
      'request.uri must be a string, not 1: quote it in YAML',
    ],
  };
  for (const [what, [body, sentence]] of Object.entries(wrong)) {
    it(`answers ${what} with one sentence that names the field`, async () => {
      const reply = await explain(body);
      expect(reply.status).to.equal(422);
      expect(sentences(reply)).to.deep.equal([sentence]);
    });
  }
});
