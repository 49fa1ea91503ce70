import { expect } from 'chai';
import { parse } from 'yaml';
import { createdAt } from '../support/created-at.ts';
import type { DeclaredResource } from '../support/api.ts';
import { send, textIn } from './as-written.ts';
import type { Answer } from './as-written.ts';
import { describeInterface } from './server-under-test.ts';

const declared: readonly DeclaredResource[] = [
  { kind: 'Client', id: 'admin', secret: 'verysecret', grant_types: ['client_credentials'] },
  { kind: 'AccessPolicy', id: 'admin', engine: 'allow', link: [{ id: 'admin', resourceType: 'Client' }] },
];

describeInterface('configuration resources', declared, (baseUrl) => {
  /** The Authorization header of a client that may do everything. */
  let admin: string;

  before(async () => {
    admin = await bearerOf('admin');
  });

  const ask = (request: string): Promise<Answer> => send(baseUrl(), request);

  /** The answer to a request for a token with this secret. */
  function tokenAnswer(id: string, secret: string): Promise<Answer> {
    return ask(`
      POST {base_url}/auth/token
      Content-Type: application/json

      {"grant_type": "client_credentials", "client_id": "${id}", "client_secret": "${secret}"}
    `);
  }

  async function bearerOf(id: string, secret = 'verysecret'): Promise<string> {
    const answer = await tokenAnswer(id, secret);
    expect(answer.status, answer.text).to.equal(200);
    return `Authorization: Bearer ${textIn(answer, 'access_token')}`;
  }

  describe('4.4 PUT {base_url}/Client/<client_id>', () => {
    it('in JSON', async () => {
      const answer = await ask(`
        PUT {base_url}/Client/json-client
        ${admin}
        Content-Type: application/json
        Accept: application/json

        {
          "secret": "verysecret",
          "grant_types": ["client_credentials"],
          "auth": {
            "client_credentials": {
              "token_format": "jwt",
              "access_token_expiration": 600,
              "refresh_token": true,
              "refresh_token_expiration": 86400
            }
          }
        }
      `);
      expect(answer.status).to.equal(201);
      expect(answer.headers.get('content-type')).to.equal('application/json; charset=utf-8');
      expect(answer.body).to.deep.equal({
        resourceType: 'Client',
        id: 'json-client',
        grant_types: ['client_credentials'],
        auth: {
          client_credentials: {
            token_format: 'jwt',
            access_token_expiration: 600,
            refresh_token: true,
            refresh_token_expiration: 86_400,
          },
        },
        created_at: createdAt(answer.body),
      });
      const token = await tokenAnswer('json-client', 'verysecret');
      expect(token.body).to.have.all.keys('token_type', 'access_token', 'expires_in', 'refresh_token');
    });

    for (const type of ['text/yaml', 'application/yaml']) {
      it(`in YAML, as ${type}`, async () => {
        const answer = await ask(`
          PUT {base_url}/Client/yaml-client
          ${admin}
          Content-Type: ${type}
          Accept: ${type}

          secret: verysecret
          grant_types:
            - implicit
          auth:
            implicit:
              redirect_uri: https://app.example/callback
        `);
        expect([200, 201]).to.include(answer.status);
        expect(answer.headers.get('content-type')).to.equal(`${type}; charset=utf-8`);
        const shown: unknown = parse(answer.text);
        expect(shown).to.deep.equal({
          resourceType: 'Client',
          id: 'yaml-client',
          grant_types: ['implicit'],
          auth: { implicit: { redirect_uri: 'https://app.example/callback' } },
          created_at: createdAt(shown),
        });
      });
    }

    it('again, which replaces it: 200, and the new secret counts', async () => {
      const put = (secret: string): Promise<Answer> =>
        ask(`
          PUT {base_url}/Client/replaced
          ${admin}
          Content-Type: application/json

          {"id": "replaced", "secret": "${secret}", "grant_types": ["client_credentials"]}
        `);
      expect([(await put('first')).status, (await put('second')).status]).to.deep.equal([201, 200]);
      expect((await tokenAnswer('replaced', 'first')).status).to.equal(401);
      expect((await tokenAnswer('replaced', 'second')).status).to.equal(200);
    });
  });

  it('4.4 POST {base_url}/Client with id and resourceType', async () => {
    const answer = await ask(`
      POST {base_url}/Client
      ${admin}
      Content-Type: application/json

      {
        "resourceType": "Client",
        "id": "posted-client",
        "secret": "verysecret",
        "grant_types": ["client_credentials"]
      }
    `);
    expect(answer.status).to.equal(201);
    expect(answer.body).to.deep.equal({
      resourceType: 'Client',
      id: 'posted-client',
      grant_types: ['client_credentials'],
      created_at: createdAt(answer.body),
    });
    expect((await tokenAnswer('posted-client', 'verysecret')).status).to.equal(200);
  });

  describe('4.4 PUT {base_url}/AccessPolicy/<policy_id>, and 5.5', () => {
    /** A client over REST, as one makes it: nothing but a secret and the grant. */
    async function newClient(id: string): Promise<string> {
      await ask(`
        PUT {base_url}/Client/${id}
        ${admin}
        Content-Type: application/json

        {"secret": "verysecret", "grant_types": ["client_credentials"]}
      `);
      return bearerOf(id);
    }

    function putPolicy(id: string, client: string): Promise<Answer> {
      return ask(`
        PUT {base_url}/AccessPolicy/${id}
        ${admin}
        Content-Type: application/json

        {"engine": "allow", "link": [{"id": "${client}", "resourceType": "Client"}]}
      `);
    }

    const statusOf = async (bearer: string): Promise<number> => (await ask(`GET {base_url}/Session\n${bearer}`)).status;

    it('a policy with engine allow that links the client grants it access', async () => {
      const bearer = await newClient('granted');
      expect(await statusOf(bearer)).to.equal(403);
      const answer = await putPolicy('grants', 'granted');
      expect(answer.status).to.equal(201);
      expect(answer.body).to.deep.equal({
        resourceType: 'AccessPolicy',
        id: 'grants',
        engine: 'allow',
        link: [{ resourceType: 'Client', id: 'granted' }],
        created_at: createdAt(answer.body),
      });
      expect(await statusOf(bearer)).to.equal(200);
    });

    it('P-01 a new client gets a token, and with it no resource, by whatever method', async () => {
      const bearer = await newClient('brand-new');
      for (const kind of ['Client', 'AccessPolicy', 'Session']) {
        for (const [method, path, body] of [
          ['GET', `/${kind}`, ''],
          ['GET', `/${kind}/brand-new`, ''],
          ['PUT', `/${kind}/brand-new`, '{"grant_types": ["implicit"]}'],
          ['PATCH', `/${kind}/brand-new`, '{"active": true}'],
          ['DELETE', `/${kind}/brand-new`, ''],
          ...(kind === 'Session' ? [] : [['POST', `/${kind}`, '{"engine": "allow"}'] as const]),
        ] as const) {
          const withBody = body === '' ? '' : `\nContent-Type: application/json\n\n${body}`;
          const answer = await ask(`${method} {base_url}${path}\n${bearer}${withBody}`);
          expect(answer.status, `${method} ${path}`).to.equal(403);
        }
      }
    });

    it('P-04 a policy may be there before the client that it names: it grants as soon as that is made', async () => {
      expect((await putPolicy('early', 'later')).status).to.equal(201);
      expect(await statusOf(await newClient('later'))).to.equal(200);
    });

    it('P-05 a policy that is deleted grants nothing from the next request on', async () => {
      const bearer = await newClient('losing');
      await putPolicy('lost', 'losing');
      expect(await statusOf(bearer)).to.equal(200);
      expect((await ask(`DELETE {base_url}/AccessPolicy/lost\n${admin}`)).status).to.equal(200);
      expect(await statusOf(bearer)).to.equal(403);
    });

    it('P-05 a link that is taken out grants nothing from the next request on', async () => {
      const bearer = await newClient('unlinked');
      await putPolicy('links', 'unlinked');
      expect(await statusOf(bearer)).to.equal(200);
      expect((await putPolicy('links', 'somebody-else')).status).to.equal(200);
      expect(await statusOf(bearer)).to.equal(403);
    });

    it('P-05 a client that is created again under an old name has none of its tokens', async () => {
      const bearer = await newClient('remade');
      await putPolicy('remade', 'remade');
      expect(await statusOf(bearer)).to.equal(200);
      await ask(`DELETE {base_url}/Client/remade\n${admin}`);
      expect(await statusOf(bearer)).to.equal(401);
      const again = await newClient('remade');
      expect([await statusOf(bearer), await statusOf(again)]).to.deep.equal([401, 200]);
    });
  });
});
