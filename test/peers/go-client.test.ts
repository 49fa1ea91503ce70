import { expect } from 'chai';
import { isObject } from '../../crds/path.ts';
import { goPeers } from '../../tools/needs/go-peers.ts';
import { startGoProgram } from './go-program.ts';
import type { GoProgram } from './go-program.ts';
import { ann, withHttpsBox } from './https-box.ts';
import type { HttpsBox } from './https-box.ts';
import { joinGroups } from './membership.ts';
import { newVisitor } from './visitor.ts';

const secret = 'a secret: with + and / and %';
const redirectUri = 'https://app.example/callback';

describe('golang.org/x/oauth2 and go-oidc', () => {
  let box: HttpsBox;
  let program: GoProgram | undefined;

  withHttpsBox((started) => (box = started));
  before(async () => {
    await box.api.declare('default', [
      {
        kind: 'Client',
        id: 'app',
        grant_types: ['client_credentials', 'authorization_code'],
        secret,
        id_token_claims: ['email', 'groups'],
        auth: {
          authorization_code: { redirect_uri: redirectUri, refresh_token: true, access_token_expiration: 300 },
        },
      },
    ]);
    await joinGroups(box, ['shop', 'staff']);
    const environment = { ca: box.ca, CLIENT_SECRET: secret };
    program = startGoProgram(goPeers.client, [box.issuer, 'app', redirectUri], environment);
  });
  after(() => program?.stop());

  it('get an id_token with email and groups for a code, read userinfo, refresh, and get a token of the client', async () => {
    const address = await line();
    const { url } = await newVisitor().visit(address, ({ href }) => href.startsWith(redirectUri));
    program?.write(`${url.href}\n`);
    const got: unknown = JSON.parse(await line());
    expect(got).to.containSubset({
      claims: { iss: box.issuer, aud: 'app', sub: box.user, email: ann.email, groups: ['shop', 'staff'] },
      userinfo: { sub: box.user, email: ann.email, groups: ['shop', 'staff'] },
      refreshed: true,
      renewed: { sub: box.user, email: ann.email, groups: ['shop', 'staff'] },
      own: true,
    });
    expect(isObject(got) && isObject(got['claims']) && got['claims']['nonce']).to.equal('n');
  });

  async function line(): Promise<string> {
    const next = await program?.lines.next();
    if (next?.value === undefined) throw new Error(`the program has ended: ${program?.said() ?? ''}`);
    return next.value;
  }
});
