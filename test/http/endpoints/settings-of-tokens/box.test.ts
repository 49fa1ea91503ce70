import { expect } from 'chai';
import { ownerQuery } from '../../../support/owner-query.ts';
import type { TestApi } from '../../../support/api.ts';
import type { Browser } from '../../pages/browser.ts';
import { ann, files, onTokenApi, tokenRequests } from './token-requests.ts';

describe('a token and the settings of its box', () => {
  let api: TestApi;
  let browser: Browser;
  const { atToken, configure, expectLive, expectRefused, introspect, refresh, tokensOf } = tokenRequests(() => ({
    api,
    browser,
  }));

  onTokenApi((started) => ({ api, browser } = started));

  const say = (settings: object) => api.declare('default', [{ kind: 'Box', id: 'default', ...settings }]);

  it('R-18 compatibility.implicit: false refuses the tokens of the implicit grant', async () => {
    const { access } = await tokensOf('implicit');
    const other = await tokensOf('authorization_code');
    await say({ compatibility: { profile: 'strict' } });
    await expectRefused(access);
    await expectLive(other.access);
    await say({});
    await expectLive(access);
  });

  it('R-18 require_listed_audience: true refuses tokens of a client with an audience that it does not list', async () => {
    const foreign = await tokensOf('client_credentials', { audience: files });
    const own = await tokensOf('client_credentials');
    await say({ tokens: { require_listed_audience: true } });
    await expectRefused(foreign.access);
    await expectLive(own.access);
    expect((await refresh(foreign.refresh)).body).to.include({ error: 'invalid_target' });
    expect(await introspect(foreign.refresh)).to.deep.equal({ active: false });
    expect((await refresh(own.refresh)).status).to.equal(200);
    const asked = { grant_type: 'client_credentials', audience: files };
    expect((await atToken(asked)).body).to.include({ error: 'invalid_target' });
    expect((await atToken({ ...asked, audience: 'http://boxgate.test/boxes/default' })).status).to.equal(200);
    await say({});
    await expectLive(foreign.access);
  });

  it('R-18 require_listed_audience: true issues tokens of a client for an audience that it lists', async () => {
    await configure({ auth: { client_credentials: { audience: [files] } } });
    await say({ tokens: { require_listed_audience: true } });
    const { access, refresh: token } = await tokensOf('client_credentials', { audience: files });
    await expectLive(access);
    expect((await refresh(token)).status).to.equal(200);
  });

  it('R-09 compatibility.password_grant: false refuses the grant, and the tokens of it', async () => {
    const { access } = await tokensOf('password');
    const other = await tokensOf('client_credentials');
    await say({ compatibility: { password_grant: false } });
    await expectRefused(access);
    await expectLive(other.access);
    const fields = { grant_type: 'password', username: ann.email, password: ann.password };
    expect((await atToken(fields)).body).to.include({ error: 'unsupported_grant_type' });
    expect((await atToken(fields, 'keeper')).body).to.include({ error: 'unauthorized_client' });
    await say({});
    await expectLive(access);
  });

  it('R-18 another issuer leaves opaque tokens valid, which name it, and refuses JWTs of the former one', async () => {
    const { access } = await tokensOf('client_credentials');
    await configure({ auth: { client_credentials: { token_format: 'jwt' } } });
    const { access: jwt } = await tokensOf('client_credentials');
    await say({ issuer: 'https://id.example' });
    expect(await introspect(access)).to.deep.include({
      active: true,
      iss: 'https://id.example',
      aud: ['https://id.example'],
    });
    expect(await introspect(jwt)).to.deep.equal({ active: false });
  });

  it('R-18 a shorter tokens.max_refresh_lifetime ends refresh tokens that are older', async () => {
    const { refresh: token } = await tokensOf('client_credentials');
    await backdateFamilies('2 hours');
    expect((await refresh(token)).status).to.equal(200);
    const settings = { refresh_token_expiration: 60 };
    await configure({ auth: { client_credentials: settings } });
    await say({ tokens: { max_refresh_lifetime: 3600 } });
    expect((await refresh(token)).body).to.include({ error: 'invalid_grant' });
    expect(await introspect(token)).to.deep.equal({ active: false });
  });

  async function backdateFamilies(age: string): Promise<void> {
    const statement = 'UPDATE boxgate.refresh_family SET created_at = created_at - $1::interval';
    await ownerQuery(api, statement, [age]);
  }
});
