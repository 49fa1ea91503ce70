import { expect } from 'chai';
import type { DeclaredResource } from '../support/api.ts';
import { send, textIn } from './as-written.ts';
import type { Answer } from './as-written.ts';
import { describeInterface } from './server-under-test.ts';

const client = (id: string, client_credentials: object) =>
  ({
    kind: 'Client',
    id,
    secret: 'verysecret',
    grant_types: ['client_credentials'],
    auth: { client_credentials },
  }) as const;
const declared: readonly DeclaredResource[] = [
  { kind: 'Client', id: 'api-client', secret: 'verysecret', grant_types: ['client_credentials'] },
  client('jwt-client', { token_format: 'jwt', access_token_expiration: 600 }),
  client('refreshing-client', {
    token_format: 'jwt',
    access_token_expiration: 600,
    refresh_token: true,
    refresh_token_expiration: 86_400,
  }),
  {
    kind: 'Client',
    id: 'other-grants',
    secret: 'verysecret',
    grant_types: ['implicit'],
    auth: { implicit: { redirect_uri: 'https://app.example/' } },
  },
  { kind: 'Client', id: 'public-client', grant_types: ['client_credentials'] },
  {
    kind: 'AccessPolicy',
    id: 'api-clients',
    engine: 'allow',
    link: [{ id: 'api-client', resourceType: 'Client' }],
  },
];

