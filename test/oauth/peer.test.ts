import { expect } from 'chai';
import * as oauth from 'oauth4webapi';
import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import { startApi } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { addUser, newBrowser } from '../http/pages/browser.ts';

type Sent = oauth.CustomFetchOptions<string, URLSearchParams | undefined>;

/** oauth4webapi is a client that is not ours and takes nothing that the RFCs do not allow. */
describe('a client of another make', () => {
  const secret = generateClientSecret();
  const issuer = new URL('https://boxgate.test/boxes/default');
  const opaque: oauth.Client = { client_id: 'opaque' };
  const jwt: oauth.Client = { client_id: 'jwt' };
  const proof = oauth.ClientSecretBasic(secret);
  let api: TestApi;
  let server: oauth.AuthorizationServer;

  /** The issuer is a name; the server listens somewhere on this machine. */
  const options = {
    [oauth.customFetch]: (url: string, { body, headers, method, redirect }: Sent) =>
      fetch(url.replace(issuer.origin, api.url), { body: body ?? null, headers, method, redirect }),
  };

  const back = 'http://127.0.0.1/back';
  let pair: oauth.CryptoKeyPair;

  before(async () => {
    pair = await oauth.generateKeyPair('ES256', { extractable: true });
    const jwk = { ...(await crypto.subtle.exportKey('jwk', pair.publicKey)), kid: 'one' };
    api = await startApi({ environment: { BOXGATE_PUBLIC_URL: issuer.origin } });
    const settings = { refresh_token: true, refresh_rotation: true, access_token_expiration: 300 };
    const client = { kind: 'Client', grant_types: ['client_credentials'], secret, scope: ['read', 'write'] } as const;
    await api.declare('default', [
      { ...client, id: 'opaque', auth: { client_credentials: settings } },
      { kind: 'Client', id: 'keys', grant_types: ['client_credentials'], jwks: { keys: [jwk] } },
      {
        kind: 'Client',
        id: 'native',
        grant_types: ['authorization_code'],
        first_party: true,
        auth: { authorization_code: { redirect_uri: back, refresh_token: true } },
      },
      { ...client, id: 'jwt', auth: { client_credentials: { ...settings, token_format: 'jwt' } } },
    ]);
    const response = await oauth.discoveryRequest(issuer, { ...options, algorithm: 'oauth2' });
    server = await oauth.processDiscoveryResponse(issuer, response);
  });
  after(() => api.stop());

  it('gets tokens of a person, with a code and PKCE, and refreshes them', async () => {
    const person = { email: 'ann@shop.example', password: 'a long enough passphrase' };
    const user = await addUser(api, person.email, person.password);
    const native: oauth.Client = { client_id: 'native' };
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const redirectUri = 'http://127.0.0.1:50123/back';
    const address = new URL(server.authorization_endpoint ?? '');
    address.search = new URLSearchParams({
      client_id: 'native',
      response_type: 'code',
      redirect_uri: redirectUri,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }).toString();
    const browser = newBrowser(api, 'default', issuer.href);
    const signIn = await browser.get(address.href);
    const signedIn = await browser.submit(signIn.location, person);
    const answer = new URL((await browser.get(signedIn.location)).location);
    expect(answer.href.startsWith(`${redirectUri}?code=`)).to.equal(true);
    const parameters = oauth.validateAuthResponse(server, native, answer, state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      native,
      oauth.None(),
      parameters,
      redirectUri,
      verifier,
      options,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, native, response);
    expect(await introspect(tokens.access_token)).to.include({ active: true, sub: String(user) });
    const again = await oauth.refreshTokenGrantRequest(
      server,
      native,
      oauth.None(),
      tokens.refresh_token ?? '',
      options,
    );
    const next = await oauth.processRefreshTokenResponse(server, native, again);
    expect(next.refresh_token).not.to.be.oneOf([undefined, tokens.refresh_token]);
  });

  async function ask(
    client: oauth.Client,
    fields: Record<string, string>,
    by = proof,
  ): Promise<oauth.TokenEndpointResponse> {
    const response = await oauth.clientCredentialsGrantRequest(server, client, by, fields, options);
    return oauth.processClientCredentialsResponse(server, client, response);
  }

  async function introspect(token: string): Promise<oauth.IntrospectionResponse> {
    const response = await oauth.introspectionRequest(server, opaque, proof, token, options);
    return oauth.processIntrospectionResponse(server, opaque, response);
  }

  it('discovers the server where RFC 8414 has it, and where OpenID Connect has it', async () => {
    expect(server.issuer).to.equal(issuer.href);
    const response = await oauth.discoveryRequest(issuer, { ...options, algorithm: 'oidc' });
    expect(await oauth.processDiscoveryResponse(issuer, response)).to.deep.equal(server);
  });

  it('gets tokens with its secret in the header and in the body', async () => {
    for (const by of [oauth.ClientSecretBasic(secret), oauth.ClientSecretPost(secret)]) {
      const tokens = await ask(opaque, { scope: 'read' }, by);
      expect(tokens).to.include({ token_type: 'bearer', expires_in: 300 });
      expect(tokens.scope).to.equal('read');
    }
  });

  it('gets, introspects and revokes a token with its private key', async () => {
    const client: oauth.Client = { client_id: 'keys' };
    const by = oauth.PrivateKeyJwt({ key: pair.privateKey, kid: 'one' });
    const { access_token } = await ask(client, {}, by);
    const seen = await oauth.introspectionRequest(server, client, by, access_token, options);
    expect(await oauth.processIntrospectionResponse(server, client, seen)).to.include({ client_id: 'keys' });
    const revoked = await oauth.revocationRequest(server, client, by, access_token, options);
    await oauth.processRevocationResponse(revoked);
    expect(await introspect(access_token)).to.deep.equal({ active: false });
  });

  it('introspects both forms of token', async () => {
    for (const client of [opaque, jwt]) {
      const { access_token } = await ask(client, { scope: 'read' });
      expect(await introspect(access_token)).to.include({
        active: true,
        client_id: client.client_id,
        sub: client.client_id,
        scope: 'read',
        iss: issuer.href,
      });
    }
  });

  it('validates a JWT as a resource server would (RFC 9068 section 4)', async () => {
    const audience = 'https://resource.example';
    const { access_token } = await ask(jwt, { audience });
    const request = new Request('https://resource.example/', { headers: { Authorization: `Bearer ${access_token}` } });
    const claims = await oauth.validateJwtAccessToken(server, request, audience, options);
    expect(claims).to.include({ sub: 'jwt', client_id: 'jwt', aud: audience, iss: issuer.href });
  });

  it('refreshes, and takes the successor for the next time', async () => {
    let { refresh_token = '' } = await ask(opaque, {});
    for (let count = 0; count < 3; count += 1) {
      const response = await oauth.refreshTokenGrantRequest(server, opaque, proof, refresh_token, options);
      const next = await oauth.processRefreshTokenResponse(server, opaque, response);
      expect(next.refresh_token).not.to.equal(refresh_token);
      refresh_token = next.refresh_token ?? '';
    }
  });

  it('revokes', async () => {
    const { access_token } = await ask(opaque, {});
    const response = await oauth.revocationRequest(server, opaque, proof, access_token, options);
    await oauth.processRevocationResponse(response);
    expect(await introspect(access_token)).to.deep.equal({ active: false });
  });

  it('understands why it is refused', async () => {
    const refused = async (work: Promise<unknown>): Promise<unknown> =>
      work.then(
        () => 'not refused',
        (error: unknown) => {
          if (error instanceof oauth.ResponseBodyError) return error.error;
          return error instanceof oauth.WWWAuthenticateChallengeError ? error.cause[0]?.scheme : error;
        },
      );
    expect(await refused(ask(opaque, { scope: 'openid' }))).to.equal('invalid_scope');
    expect(await refused(ask(opaque, {}, oauth.ClientSecretBasic('wrong')))).to.equal('basic');
    const used = oauth.refreshTokenGrantRequest(server, opaque, proof, 'bgr_x', options);
    expect(
      await refused(used.then((response) => oauth.processRefreshTokenResponse(server, opaque, response))),
    ).to.equal('invalid_grant');
  });
});
