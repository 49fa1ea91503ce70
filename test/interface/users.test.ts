import { expect } from 'chai';
import type { DeclaredResource } from '../support/api.ts';
import { send, textIn } from './as-written.ts';
import type { Answer } from './as-written.ts';
import { describeInterface } from './server-under-test.ts';

const declared: readonly DeclaredResource[] = [
  { kind: 'Client', id: 'admin', secret: 'verysecret', grant_types: ['client_credentials'] },
  { kind: 'AccessPolicy', id: 'admin', engine: 'allow', link: [{ id: 'admin', resourceType: 'Client' }] },
  { kind: 'Client', id: 'nobody', secret: 'verysecret', grant_types: ['client_credentials'] },
];

describeInterface('users', declared, (baseUrl) => {
  /** The token of a client that may do everything. */
  let token: string;
  let nth = 0;

  before(async () => {
    token = await tokenOf('admin');
  });

  const ask = (request: string): Promise<Answer> => send(baseUrl(), request);

  async function tokenOf(client: string): Promise<string> {
    const answer = await ask(`
      POST {base_url}/auth/token
      Content-Type: application/json

      {"grant_type": "client_credentials", "client_id": "${client}", "client_secret": "verysecret"}
    `);
    return textIn(answer, 'access_token');
  }

  function post(body: object): Promise<Answer> {
    return ask(`
      POST {base_url}/users?access_token=${token}
      Content-Type: application/json

      ${JSON.stringify(body)}
    `);
  }

  function anEmail(): string {
    nth += 1;
    return `user-${String(nth)}@mail.example`;
  }

  /** A new user, and its id. */
  async function created(fields: object = {}): Promise<{ readonly id: number; readonly email: string }> {
    const email = anEmail();
    const answer = await post({ email, password: 'correct horse', ...fields });
    expect(answer.status, answer.text).to.equal(201);
    return { id: Number(Reflect.get(Object(answer.body), 'id')), email };
  }

  const hash = /^\$argon2id\$v=19\$/;

  describe('4.5 POST /users', () => {
    it('201: the user with its id, email, password hash, data and status', async () => {
      const answer = await ask(`
        POST {base_url}/users?access_token=${token}
        Content-Type: application/json

        {"email": "ann@mail.example", "password": "correct horse", "data": "{\\"name\\": \\"Ann\\"}"}
      `);
      expect(answer.status, answer.text).to.equal(201);
      expect(answer.body).to.include({ email: 'ann@mail.example', data: '{"name": "Ann"}', status: null });
      expect(Reflect.get(Object(answer.body), 'id')).to.be.a('number');
      expect(textIn(answer, 'password')).to.match(hash);
    });

    it('data may be left out, null, or any JSON text', async () => {
      for (const data of [undefined, null, '1', '"text"', '[1, {"a": null}]', 'null']) {
        const answer = await post({ email: anEmail(), password: 'correct horse', data });
        expect(answer.status, answer.text).to.equal(201);
        expect(answer.body).to.include({ data: data ?? null });
      }
    });
  });

  describe('4.5 GET /users', () => {
    it('200: an array of users with group-ids, groups, data, email, status and id, without passwords', async () => {
      const { id, email } = await created({ data: '{}' });
      const answer = await ask(`GET {base_url}/users?access_token=${token}`);
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('content-type')).to.equal('application/json; charset=utf-8');
      const users: unknown = answer.body;
      if (!Array.isArray(users)) throw new Error(answer.text);
      const found: unknown = users.find((user) => Reflect.get(Object(user), 'id') === id);
      expect(found).to.deep.include({ id, email, data: '{}', status: null, 'group-ids': [], groups: null });
      expect(answer.text).not.to.match(/password|argon2/);
    });
  });

  describe('4.5 GET /users/<id>', () => {
    it('200: the user with groups, data, password hash, email, status and id', async () => {
      const { id, email } = await created({ data: '[]' });
      const answer = await ask(`GET {base_url}/users/${String(id)}?access_token=${token}`);
      expect(answer.status).to.equal(200);
      expect(answer.body).to.deep.include({ id, email, data: '[]', status: null, groups: null });
      expect(textIn(answer, 'password')).to.match(hash);
    });
  });

  describe('4.5 PUT /users/<id>', () => {
    it('200: the user with new data, password and email', async () => {
      const { id } = await created();
      const before = await ask(`GET {base_url}/users/${String(id)}?access_token=${token}`);
      const email = anEmail();
      const answer = await ask(`
        PUT {base_url}/users/${String(id)}?access_token=${token}
        Content-Type: application/json

        {"data": "[1]", "password": "another horse", "email": "${email}"}
      `);
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.body).to.include({ id, email, data: '[1]', status: null });
      expect(textIn(answer, 'password')).to.match(hash);
      expect(textIn(answer, 'password')).not.to.equal(textIn(before, 'password'));
    });

    it('changes only the fields that are given', async () => {
      const { id, email } = await created({ data: '{"a": 1}' });
      const before = await ask(`GET {base_url}/users/${String(id)}?access_token=${token}`);
      const answer = await ask(`
        PUT {base_url}/users/${String(id)}?access_token=${token}
        Content-Type: application/json

        {"data": null}
      `);
      expect(answer.body).to.include({ id, email, data: null, password: textIn(before, 'password') });
    });
  });

  describe('4.5 DELETE /users/<id>', () => {
    it('200: the deleted user, which is not there any more', async () => {
      const { id, email } = await created();
      const answer = await ask(`DELETE {base_url}/users/${String(id)}?access_token=${token}`);
      expect(answer.status).to.equal(200);
      expect(answer.body).to.include({ id, email });
      expect((await ask(`GET {base_url}/users/${String(id)}?access_token=${token}`)).status).to.equal(404);
      expect((await ask(`DELETE {base_url}/users/${String(id)}?access_token=${token}`)).status).to.equal(404);
    });
  });

  describe('5 the access token', () => {
    it('in the query, in the Authorization header, and not in both', async () => {
      const inHeader = await ask(`
        GET {base_url}/users
        Authorization: Bearer ${token}
      `);
      const inBoth = await ask(`
        GET {base_url}/users?access_token=${token}
        Authorization: Bearer ${token}
      `);
      expect([inHeader.status, inBoth.status]).to.deep.equal([200, 400]);
    });

    it('missing or invalid: 401; of a client that no policy grants anything: 403', async () => {
      expect((await ask('GET {base_url}/users')).status).to.equal(401);
      expect((await ask(`GET {base_url}/users?access_token=${token}x`)).status).to.equal(401);
      expect((await ask(`GET {base_url}/users?access_token=${await tokenOf('nobody')}`)).status).to.equal(403);
    });
  });

  describe('7 invalid data', () => {
    it('422 with what was submitted and a message that the email is taken', async () => {
      const { email } = await created();
      const answer = await post({ email, password: 'correct horse', data: '{}' });
      expect(answer.status).to.equal(422);
      expect(answer.body).to.have.all.keys('entity', 'errors');
      expect(Reflect.get(Object(answer.body), 'entity')).to.deep.equal({ email, data: '{}' });
      const errors: unknown = Reflect.get(Object(answer.body), 'errors');
      expect(JSON.stringify(errors)).to.match(/^\{"email":\["[^"]*taken[^"]*"\]\}$/);
      expect(answer.text).not.to.contain('correct horse');
    });
  });
});
