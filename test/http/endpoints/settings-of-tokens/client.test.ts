import { expect } from 'chai';
import { generateKeyPairSync } from 'node:crypto';
import { generateClientSecret } from '../../../../api/credentials/client-secret.ts';
import { sendForm } from '../../../oauth/requests.ts';
import type { TestApi } from '../../../support/api.ts';
import type { Browser } from '../../pages/browser.ts';
import { back, pkce, onTokenApi, tokenRequests, verifier } from './token-requests.ts';
import type { Settings } from './token-requests.ts';

const elsewhere = 'https://app.example/elsewhere';
const publicKey = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });

describe('a token and other settings of its client', () => {
  let api: TestApi;
  let browser: Browser;
  const { configure, expectLive, introspect, newCode, redeem, refresh, tokensOf } = tokenRequests(() => ({
    api,
    browser,
  }));

  onTokenApi((started) => ({ api, browser } = started));

  it('R-18 with refresh_token: false its refresh tokens are refused, its access tokens stay valid', async () => {
    const { access, refresh: token } = await tokensOf('client_credentials');
    await configure({ auth: { client_credentials: { refresh_token: false } } });
    expect((await refresh(token)).body).to.include({ error: 'invalid_grant' });
    expect(await introspect(token)).to.deep.equal({ active: false });
    await expectLive(access);
  });

  for (const [what, named] of [
    ['that named its redirect URI', { redirect_uri: back }],
    ['that left out its redirect URI', {}],
  ] as const) {
    it(`R-18 a code of a request ${what} is refused once the client has another one`, async () => {
      const [code, another] = [await newCode({ ...named, ...pkce }), await newCode({ ...named, ...pkce })];
      expect((await redeem(code, { ...named, code_verifier: verifier })).status).to.equal(200);
      await configure({ auth: { authorization_code: { redirect_uri: elsewhere } } });
      const { body } = await redeem(another, { ...named, code_verifier: verifier });
      expect(body).to.include({ error: 'invalid_grant' });
    });
  }

  it('R-18 a code without a challenge is refused once the client must use PKCE', async () => {
    const code = await newCode({ redirect_uri: back });
    await configure({ auth: { authorization_code: { pkce: true } } });
    expect((await redeem(code, { redirect_uri: back })).body).to.include({ error: 'invalid_grant' });
  });

  it('R-18 a code is redeemed with the secret once secret_required is true', async () => {
    await configure({ auth: { authorization_code: { secret_required: false } } });
    const code = await newCode();
    await configure({ auth: { authorization_code: { secret_required: true } } });
    const fields = { grant_type: 'authorization_code', code, redirect_uri: back, code_verifier: verifier };
    const open = await sendForm(`${api.url}/boxes/default/auth/token`, { ...fields, client_id: 'app' });
    expect(open.body).to.include({ error: 'invalid_client' });
    expect((await redeem(code)).status).to.equal(200);
  });

  const unrelated: Readonly<Record<string, Settings>> = {
    'another redirect URI': { auth: { authorization_code: { redirect_uri: elsewhere } } },
    'first_party: false': { fields: { first_party: false } },
    'another secret': { fields: { secret: generateClientSecret() } },
    'jwks instead of its secret': { fields: { secret: null, jwks: { keys: [publicKey] } } },
  };
  for (const [what, settings] of Object.entries(unrelated)) {
    it(`R-18 ${what} of the client leaves its tokens valid`, async () => {
      const { access } = await tokensOf('authorization_code');
      await configure(settings);
      await expectLive(access);
    });
  }

  it('R-18 a refresh authenticates the client once refresh_requires_secret is true', async () => {
    const { refresh: token } = await tokensOf('client_credentials');
    const fields = { grant_type: 'refresh_token', client_id: 'app', refresh_token: token };
    const named = () => sendForm(`${api.url}/boxes/default/auth/token`, fields);
    expect((await named()).status).to.equal(200);
    await configure({ auth: { client_credentials: { refresh_requires_secret: true } } });
    expect((await named()).body).to.include({ error: 'invalid_client' });
    expect((await refresh(token)).status).to.equal(200);
  });

  it('R-18 a shorter refresh_token_expiration applies from the next use', async () => {
    const { refresh: token } = await tokensOf('client_credentials');
    const { exp } = await introspect(token);
    await configure({ auth: { client_credentials: { refresh_token_expiration: 60 } } });
    expect(await introspect(token)).to.include({ exp });
    expect((await refresh(token)).status).to.equal(200);
    expect(Number((await introspect(token))['exp'])).to.be.lessThan(Number(exp));
  });

  it('R-18 a token keeps the format and the lifetime that it was issued with', async () => {
    const { access } = await tokensOf('client_credentials');
    const { exp } = await introspect(access);
    await configure({ auth: { client_credentials: { token_format: 'jwt', access_token_expiration: 60 } } });
    expect(await introspect(access)).to.include({ active: true, exp });
  });
});
