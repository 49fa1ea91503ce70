import { expect } from 'chai';
import { AuthorizationCode, ClientCredentials } from 'simple-oauth2';
import { isObject } from '../../crds/path.ts';
import { withHttpsBox } from './https-box.ts';
import type { HttpsBox } from './https-box.ts';
import { newVisitor } from './visitor.ts';

const secret = 'a secret: with + and / and %';
const redirectUri = 'https://app.example/callback';

describe('simple-oauth2', () => {
  let box: HttpsBox;

  withHttpsBox((started) => (box = started));
  before(() =>
    box.api.declare('default', [
      {
        kind: 'Client',
        id: 'app',
        grant_types: ['client_credentials', 'authorization_code'],
        secret,
        scope: ['read', 'write'],
        auth: {
          client_credentials: { access_token_expiration: 300 },
          authorization_code: { redirect_uri: redirectUri, refresh_token: true, access_token_expiration: 300 },
        },
      },
    ]),
  );

  /**
   * Returns the settings: the library takes a host and absolute paths on it, the authorization endpoint only for a
   * code.
   */
  function config(paths: { readonly authorizePath?: string } = {}) {
    const { origin, pathname } = new URL(box.issuer);
    const [tokenPath, revokePath] = [`${pathname}/auth/token`, `${pathname}/auth/revoke`];
    return { client: { id: 'app', secret }, auth: { tokenHost: origin, tokenPath, revokePath, ...paths } };
  }

  async function isActive(token: unknown): Promise<unknown> {
    const response = await fetch(`${box.issuer}/auth/introspect`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: 'app', client_secret: secret, token: String(token) }),
    });
    const answer: unknown = await response.json();
    return isObject(answer) && answer['active'];
  }

  it('gets a token for the client itself', async () => {
    const got = await new ClientCredentials(config()).getToken({ scope: ['read', 'write'] });
    expect(got.token).to.include({ token_type: 'Bearer', expires_in: 300 });
    expect([got.expired(), await isActive(got.token['access_token'])]).to.deep.equal([false, true]);
  });

  it('gets tokens of a person for a code, refreshes and revokes them', async () => {
    const client = new AuthorizationCode(config({ authorizePath: `${new URL(box.issuer).pathname}/auth/authorize` }));
    const address = client.authorizeURL({ redirect_uri: redirectUri, scope: 'read', state: 'of the app' });
    const { url } = await newVisitor().visit(address, ({ href }) => href.startsWith(redirectUri));
    expect(url.searchParams.get('state')).to.equal('of the app');
    const code = url.searchParams.get('code') ?? '';
    const first = await client.getToken({ code, redirect_uri: redirectUri });
    const next = await first.refresh();
    expect(next.token['access_token']).not.to.equal(first.token['access_token']);
    expect(await isActive(next.token['access_token'])).to.equal(true);
    await next.revokeAll();
    expect(await isActive(next.token['access_token'])).to.equal(false);
  });
});