describeInterface('tokens', declared, (baseUrl) => {
  const ask = (request: string): Promise<Answer> => send(baseUrl(), request);

  const basic = (id: string, secret = 'verysecret') => Buffer.from(`${id}:${secret}`).toString('base64');

  describe('4.1 POST {base_url}/auth/token', () => {
    it('client credentials, standard form: the body holds token_type and access_token only', async () => {
      const answer = await ask(`
        POST {base_url}/auth/token
        Authorization: Basic ${basic('api-client')}
        Content-Type: application/x-www-form-urlencoded

        grant_type=client_credentials
      `);
      expect(answer.status).to.equal(200);
      expect(answer.body).to.deep.equal({ token_type: 'Bearer', access_token: textIn(answer, 'access_token') });
      expect(textIn(answer, 'access_token')).not.to.equal('');
    });

    it('client credentials, JSON form', async () => {
      const answer = await ask(`
        POST {base_url}/auth/token
        Content-Type: application/json

        {
          "grant_type": "client_credentials",
          "client_id": "api-client",
          "client_secret": "verysecret"
        }
      `);
      expect(answer.status).to.equal(200);
      expect(answer.body).to.deep.equal({ token_type: 'Bearer', access_token: textIn(answer, 'access_token') });
    });

    it('client credentials, JSON form with the optional audience, of a client whose tokens are opaque', async () => {
      const answer = await ask(`
        POST {base_url}/auth/token
        Content-Type: application/json

        {
          "grant_type": "client_credentials",
          "client_id": "api-client",
          "client_secret": "verysecret",
          "audience": "https://resource.example"
        }
      `);
      expect(answer.status).to.equal(200);
      expect(answer.body).to.have.all.keys('token_type', 'access_token');
    });

    it('rule 1: with token_format jwt, the audience of the request is the aud claim; expires_in is configured', async () => {
      const answer = await ask(`
        POST {base_url}/auth/token
        Content-Type: application/json

        {
          "grant_type": "client_credentials",
          "client_id": "jwt-client",
          "client_secret": "verysecret",
          "audience": "https://resource.example"
        }
      `);
      expect(answer.status).to.equal(200);
      expect(answer.body).to.deep.include({ token_type: 'Bearer', expires_in: 600 });
      const [, claims = ''] = textIn(answer, 'access_token').split('.');
      expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).to.include({ aud: 'https://resource.example' });
    });

    it('rule 2: the grant works only when grant_types of the client contains client_credentials', async () => {
      const answer = await ask(`
        POST {base_url}/auth/token
        Authorization: Basic ${basic('other-grants')}
        Content-Type: application/x-www-form-urlencoded

        grant_type=client_credentials
      `);
      expect(answer.status).to.equal(400);
      expect(textIn(answer, 'error')).to.equal('unauthorized_client');
    });

    it('refresh: a new access_token and a number of seconds of validity', async () => {
      const first = await ask(`
        POST {base_url}/auth/token
        Content-Type: application/json

        {
          "grant_type": "client_credentials",
          "client_id": "refreshing-client",
          "client_secret": "verysecret"
        }
      `);
      expect(first.body).to.have.all.keys('token_type', 'access_token', 'expires_in', 'refresh_token');
      const request = `
        POST {base_url}/auth/token
        Content-Type: application/json

        {
          "grant_type": "refresh_token",
          "client_id": "refreshing-client",
          "refresh_token": "${textIn(first, 'refresh_token')}"
        }
      `;
      // The lifetime counts from the last use: the same token is good again.
      for (const answer of [await ask(request), await ask(request)]) {
        expect(answer.status).to.equal(200);
        expect(textIn(answer, 'access_token')).not.to.be.oneOf(['', textIn(first, 'access_token')]);
        expect(answer.body).to.deep.include({ token_type: 'Bearer', expires_in: 600 });
      }
    });
  });

  describe('5.1 client authentication', () => {
    it('as an HTTP Basic header with base64 of <client_id>:<client_secret>', async () => {
      const wrong = await ask(`
        POST {base_url}/auth/token
        Authorization: Basic ${basic('api-client', 'notsecret')}
        Content-Type: application/x-www-form-urlencoded

        grant_type=client_credentials
      `);
      expect(wrong.status).to.equal(401);
      expect(wrong.headers.get('www-authenticate')).to.match(/^Basic realm=/);
    });

    it('as client_id and client_secret in a JSON body', async () => {
      const wrong = await ask(`
        POST {base_url}/auth/token
        Content-Type: application/json

        {"grant_type": "client_credentials", "client_id": "api-client", "client_secret": "notsecret"}
      `);
      expect(wrong.status).to.equal(401);
      expect(textIn(wrong, 'error')).to.equal('invalid_client');
    });
  });

  it('5.2 only confidential clients may use the client credentials grant', async () => {
    for (const secret of ['', ', "client_secret": ""', ', "client_secret": "verysecret"']) {
      const answer = await ask(`
        POST {base_url}/auth/token
        Content-Type: application/json

        {"grant_type": "client_credentials", "client_id": "public-client"${secret}}
      `);
      expect(answer.status).to.equal(401);
    }
  });

  it('5.3 API calls use the access token in the Authorization header', async () => {
    const token = await accessToken('api-client');
    const answer = await ask(`
      GET {base_url}/Session
      Authorization: Bearer ${token}
    `);
    expect(answer.status).to.equal(200);
    const without = await ask(`GET {base_url}/Session`);
    expect(without.status).to.equal(401);
  });

  it('5.7 a session is revoked with DELETE /Session carrying the token', async () => {
    const token = await accessToken('api-client');
    const request = `
      DELETE {base_url}/Session
      Authorization: Bearer ${token}
    `;
    const closed = await ask(request);
    expect(closed.status).to.equal(200);
    expect(closed.body).to.deep.include({ resourceType: 'Session', active: false, status: 'closed' });
    expect((await ask(request)).status).to.equal(401);
    const used = await ask(`
      GET {base_url}/Session
      Authorization: Bearer ${token}
    `);
    expect(used.status).to.equal(401);
  });

  async function accessToken(id: string): Promise<string> {
    const answer = await ask(`
      POST {base_url}/auth/token
      Authorization: Basic ${basic(id)}
      Content-Type: application/x-www-form-urlencoded

      grant_type=client_credentials
    `);
    return textIn(answer, 'access_token');
  }
});
