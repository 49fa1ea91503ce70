import { expect } from 'chai';
import { complaints } from './box-api.ts';
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
      ['C-02 no grant', { ...plain, grant_types: [] }, ['grant_types']],
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
        [{ engine: 'matcho', matcho: { a: '#(' } }, 'matcho.a'],
        [{ engine: 'allow', link: [{ resourceType: 'Session', id: 'x' }] }, 'link[0].resourceType'],
      ];
      for (const [body, field] of cases) {
        const reply = await api.call('PUT', '/AccessPolicy/p', { body });
        expect(reply.status, JSON.stringify(body)).to.equal(422);
        expect(complaints(reply)[0], reply.text).to.equal(field);
      }
    });
  });
});
