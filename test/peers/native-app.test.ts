import { expect } from 'chai';
import * as openid from 'openid-client';
import { blocksOf, clientOf } from '../support/page-block.ts';
import { ann, withHttpsBox } from './https-box.ts';
import type { HttpsBox } from './https-box.ts';
import { newVisitor } from './visitor.ts';

const redirectUri = 'com.example.shop:/callback';

describe('the mobile app of docs/guides/add-sign-in.md, with openid-client', () => {
  let box: HttpsBox;
  let server: openid.Configuration;

  withHttpsBox((started) => (box = started));
  before(async () => {
    const [manifest = ''] = blocksOf('guides/add-sign-in.md', 'A mobile or desktop app', 'yaml');
    await box.api.declare('default', [clientOf(manifest)]);
    server = await openid.discovery(new URL(box.issuer), 'shop-phone', undefined, openid.None());
  });

  it('signs a person in, asks for consent each time, and stays signed in', async () => {
    const visitor = newVisitor();
    for (const _ of ['the first time', 'and again']) {
      const pkceCodeVerifier = openid.randomPKCECodeVerifier();
      const address = openid.buildAuthorizationUrl(server, {
        redirect_uri: redirectUri,
        scope: 'openid email',
        code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
      });
      let asked = false;
      const { url } = await visitor.visit(address, ({ href, pathname }) => {
        asked ||= pathname.endsWith('/auth/consent');
        return href.startsWith(redirectUri);
      });
      expect(asked).to.equal(true);
      const tokens = await openid.authorizationCodeGrant(server, url, { pkceCodeVerifier });
      const next = await openid.refreshTokenGrant(server, tokens.refresh_token ?? '');
      const person = await openid.fetchUserInfo(server, next.access_token, box.user);
      expect(person).to.include({ email: ann.email });
    }
  });
});
