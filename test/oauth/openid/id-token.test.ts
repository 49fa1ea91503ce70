import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';
import type { Browser } from '../../http/pages/browser.ts';
import { basic, claimsOf, sendForm, textOf } from '../requests.ts';
import type { Fields, Reply } from '../requests.ts';
import { ann, authorizePath, codeRequest, issuer, secret, startOpenIdApi } from './openid-api.ts';
import type { OpenIdApi } from './openid-api.ts';

describe('the id_token of a code', () => {
  let api: OpenIdApi;
  let browser: Browser;

  before(async () => {
    api = await startOpenIdApi();
    browser = await api.signedIn();
  });
  after(() => api.stop());

  async function tokens(over: Fields = {}): Promise<Reply> {
    const parameters = { ...codeRequest, ...over };
    const reply = await api.redeem(await browser.get(authorizePath(parameters)), { client_id: parameters.client_id });
    expect(reply.status, reply.text).to.equal(200);
    return reply;
  }

  it('says who signed in, when, and for whom', async () => {
    const before = Math.floor(Date.now() / 1000);
    const reply = await tokens({ nonce: 'n-0S6_WzA2Mj &"' });
    const members = ['token_type', 'access_token', 'refresh_token', 'scope', 'id_token'];
    expect(Object.keys(reply.body)).to.deep.equal(members);
    const { payload, protectedHeader } = await api.verify(textOf(reply, 'id_token'));
    expect(protectedHeader).to.include({ alg: 'RS256', typ: 'JWT' });
    const { exp = 0, iat = 0, auth_time, at_hash, ...rest } = payload;
    expect(rest).to.deep.equal({
      iss: issuer,
      sub: String(api.user),
      aud: 'own',
      azp: 'own',
      nonce: 'n-0S6_WzA2Mj &"',
    });
    expect(iat).to.be.at.least(before);
    expect(exp - iat).to.equal(3600);
    expect(auth_time).to.be.within(before - 600, iat);
    const whole = createHash('sha256').update(textOf(reply, 'access_token')).digest();
    expect(at_hash).to.equal(whole.subarray(0, 16).toString('base64url'));
  });

  for (const [client_id, alg, digest] of [
    ['es256', 'ES256', 'sha256'],
    ['eddsa', 'EdDSA', 'sha512'],
  ] as const) {
    it(`is signed with ${alg} for a client that says so`, async () => {
      const reply = await tokens({ client_id });
      const text = textOf(reply, 'id_token');
      const { payload } = await api.verify(text, client_id);
      expect(decodeProtectedHeader(text).alg).to.equal(alg);
      const whole = createHash(digest).update(textOf(reply, 'access_token')).digest();
      expect(payload['at_hash']).to.equal(whole.subarray(0, whole.length / 2).toString('base64url'));
      expect(payload).not.to.have.property('nonce');
    });
  }

  it('is there for the scope openid only', async () => {
    expect((await tokens({ scope: undefined })).body).not.to.have.property('id_token');
    expect((await tokens({ scope: 'email' })).body).not.to.have.property('id_token');
  });

  it('tells of a sign-in that max_age or prompt asked for, which is asked for once', async () => {
    const first = claimsOf(textOf(await tokens(), 'id_token'));
    for (const wish of [{ max_age: '0' }, { prompt: 'login' }, { prompt: 'select_account', max_age: '0' }]) {
      const asked = await browser.get(authorizePath({ ...codeRequest, ...wish }));
      expect(asked.location).to.contain('/auth/signin?');
      const signedIn = await browser.submit(asked.location, ann);
      const answer = await browser.get(signedIn.location);
      const claims = claimsOf(textOf(await api.redeem(answer), 'id_token'));
      expect(claims['sub']).to.equal(first['sub']);
      expect(claims['auth_time']).to.be.at.least(Number(first['auth_time']));
    }
    // The sign-in is young enough, and when it was is told all the same (OpenID Connect Core §2).
    const young = await browser.get(authorizePath({ ...codeRequest, max_age: '10000' }));
    expect(claimsOf(textOf(await api.redeem(young), 'id_token'))['auth_time']).to.be.at.least(
      Number(first['auth_time']),
    );
  });

  it('T-30 is no access token, and none of its kind of any endpoint', async () => {
    const token = textOf(await tokens(), 'id_token');
    const url = `${api.url}/boxes/default/auth/introspect`;
    expect((await sendForm(url, { token }, basic('machine', secret))).body).to.deep.equal({ active: false });
    expect((await api.get('/Client', { Authorization: `Bearer ${token}` })).status).to.equal(401);
  });

  it('is verified by keys that are published before it is', async () => {
    const { keys } = await api.keys();
    expect(new Set(keys.map(({ alg }) => alg))).to.deep.equal(new Set(['RS256', 'ES256', 'EdDSA']));
    const algorithms = (await api.get('/.well-known/openid-configuration')).body[
      'id_token_signing_alg_values_supported'
    ];
    expect(algorithms).to.deep.equal(['RS256', 'ES256', 'EdDSA']);
  });
});
