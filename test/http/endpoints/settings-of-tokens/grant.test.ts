import { expect } from 'chai';
import { basic, sendForm } from '../../../oauth/requests.ts';
import type { TestApi } from '../../../support/api.ts';
import type { Browser } from '../../pages/browser.ts';
import { everyGrant, secret, onTokenApi, tokenRequests, without } from './token-requests.ts';

describe('a token and the grant that it was issued by', () => {
  let api: TestApi;
  let browser: Browser;
  const { configure, expectLive, expectRefused, introspect, newCode, redeem, refresh, statusOf, tokensIn, tokensOf } =
    tokenRequests(() => ({ api, browser }));

  onTokenApi((started) => ({ api, browser } = started));

  for (const grant of everyGrant) {
    it(`R-18 an access token of ${grant} is valid only while the client lists the grant`, async () => {
      const { access } = await tokensOf(grant);
      await expectLive(access);
      await configure({ grants: without(grant) });
      await expectRefused(access);
      await configure({ grants: [grant] });
      await expectLive(access);
    });
  }

  for (const grant of ['client_credentials', 'authorization_code'] as const) {
    it(`R-18 a refresh token of ${grant}, and what it gave, is valid only while the client lists the grant`, async () => {
      const first = await tokensOf(grant);
      const { access, refresh: next } = tokensIn(await refresh(first.refresh));
      const token = next === '' ? first.refresh : next;
      await expectLive(access);
      await configure({ grants: without(grant) });
      await expectRefused(access);
      expect(await introspect(token)).to.deep.equal({ active: false });
      expect((await refresh(token)).body).to.include({ error: 'invalid_grant' });
      await configure({ grants: [grant] });
      await expectLive(access);
      expect((await refresh(token)).status).to.equal(200);
    });
  }

  it('R-18 a JWT of a grant that is no longer listed is refused by the box itself', async () => {
    await configure({ auth: { client_credentials: { token_format: 'jwt' } } });
    const { access } = await tokensOf('client_credentials');
    await expectLive(access);
    await configure({ grants: ['implicit'], auth: { client_credentials: { token_format: 'jwt' } } });
    await expectRefused(access);
  });

  it('R-18 a code is redeemed only while the client lists authorization_code', async () => {
    const code = await newCode();
    await configure({ grants: without('authorization_code') });
    expect((await redeem(code)).body).to.include({ error: 'unauthorized_client' });
  });

  it('R-18 a token that is revoked while its grant is not listed stays revoked', async () => {
    const [closed, revoked, family] = [
      await tokensOf('client_credentials'),
      await tokensOf('client_credentials'),
      await tokensOf('client_credentials'),
    ];
    await configure({ grants: ['implicit'] });
    expect(await statusOf(closed.access, '/Session', 'DELETE')).to.equal(200);
    for (const token of [revoked.access, family.refresh]) {
      const { status } = await sendForm(`${api.url}/boxes/default/auth/revoke`, { token }, basic('app', secret));
      expect(status).to.equal(200);
    }
    await configure();
    for (const { access, refresh: token } of [closed, revoked, family]) {
      await expectRefused(access);
      expect((await refresh(token)).body).to.include({ error: 'invalid_grant' });
    }
  });
});
