import { expect } from 'chai';
import { readReply } from '../../../oauth/requests.ts';
import type { TestApi } from '../../../support/api.ts';
import type { Browser } from '../../pages/browser.ts';
import { onTokenApi, tokenRequests } from './token-requests.ts';

describe('a token and the scope that its client may request', () => {
  let api: TestApi;
  let browser: Browser;
  const { configure, expectRefused, introspect, refresh, refreshed, statusOf, tokensIn, tokensOf } = tokenRequests(
    () => ({ api, browser }),
  );

  onTokenApi((started) => ({ api, browser } = started));

  for (const [what, get] of [
    ['a token', tokensOf],
    ['a refreshed token', refreshed],
  ] as const) {
    it(`R-18 ${what} has no scope that the client may no longer request`, async () => {
      const { access } = await get('authorization_code', { scope: 'openid email read write' });
      expect(await introspect(access)).to.include({ scope: 'openid email read write' });
      expect(await statusOf(access, '/AccessPolicy/none')).to.equal(404);
      await configure({ scope: ['openid', 'read'] });
      expect(await introspect(access)).to.include({ scope: 'openid read' });
      expect(await statusOf(access, '/AccessPolicy/none'), 'policies see the reduced scope').to.equal(403);
      const headers = { Authorization: `Bearer ${access}` };
      const claims = await readReply(await fetch(`${api.url}/boxes/default/auth/userinfo`, { headers }));
      expect(Object.keys(claims.body)).to.deep.equal(['sub']);
      await configure({ scope: ['read'] });
      expect(await statusOf(access, '/auth/userinfo')).to.equal(403);
    });
  }

  it('R-18 a token is refused when nothing is left of its scope', async () => {
    const { access, refresh: token } = await tokensOf('client_credentials', { scope: 'read' });
    await configure({ scope: ['write'] });
    await expectRefused(access);
    expect(await introspect(token)).to.deep.equal({ active: false });
    expect((await refresh(token)).body).to.include({ error: 'invalid_scope' });
  });

  it('R-18 a refresh token is described with the scope that it can still give', async () => {
    const { refresh: token } = await tokensOf('client_credentials', { scope: 'read write' });
    await configure({ scope: ['write'] });
    expect(await introspect(token)).to.include({ active: true, scope: 'write' });
    expect(tokensIn(await refresh(token)).access).not.to.equal('');
  });
});
