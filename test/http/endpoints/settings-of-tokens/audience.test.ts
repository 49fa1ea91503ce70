import { expect } from 'chai';
import type { TestApi } from '../../../support/api.ts';
import type { Browser } from '../../pages/browser.ts';
import { files, onTokenApi, tokenRequests } from './token-requests.ts';
import type { Settings } from './token-requests.ts';

describe('a token and the audience that its client may request', () => {
  let api: TestApi;
  let browser: Browser;
  const { configure, expectLive, expectRefused, introspect, newCode, redeem, refresh, tokensOf } = tokenRequests(
    () => ({ api, browser }),
  );

  onTokenApi((started) => ({ api, browser } = started));

  const listing = (grant: string, ...audience: readonly string[]): Settings => ({ auth: { [grant]: { audience } } });

  for (const grant of ['client_credentials', 'implicit', 'authorization_code']) {
    it(`R-18 a token of ${grant} is refused when the client may no longer request its audience`, async () => {
      await configure(listing(grant, files, 'https://mail.example'));
      const { access } = await tokensOf(grant, { audience: files });
      await expectLive(access);
      await configure(listing(grant, 'https://mail.example'));
      await expectRefused(access);
    });

    it(`R-18 a token of ${grant} for the issuer is refused when the client may request other audiences only`, async () => {
      const { access } = await tokensOf(grant);
      await configure(listing(grant, files));
      await expectRefused(access);
      await configure(listing(grant, files, 'http://boxgate.test/boxes/default'));
      await expectLive(access);
    });
  }

  for (const grant of ['client_credentials', 'authorization_code']) {
    it(`R-18 a refresh token of ${grant} gives no audience that was not granted`, async () => {
      const { refresh: token } = await tokensOf(grant);
      await configure(listing(grant, files));
      expect(await introspect(token)).to.deep.equal({ active: false });
      expect((await refresh(token)).body).to.include({ error: 'invalid_target' });
    });
  }

  it('R-18 a code gives no audience that was not granted', async () => {
    const code = await newCode();
    await configure(listing('authorization_code', files));
    expect((await redeem(code)).body).to.include({ error: 'invalid_target' });
  });
});
