import { expect } from 'chai';
import { startBoxApi } from './box-api.ts';
import type { BoxApi } from './box-api.ts';

/** Value of each misspelled field: no answer and no log may show it. */
const canary = 'canary-of-a-secret';
const machine = { grant_types: ['client_credentials'], secret: 'x' };
const nothing = { grant_types: ['client_credentials'] };
const person = { email: 'ann@shop.example', password: 'a long enough passphrase' };
const hint = (word: string): string => `. Did you mean \`${word}\`?`;

type Row = readonly [method: string, path: string, body: object, status: number, sentence: string];

const requests: readonly Row[] = [
  ['PUT', '/Client/c', { ...nothing, secert: canary }, 422, `secert is not a known field${hint('secret')}`],
  ['POST', '/Client', { ...nothing, clientSecret: canary }, 422, `clientSecret is not a known field${hint('secret')}`],
  ['PATCH', '/Client/c', { redirectUris: [canary] }, 422, hint('auth.authorization_code.redirect_uris')],
  ['PUT', '/Client/c', { ...machine, grant_types: ['implict'] }, 422, `grant: \`implict\`${hint('implicit')}`],
  ['PUT', '/AccessPolicy/p', { engin: canary }, 422, `engin is not a known field${hint('engine')}`],
  ['PUT', '/AccessPolicy/p', { engine: 'Matcho' }, 422, `engine is not a known value: \`Matcho\`${hint('matcho')}`],
  ['PUT', '/AccessPolicy/p', { engine: 'cel', expression: 'url == "/"' }, 422, hint('uri')],
  ['PUT', '/AccessPolicy/p', { engine: 'matcho', matcho: { uri: { $one_of: [] } } }, 422, hint('$one-of')],
  ['PUT', '/AccessPolicy/p', { engine: 'matcho', matcho: { grant_types: { $contain: 'x' } } }, 422, 'not a part of'],
  [
    'PUT',
    '/AccessPolicy/p',
    { engine: 'matcho', matcho: { params: { a: { $contain: 'x' } } } },
    422,
    hint('$contains'),
  ],
  ['PUT', '/AccessPolicy/p', { engine: 'matcho', matcho: { client: { naem: { $not: 'x' } } } }, 422, hint('name')],
  ['PUT', '/AccessPolicy/p', { engine: 'cel', expression: 'client.naem != "x"' }, 422, hint('name')],
  ['PUT', '/AccessPolicy/p', { engine: 'matcho', matcho: { metod: { $not: 'x' } } }, 422, hint('request-method')],
  ['PUT', '/AccessPolicy/p', { engine: 'matcho', matcho: { request_method: 'nil?' } }, 422, hint('request-method')],
  ['PUT', '/AccessPolicy/p', { engine: 'json-schema', schema: { properties: { url: {} } } }, 422, hint('uri')],
  ['POST', '/Group', { name: 'a', descripton: canary }, 422, `are name and description${hint('description')}`],
  ['POST', '/AccessPolicy/$explain', { subjct: canary }, 422, `subjct is not a known field${hint('subject')}`],
  ['GET', '/Client?nmae=a', {}, 400, hint('name')],
  ['GET', '/Client?_sort=createdAt', {}, 400, hint('created_at')],
  ['GET', '/Session?_totl=none', {}, 400, hint('_total')],
  ['GET', '/Session?status=actve', {}, 400, hint('active')],
];

describe('a misspelled name over REST', () => {
  let api: BoxApi;
  before(async () => {
    api = await startBoxApi();
    await api.call('PUT', '/Client/c', { body: machine });
  });
  after(() => api.stop());

  for (const [method, path, body, status, sentence] of requests) {
    it(`${method} ${path} ${JSON.stringify(body)}: ${sentence}`, async () => {
      const reply = await api.call(method, path, method === 'GET' ? {} : { body });
      expect(reply.status, reply.text).to.equal(status);
      expect(sentences(reply.body).join(), reply.text).to.contain(sentence);
      expect(reply.text).not.to.contain(canary);
    });
  }

  it('PATCH of a session', async () => {
    const { body } = await api.call('GET', '/Session?_count=1&_result=array');
    const session: unknown = Array.isArray(body) ? body[0] : undefined;
    const reply = await api.call('PATCH', `/Session/${String(Reflect.get(Object(session), 'id'))}`, {
      body: { activ: false },
      type: 'application/merge-patch+json',
    });
    expect([reply.status, ...sentences(reply.body)]).to.deep.equal([
      422,
      `activ is not a known field${hint('active')}`,
    ]);
  });

  const users: readonly (readonly [field: string, value: unknown, key: string, word: string])[] = [
    ['passwrod', canary, 'passwrod', 'password'],
    ['Password', canary, 'Password', 'password'],
    ['groupIds', [7], 'groupIds', 'group-ids'],
    ['emial', canary, 'emial', 'email'],
    ['status', 'Inactive', 'status', 'inactive'],
  ];
  for (const [field, value, key, word] of users) {
    it(`POST /users with ${field}: ${JSON.stringify(value)} may mean ${word}`, async () => {
      const reply = await api.call('POST', '/users', { body: { ...person, [field]: value } });
      const errors: unknown = Reflect.get(Object(reply.body), 'errors');
      expect(reply.status).to.equal(422);
      expect(String(Reflect.get(Object(errors), key)))
        .to.match(/\. Did you mean `[^`]+`\?$/)
        .and.contain(hint(word));
      expect(reply.text).not.to.contain(canary);
    });
  }
});

function sentences(body: unknown): readonly string[] {
  const issues: unknown = Reflect.get(Object(body), 'issue');
  return Array.isArray(issues) ? issues.map((issue) => String(Reflect.get(Object(issue), 'diagnostics'))) : [];
}
