import { expect } from 'chai';
import * as client from 'openid-client';
import { hiddenFields } from '../../http/pages/browser.ts';
import type { Browser } from '../../http/pages/browser.ts';
import { ann, annsData, back, goodbye, issuer, secret, startOpenIdApi } from './openid-api.ts';
import type { OpenIdApi } from './openid-api.ts';

/**
 * openid-client is what many apps are written with, and certified: it checks every answer as OpenID Connect demands.
 */
describe('an app that is written with openid-client', () => {
  let api: OpenIdApi;
  let server: client.Configuration;
  let browser: Browser;

  before(async () => {
    api = await startOpenIdApi();
    server = await discover('server', client.ClientSecretBasic(secret));
    browser = await api.signedIn();
  });
  after(() => api.stop());

  /** The issuer is a name; the server listens somewhere on this machine. */
  const onThisMachine: client.CustomFetch = (url, { body = null, ...options }) =>
    fetch(url.replace(new URL(issuer).origin, api.url), { ...options, body });

  function discover(
    id: string,
    authentication: client.ClientAuth,
    metadata: Partial<client.ClientMetadata> = {},
  ): Promise<client.Configuration> {
    return client.discovery(new URL(issuer), id, metadata, authentication, {
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to stand out: the issuer is plain http
      execute: [client.allowInsecureRequests],
      [client.customFetch]: onThisMachine,
    });
  }

  /** Begins a sign-in: where the browser is sent, and what the answer is checked against. */
  async function begin(config: client.Configuration, over: Record<string, string> = {}) {
    const pkceCodeVerifier = client.randomPKCECodeVerifier();
    const [expectedState, expectedNonce] = [client.randomState(), client.randomNonce()];
    const address = client.buildAuthorizationUrl(config, {
      redirect_uri: back,
      scope: 'openid email profile',
      state: expectedState,
      nonce: expectedNonce,
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      ...over,
    });
    return { address: address.href, checks: { pkceCodeVerifier, expectedState, expectedNonce } };
  }

  async function signIn(config = server, over: Record<string, string> = {}) {
    const { address, checks } = await begin(config, over);
    const { location } = await browser.get(address);
    const maxAge = over['max_age'] === undefined ? {} : { maxAge: Number(over['max_age']) };
    return client.authorizationCodeGrant(config, new URL(location), { ...checks, ...maxAge });
  }

  it('discovers the server, and what it can do', () => {
    const metadata = server.serverMetadata();
    expect(metadata.supportsPKCE()).to.equal(true);
    expect(metadata).to.include({ issuer, end_session_endpoint: `${issuer}/auth/logout` });
  });

  it('signs a person in with a code and PKCE, and learns who it is', async () => {
    const tokens = await signIn(server, { max_age: '3600' });
    expect(tokens.claims()).to.include({ sub: String(api.user), aud: 'server' });
    const person = await client.fetchUserInfo(server, tokens.access_token, String(api.user));
    expect(person).to.include({ email: ann.email, name: annsData.name });
  });

  it('signs a person in without a secret, and with id_tokens of other algorithms', async () => {
    const algorithms = { own: 'RS256', es256: 'ES256', eddsa: 'EdDSA' };
    for (const [id, id_token_signed_response_alg] of Object.entries(algorithms)) {
      const config = await discover(id, client.None(), { id_token_signed_response_alg });
      client.enableNonRepudiationChecks(config);
      expect((await signIn(config)).claims()?.sub, id).to.equal(String(api.user));
    }
  });

  it('takes its answer by form_post', async () => {
    const { address, checks } = await begin(server, { response_mode: 'form_post' });
    const { text } = await browser.get(address);
    const posted = new Request(back, { method: 'POST', body: new URLSearchParams(hiddenFields(text)) });
    const tokens = await client.authorizationCodeGrant(server, posted, checks);
    expect(tokens.claims()?.sub).to.equal(String(api.user));
  });

  it('signs a person in with an id_token alone', async () => {
    const config = await discover('own', client.None());
    client.useIdTokenResponseType(config);
    const nonce = client.randomNonce();
    const address = client.buildAuthorizationUrl(config, { redirect_uri: back, scope: 'openid email', nonce });
    const { location } = await browser.get(address.href);
    const claims = await client.implicitAuthentication(config, new URL(location), nonce);
    expect(claims).to.include({ sub: String(api.user), email: ann.email });
  });

  it('refreshes, introspects and revokes', async () => {
    const first = await signIn();
    const next = await client.refreshTokenGrant(server, first.refresh_token ?? '');
    expect(next.refresh_token).not.to.be.oneOf([undefined, first.refresh_token]);
    const told = await client.tokenIntrospection(server, next.access_token);
    expect(told).to.include({ active: true, sub: String(api.user), scope: 'openid email profile' });
    await client.tokenRevocation(server, next.refresh_token ?? '');
    expect(await client.tokenIntrospection(server, next.access_token)).to.deep.equal({ active: false });
  });

  it('learns that somebody said no, or has to sign in', async () => {
    const config = await discover('foreign', client.None());
    const { address, checks } = await begin(config);
    const denied = await browser.submit((await browser.get(address)).location, { answer: 'deny' });
    const silent = await begin(config, { prompt: 'none' });
    const { location } = await browser.get(silent.address);
    for (const [url, expected, error] of [
      [denied.location, checks, 'access_denied'],
      [location, silent.checks, 'consent_required'],
    ] as const) {
      const refused: unknown = await client
        .authorizationCodeGrant(config, new URL(url), expected)
        .catch((e: unknown) => e);
      expect(refused).to.be.instanceOf(client.AuthorizationResponseError).and.to.include({ error });
    }
  });

  it('signs the person out', async () => {
    const config = await discover('own', client.None());
    const { id_token = '' } = await signIn(config);
    const parameters = { id_token_hint: id_token, post_logout_redirect_uri: goodbye, state: 'bye' };
    const answer = await browser.get(client.buildEndSessionUrl(config, parameters).href);
    expect(answer.location).to.equal(`${goodbye}?state=bye`);
    const { address } = await begin(config, { prompt: 'none' });
    expect((await browser.get(address)).location).to.contain('error=login_required');
  });
});
