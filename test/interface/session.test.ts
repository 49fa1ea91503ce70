import { expect } from 'chai';
import { entries } from '../http/resources/box-api.ts';
import type { DeclaredResource } from '../support/api.ts';
import { send, textIn } from './as-written.ts';
import type { Answer } from './as-written.ts';
import { describeInterface } from './server-under-test.ts';

const credentials = { secret: 'verysecret', grant_types: ['client_credentials'] };
const declared: readonly DeclaredResource[] = [
  { kind: 'Client', id: 'api-client', ...credentials },
  { kind: 'Client', id: 'new-client', ...credentials },
  {
    kind: 'Client',
    id: 'refreshing-client',
    ...credentials,
    auth: { client_credentials: { refresh_token: true, refresh_token_expiration: 86_400 } },
  },
  {
    kind: 'AccessPolicy',
    id: 'api-clients',
    engine: 'allow',
    link: [{ id: 'api-client', resourceType: 'Client' }],
  },
];

describeInterface('sessions', declared, (baseUrl) => {
  const ask = (request: string): Promise<Answer> => send(baseUrl(), request);

  /** The answer to a request for a token by a client of this test. */
  function tokenAnswer(id: string): Promise<Answer> {
    return ask(`
      POST {base_url}/auth/token
      Authorization: Basic ${Buffer.from(`${id}:verysecret`).toString('base64')}
      Content-Type: application/x-www-form-urlencoded

      grant_type=client_credentials
    `);
  }

  async function tokenOf(id: string): Promise<string> {
    return textIn(await tokenAnswer(id), 'access_token');
  }

  async function listed(token: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const answer = await ask(`
      GET {base_url}/Session
      Authorization: Bearer ${token}
    `);
    expect(answer.status).to.equal(200);
    return entries(answer);
  }

  describe('4.3 Session', () => {
    it('one is created for every access token, and GET {base_url}/Session lists them', async () => {
      const token = await tokenOf('api-client');
      const before = await listed(token);
      await tokenOf('new-client');
      const [newest, ...others] = (await listed(token)).filter((one) => before.every(({ id }) => id !== one['id']));
      expect(others).to.deep.equal([]);
      expect(newest).to.deep.include({
        resourceType: 'Session',
        type: 'client_credentials',
        client: { resourceType: 'Client', id: 'new-client' },
        active: true,
        status: 'active',
      });
    });

    it('DELETE {base_url}/Session closes the session of the token in the Authorization header', async () => {
      const [token, other] = [await tokenOf('api-client'), await tokenOf('api-client')];
      const answer = await ask(`
        DELETE {base_url}/Session
        Authorization: Bearer ${token}
      `);
      expect(answer.status).to.equal(200);
      expect(answer.body).to.include({ resourceType: 'Session', active: false, status: 'closed' });
      const closed = (await listed(other)).find(({ id }) => id === Reflect.get(Object(answer.body), 'id'));
      expect(closed).to.include({ active: false, status: 'closed' });
    });

    it('a session can be read, changed and revoked through the standard API', async () => {
      const token = await tokenOf('api-client');
      const [session] = (await listed(token)).filter(({ active }) => active === true);
      const path = `{base_url}/Session/${String(session?.['id'])}`;
      const bearer = `Authorization: Bearer ${await tokenOf('api-client')}`;
      expect((await ask(`GET ${path}\n${bearer}`)).body).to.deep.equal(session);
      const changed = await ask(`PATCH ${path}\n${bearer}\nContent-Type: application/json\n\n{"active": false}`);
      expect(changed.body).to.include({ status: 'revoked' });
      expect((await ask(`DELETE ${path}\n${bearer}`)).status).to.equal(200);
    });
  });

  it('5.3 API calls use the access token in the Authorization header', async () => {
    const token = await tokenOf('api-client');
    expect((await ask(`GET {base_url}/Client\nAuthorization: Bearer ${token}`)).status).to.equal(200);
    expect((await ask('GET {base_url}/Client')).status).to.equal(401);
    expect((await ask(`GET {base_url}/Client?access_token=${token}`)).status).to.equal(400);
  });

  it('5.5 a new client has no access to any resource', async () => {
    const bearer = `Authorization: Bearer ${await tokenOf('new-client')}`;
    for (const path of ['/Client', '/Client/new-client', '/AccessPolicy', '/AccessPolicy/api-clients', '/Session']) {
      expect((await ask(`GET {base_url}${path}\n${bearer}`)).status, path).to.equal(403);
    }
  });

  describe('5.7 a session is revoked with DELETE /Session carrying the token', () => {
    it('and needs no policy for it; from the answer on the token is refused, also for that', async () => {
      const token = await tokenOf('new-client');
      expect((await ask(`DELETE {base_url}/Session\nAuthorization: Bearer ${token}`)).status).to.equal(200);
      const again = await ask(`DELETE {base_url}/Session\nAuthorization: Bearer ${token}`);
      expect(again.status).to.equal(401);
      expect(again.headers.get('www-authenticate')).to.match(/^Bearer realm="default", error="invalid_token"/);
      expect((await ask(`GET {base_url}/Session\nAuthorization: Bearer ${token}`)).status).to.equal(401);
    });

    it('without a token it is 401, and names no error', async () => {
      const answer = await ask('DELETE {base_url}/Session');
      expect([answer.status, answer.headers.get('www-authenticate')]).to.deep.equal([401, 'Bearer realm="default"']);
    });

    it('with a filter it is 400, and closes nothing', async () => {
      const token = await tokenOf('new-client');
      const refused = await ask(`DELETE {base_url}/Session?client=api-client\nAuthorization: Bearer ${token}`);
      expect(refused.status).to.equal(400);
      expect((await ask(`DELETE {base_url}/Session\nAuthorization: Bearer ${token}`)).status).to.equal(200);
    });

    it('ends the refresh token of the session too', async () => {
      const answer = await tokenAnswer('refreshing-client');
      const refresh = (): Promise<Answer> =>
        ask(`
          POST {base_url}/auth/token
          Content-Type: application/json

          {"grant_type": "refresh_token", "client_id": "refreshing-client", "refresh_token": "${textIn(answer, 'refresh_token')}"}
        `);
      expect((await refresh()).status).to.equal(200);
      const token = textIn(answer, 'access_token');
      expect((await ask(`DELETE {base_url}/Session\nAuthorization: Bearer ${token}`)).status).to.equal(200);
      expect(await refresh()).to.deep.include({ status: 400 });
    });
  });
});
