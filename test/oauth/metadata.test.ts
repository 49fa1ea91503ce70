import { expect } from 'chai';
import { request as httpRequest } from 'node:http';
import { startApi } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { readReply } from './requests.ts';
import type { Reply } from './requests.ts';

const issuer = 'http://boxgate.test/boxes/default';
const methods = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'];
const standardScopes = ['openid', 'profile', 'email', 'address', 'phone', 'groups', 'offline_access'];
const algorithms = ['ES256', 'ES384', 'ES512', 'EdDSA', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'];

const claims = [
  ...['iss', 'sub', 'aud', 'azp', 'exp', 'iat', 'auth_time', 'nonce', 'at_hash', 'email', 'email_verified', 'name'],
  ...['family_name', 'given_name', 'middle_name', 'nickname', 'preferred_username', 'profile', 'picture', 'website'],
  ...['gender', 'birthdate', 'zoneinfo', 'locale', 'updated_at', 'address', 'phone_number', 'phone_number_verified'],
  'groups',
];

describe('the metadata of a box', () => {
  let api: TestApi;

  before(async () => {
    api = await startApi();
    await api.declare('default', [{ kind: 'Client', id: 'a', grant_types: ['client_credentials'], secret: 'secret' }]);
    await api.declare('named', [{ kind: 'Box', id: 'named', issuer: 'https://id.example.com/login' }]);
  });
  after(() => api.stop());

  async function get(path: string): Promise<Reply> {
    return readReply(await fetch(`${api.url}${path}`));
  }

  const places = {
    'at the place of RFC 8414 section 3.1': '/.well-known/oauth-authorization-server/boxes/default',
    'below the box': '/boxes/default/.well-known/oauth-authorization-server',
    'where OpenID Connect looks': '/boxes/default/.well-known/openid-configuration',
    'where OpenID Connect looks, in the form of RFC 8414': '/.well-known/openid-configuration/boxes/default',
  };
  for (const [where, path] of Object.entries(places)) {
    it(`stand ${where}, and list what is built and nothing else`, async () => {
      const { status, headers, body } = await get(path);
      expect(status).to.equal(200);
      expect(headers.get('content-type')).to.match(/^application\/json/);
      expect(headers.get('cache-control')).to.equal('public, max-age=300');
      expect(headers.get('access-control-allow-origin')).to.equal('*');
      expect(body).to.deep.equal({
        issuer,
        authorization_endpoint: `${issuer}/auth/authorize`,
        token_endpoint: `${issuer}/auth/token`,
        token_endpoint_auth_methods_supported: [...methods, 'none'],
        token_endpoint_auth_signing_alg_values_supported: algorithms,
        userinfo_endpoint: `${issuer}/auth/userinfo`,
        end_session_endpoint: `${issuer}/auth/logout`,
        jwks_uri: `${issuer}/.well-known/jwks.json`,
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['ES256'],
        introspection_endpoint: `${issuer}/auth/introspect`,
        introspection_endpoint_auth_methods_supported: methods,
        introspection_endpoint_auth_signing_alg_values_supported: algorithms,
        revocation_endpoint: `${issuer}/auth/revoke`,
        revocation_endpoint_auth_methods_supported: [...methods, 'none'],
        revocation_endpoint_auth_signing_alg_values_supported: algorithms,
        grant_types_supported: ['client_credentials', 'authorization_code', 'refresh_token', 'implicit'],
        response_types_supported: ['code', 'token', 'id_token', 'id_token token'],
        response_modes_supported: ['query', 'fragment', 'form_post'],
        prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
        code_challenge_methods_supported: ['S256'],
        scopes_supported: standardScopes,
        claims_supported: claims,
        claims_parameter_supported: true,
        request_parameter_supported: false,
        request_uri_parameter_supported: false,
        authorization_response_iss_parameter_supported: true,
      });
    });
  }

  it('list the algorithms of the keys that the key set has', async () => {
    // E-32: they listed RS256 where there was no such key.
    const sees = async (box: string, ...algorithms: readonly string[]): Promise<void> => {
      const { body } = await get(`/boxes/${box}/.well-known/openid-configuration`);
      expect(body['id_token_signing_alg_values_supported']).to.deep.equal(algorithms);
      const keys = (await get(`/boxes/${box}/.well-known/jwks.json`)).text.matchAll(/"alg":"(\w+)"/g);
      expect([...keys].map(([, algorithm]) => algorithm)).to.have.members(algorithms);
    };
    const auth = { authorization_code: { redirect_uri: 'https://app.example/back' } };
    const app = { kind: 'Client', id: 'app', grant_types: ['authorization_code'], auth } as const;
    await api.declare('machines', [{ kind: 'Box', id: 'machines', signing: { algorithm: 'EdDSA' } }]);
    await sees('machines', 'EdDSA');
    await api.declare('people', [app]);
    await sees('people', 'RS256', 'ES256');
  });

  it('name every address that they list so that it answers', async () => {
    const { body } = await get(places['below the box']);
    for (const [name, value] of Object.entries(body)) {
      if (!name.endsWith('_endpoint') && name !== 'jwks_uri') continue;
      const path = String(value).replace('http://boxgate.test', '');
      const { status } = await get(path);
      const expected =
        { jwks_uri: 200, authorization_endpoint: 400, userinfo_endpoint: 401, end_session_endpoint: 200 }[name] ?? 405;
      expect(status, name).to.equal(expected);
    }
  });

  it('have the issuer that the box is given, in every address', async () => {
    const { body } = await get('/boxes/named/.well-known/oauth-authorization-server');
    expect(body['issuer']).to.equal('https://id.example.com/login');
    expect(body['token_endpoint']).to.equal('https://id.example.com/login/auth/token');
    expect(JSON.stringify(body)).not.to.contain('boxgate.test');
  });

  it('list the scopes that the box declares, after those of every box', async () => {
    const scopes = { 'orders.read': { en: 'see your orders' }, toString: { en: 'write' } };
    await api.declare('scoped', [{ kind: 'Box', id: 'scoped', scopes }]);
    const { body } = await get('/boxes/scoped/.well-known/openid-configuration');
    expect(body['scopes_supported']).to.deep.equal([...standardScopes, 'orders.read', 'toString']);
  });

  it('X-10 never take the issuer from the Host header', async () => {
    const text = await withHost('evil.example', places['below the box']);
    expect(text).to.contain(issuer).and.not.to.contain('evil');
  });

  it('are not there for a box that is not there', async () => {
    for (const document of ['oauth-authorization-server', 'openid-configuration', 'jwks.json']) {
      expect((await get(`/boxes/nowhere/.well-known/${document}`)).status).to.equal(404);
    }
  });

  it('K-08 publish a first key before there is a token, and the same one afterwards', async () => {
    const first = await get('/boxes/default/.well-known/jwks.json');
    expect(first.headers.get('cache-control')).to.equal('public, max-age=300');
    expect(first.body['keys']).to.have.length(1);
    expect(first.text).not.to.match(/"(d|p|q|dp|dq|qi|k)":/);
    expect((await get('/boxes/default/.well-known/jwks.json')).text).to.equal(first.text);
  });

  function withHost(host: string, path: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const { port } = new URL(api.url);
      const request = httpRequest({ host: '127.0.0.1', port, path, headers: { Host: host } }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('end', () => {
          resolve(text);
        });
      });
      request.on('error', reject).end();
    });
  }
});
