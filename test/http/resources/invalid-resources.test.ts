import { expect } from 'chai';
import { complaints, sentences } from './box-api.ts';
import type { BoxApi } from './box-api.ts';
import { onRestClients, plain } from './rest-clients.ts';

describe('invalid clients and policies over REST', () => {
  let api: BoxApi;
  const { fresh, put } = onRestClients((set) => (api = set));

  describe('C-01 to C-04, C-11: what is invalid is 422 with each field', () => {
    const implicit = { grant_types: ['implicit'] };
    const lifetime = (value: unknown) => ({
      ...plain,
      auth: { client_credentials: { access_token_expiration: value } },
    });
    const cases: readonly (readonly [string, object, readonly string[]])[] = [
      ['C-01 another id', { ...plain, id: 'other' }, ['id']],
      ['C-01 another resourceType', { ...plain, resourceType: 'AccessPolicy' }, ['resourceType']],
      ['C-01 an unknown field', { ...plain, extra: 1, secretRef: { name: 'x' } }, ['extra', 'secretRef']],
      [
        'C-01 an unknown field below',
        { ...plain, auth: { client_credentials: { x: 1 } } },
        ['auth.client_credentials.x'],
      ],
      [
        'R-15 a private key and a short one',
        {
          ...plain,
          jwks: {
            keys: [
              { kty: 'RSA', n: 'w'.repeat(342), e: 'AQAB', p: 'x', d: 'x' },
              { kty: 'RSA', n: 'w'.repeat(171), e: 'AQAB' },
            ],
          },
        },
        ['jwks.keys[0].d', 'jwks.keys[0].p', 'jwks.keys[1].n'],
      ],
      ['C-02 an unknown grant', { ...plain, grant_types: ['client_credentials', 'x'] }, ['grant_types[1]']],
      [
        'C-02 a grant twice',
        { ...plain, grant_types: ['client_credentials', 'client_credentials'] },
        ['grant_types[1]'],
      ],
      ['C-02 no array', { ...plain, grant_types: 'client_credentials' }, ['grant_types']],
      ['C-02 none at all', { secret: 'x' }, ['grant_types']],
      ['C-03 zero', lifetime(0), ['auth.client_credentials.access_token_expiration']],
      ['C-03 negative', lifetime(-1), ['auth.client_credentials.access_token_expiration']],
      ['C-03 a fraction', lifetime(1.5), ['auth.client_credentials.access_token_expiration']],
      ['C-03 a string', lifetime('600'), ['auth.client_credentials.access_token_expiration']],
      ['C-03 beyond 2^31', lifetime(2 ** 32), ['auth.client_credentials.access_token_expiration']],
      ['C-03 beyond ten years', lifetime(315_360_001), ['auth.client_credentials.access_token_expiration']],
      ['C-04 no redirect_uri', implicit, ['auth.implicit.redirect_uri']],
      [
        'C-04 a bad redirect_uri',
        { ...implicit, auth: { implicit: { redirect_uri: 'http://a.example' } } },
        ['auth.implicit.redirect_uri'],
      ],
      ['only the confidential may', { grant_types: ['client_credentials'] }, ['secret']],
      [
        'a moment in the future',
        { ...plain, revoke_sessions_before: '9999-01-01T00:00:00Z' },
        ['revoke_sessions_before'],
      ],
    ];
    for (const [title, body, fields] of cases) {
      it(title, async () => {
        const id = fresh();
        const reply = await put(id, body);
        expect([reply.status, complaints(reply)]).to.deep.equal([422, fields]);
        expect(reply.body).to.include({ resourceType: 'OperationOutcome', id: reply.headers.get('x-request-id') });
        expect((await api.call('GET', `/Client/${id}`)).status).to.equal(404);
      });
    }

    it('C-02 a hundred thousand grants', async () => {
      const reply = await put(fresh(), { ...plain, grant_types: Array.from({ length: 60_000 }, () => 'x') });
      expect(reply.status).to.equal(422);
      expect(reply.text.length).to.be.lessThan(50_000);
    });

    it('C-03 takes 1e3 for 1000', async () => {
      const body = `{"grant_types":["client_credentials"],"secret":"x","auth":{"client_credentials":{"access_token_expiration":1e3}}}`;
      const reply = await api.call('PUT', `/Client/${fresh()}`, { body });
      expect(reply.status).to.equal(201);
      expect(reply.text).to.include('"access_token_expiration":1000');
    });

    for (const id of ['123', 'a/b', '..', '.a', 'a:b', 'a\0', 'a\u202eb', 'аdmin', 'a b', 'x'.repeat(129), '']) {
      it(`C-11 refuses the id ${JSON.stringify(id.slice(0, 20))}`, async () => {
        const reply = await api.call('POST', '/Client', { body: { ...plain, id } });
        expect([reply.status, complaints(reply)]).to.deep.equal([422, ['id']]);
      });
    }

    it('P-02, C-01: an AccessPolicy that cannot work is refused with its field', async () => {
      const cases: readonly (readonly [object, string])[] = [
        [{}, 'engine'],
        [{ engine: 'ALLOW' }, 'engine'],
        [{ engine: 'allow ' }, 'engine'],
        [{ engine: 'cel', expression: '1 +' }, 'expression'],
        [{ engine: 'json-schema', schema: { constant: 1 } }, 'schema'],
        [{ engine: 'matcho', matcho: { uri: '#(' } }, 'matcho.uri'],
        [{ engine: 'matcho', matcho: { metod: { $not: 'post' } } }, 'matcho.metod'],
        [{ engine: 'allow', link: [{ resourceType: 'Session', id: 'x' }] }, 'link[0].resourceType'],
      ];
      for (const [body, field] of cases) {
        const reply = await api.call('PUT', '/AccessPolicy/p', { body });
        expect(reply.status, JSON.stringify(body)).to.equal(422);
        expect(complaints(reply)[0], reply.text).to.equal(field);
      }
    });
  });

  it('R-48 a 404 below a resource path is an OperationOutcome, elsewhere it is not', async () => {
    for (const path of ['/Client/x/y', '/AccessPolicy/a/b', '/users/1/groups', '/Group/', '/Session/x/y/z']) {
      const reply = await api.call('GET', path);
      expect([reply.status, Reflect.get(Object(reply.body), 'resourceType')], path).to.deep.equal([
        404,
        'OperationOutcome',
      ]);
    }
    expect((await api.call('GET', '/nothing/here')).body).to.deep.equal({ error: 'not_found' });
  });

  it('names the line and the column in an expression of several lines, to REST and to the operator', async () => {
    const expression = 'request_method == "get" &&\n  url == "/orders"';
    const told = /^is not valid in line 2, column 3: has the unknown variable "url"; known are /;
    for (const [rule, field] of [
      [{ engine: 'cel', expression }, 'expression'],
      [{ engine: 'complex', or: [{ engine: 'allow' }, { engine: 'cel', expression }] }, 'or[1].expression'],
    ] as const) {
      const reply = await api.call('POST', '/AccessPolicy', { body: { id: 'wrong', ...rule } });
      expect([reply.status, complaints(reply)]).to.deep.equal([422, [field]]);
      expect(sentences(reply)[0]?.slice(field.length + 1)).to.match(told);
      const [result] = await api.declare('default', [{ kind: 'AccessPolicy', id: 'declared', ...rule }]);
      const message = result?.faults?.[0]?.message ?? '';
      expect(message.startsWith(`${field}: `), message).to.equal(true);
      expect(message.slice(field.length + 2)).to.match(told);
    }
  });

  it('R-48 names the field of a rule that does not compile, whatever its path', async () => {
    const rules: readonly [object, string][] = [
      [{ engine: 'matcho', matcho: { user: { $foo: 1 } } }, 'matcho.user.$foo'],
      [{ engine: 'matcho', matcho: { params: { 'a b': { $x: 1 } } } }, 'matcho.params["a b"].$x'],
      [{ engine: 'json-schema', schema: { $defs: { a: { foo: 1 } } } }, 'schema.$defs.a'],
      [{ engine: 'matcho', matcho: { 'remote-addr': { $cidr: '10.0.0.1' } } }, 'matcho.remote-addr.$cidr'],
      [{ engine: 'cel', expression: 'uri ==' }, 'expression'],
      [{ engine: 'cel', expression: 'url == "/"' }, 'expression'],
      [{ engine: 'complex', and: [{ engine: 'matcho', matcho: { $x: 1 } }] }, 'and[0].matcho.$x'],
    ];
    for (const [rule, field] of rules) {
      const reply = await api.call('POST', '/AccessPolicy', { body: { id: 'wrong', ...rule } });
      expect([reply.status, complaints(reply)]).to.deep.equal([422, [field]]);
      expect(sentences(reply)[0]).to.match(
        /^\S+(?: b"\]\S*)? (?:must|is|has|calls|uses|reads|compares|cannot|takes|nests) /,
      );
    }
    const both = await api.call('POST', '/AccessPolicy', { body: { id: 'wrong', engine: 'complex' } });
    expect(sentences(both)).to.deep.equal([
      'and must be given for engine complex, or `or` in its place: not both, and neither for another engine',
    ]);
  });
});
