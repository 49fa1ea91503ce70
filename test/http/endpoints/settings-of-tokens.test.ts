import { expect } from 'chai';
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import type { GrantType } from '../../../crds/client.ts';
import { generateClientSecret } from '../../../api/credentials/secret-text.ts';
import { basic, readReply, sendForm, textOf } from '../../oauth/requests.ts';
import type { Fields, Reply } from '../../oauth/requests.ts';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { ownerQuery } from '../../support/owner-query.ts';
import { addUser, newBrowser } from '../pages/browser.ts';
import type { Browser } from '../pages/browser.ts';

const ann = { email: 'ann@shop.example', password: 'a long enough passphrase' };
const back = 'https://app.example/back';
const elsewhere = 'https://app.example/elsewhere';
const files = 'https://files.example';
const secret = generateClientSecret();
const verifier = randomBytes(32).toString('base64url');
const challenge = createHash('sha256').update(verifier).digest('base64url');
const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
const publicKey = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
const everyGrant: readonly GrantType[] = ['client_credentials', 'implicit', 'authorization_code', 'password'];

/** Settings of the client `app` that a test changes. */
interface Settings {
  readonly grants?: readonly GrantType[];
  readonly scope?: readonly string[];
  readonly fields?: object;
  readonly auth?: Readonly<Partial<Record<GrantType, object>>>;
}

/** Tokens of the client `app`, as one grant gives them. */
interface Tokens {
  readonly access: string;
  readonly refresh: string;
}

describe('a token and the settings that it was issued under', () => {
  let api: TestApi;
  let browser: Browser;

  before(async () => {
    api = await startApi({
      environment: { BOXGATE_FAILURES_PER_CLIENT: '100000', BOXGATE_FAILURES_PER_BOX: '100000' },
    });
    const keeper = { id: 'keeper', grant_types: ['client_credentials'], secret } as const;
    const link = [{ resourceType: 'Client', id: 'app' }];
    await api.declare('default', [
      { kind: 'Client', ...keeper },
      { kind: 'AccessPolicy', id: 'clients', engine: 'matcho', matcho: { uri: '#^/Client' }, link },
      {
        kind: 'AccessPolicy',
        id: 'write',
        engine: 'matcho',
        matcho: { uri: '/AccessPolicy/none', session: { scope: '#write' }, token: { scope: '#write' } },
        link,
      },
    ]);
    await configure();
    await addUser(api, ann.email, ann.password);
    browser = newBrowser(api);
    await browser.submit('/auth/signin', ann);
  });
  after(() => api.stop());
  beforeEach(() => configure());

  async function configure({ grants = everyGrant, scope, auth = {}, fields }: Settings = {}): Promise<void> {
    const { client_credentials, implicit, authorization_code } = auth;
    await api.declare('default', [
      { kind: 'Box', id: 'default' },
      {
        kind: 'Client',
        id: 'app',
        secret,
        first_party: true,
        grant_types: grants,
        scope: scope ?? ['openid', 'email', 'read', 'write'],
        auth: {
          client_credentials: { refresh_token: true, ...client_credentials },
          implicit: { redirect_uri: back, ...implicit },
          authorization_code: { redirect_uri: back, refresh_token: true, ...authorization_code },
        },
        ...fields,
      },
    ]);
  }

  const atToken = (fields: Fields, id = 'app'): Promise<Reply> =>
    sendForm(`${api.url}/boxes/default/auth/token`, fields, basic(id, secret));

  function tokensIn(reply: Reply): Tokens {
    if (reply.status !== 200) throw new Error(`no token: ${reply.text}`);
    return { access: textOf(reply, 'access_token'), refresh: textOf(reply, 'refresh_token') };
  }

  async function authorized(parameters: Record<string, string>, sign: '#' | '?'): Promise<URLSearchParams> {
    const query = new URLSearchParams({ client_id: 'app', ...parameters }).toString();
    const { location } = await browser.get(`/auth/authorize?${query}`);
    return new URLSearchParams(location.slice(location.indexOf(sign) + 1));
  }

  async function newCode(parameters: Record<string, string> = { redirect_uri: back, ...pkce }): Promise<string> {
    return (await authorized({ response_type: 'code', ...parameters }, '?')).get('code') ?? '';
  }

  const redeem = (code: string, fields: Fields = { redirect_uri: back, code_verifier: verifier }): Promise<Reply> =>
    atToken({ grant_type: 'authorization_code', code, ...fields });

  const refresh = (token: string): Promise<Reply> => atToken({ grant_type: 'refresh_token', refresh_token: token });

  /** Gets tokens by each grant, with the parameters that all of them take. */
  const issue: Readonly<Record<string, (fields?: Record<string, string>) => Promise<Tokens>>> = {
    client_credentials: async (fields = {}) => tokensIn(await atToken({ grant_type: 'client_credentials', ...fields })),
    implicit: async (fields = {}) => {
      const answer = await authorized({ response_type: 'token', redirect_uri: back, ...fields }, '#');
      return { access: answer.get('access_token') ?? '', refresh: '' };
    },
    authorization_code: async (fields = {}) =>
      tokensIn(await redeem(await newCode({ redirect_uri: back, ...pkce, ...fields }))),
    password: async (fields = {}) =>
      tokensIn(await atToken({ grant_type: 'password', username: ann.email, password: ann.password, ...fields })),
  };

  async function refreshed(grant: string, fields?: Record<string, string>): Promise<Tokens> {
    return tokensIn(await refresh((await tokensOf(grant, fields)).refresh));
  }

  async function tokensOf(grant: string, fields?: Record<string, string>): Promise<Tokens> {
    return (await issue[grant]?.(fields)) ?? { access: '', refresh: '' };
  }

  async function introspect(token: string): Promise<Reply['body']> {
    return (await sendForm(`${api.url}/boxes/default/auth/introspect`, { token }, basic('keeper', secret))).body;
  }

  async function statusOf(token: string, path: string, method = 'GET'): Promise<number> {
    const headers = { Authorization: `Bearer ${token}` };
    return (await readReply(await fetch(`${api.url}/boxes/default${path}`, { method, headers }))).status;
  }

  async function expectLive(token: string): Promise<void> {
    expect(await introspect(token)).to.include({ active: true, client_id: 'app' });
    expect(await statusOf(token, '/Client/none')).to.equal(404);
  }

  async function expectRefused(token: string): Promise<void> {
    expect(await introspect(token)).to.deep.equal({ active: false });
    expect(await statusOf(token, '/Client/none')).to.equal(401);
    expect(await statusOf(token, '/auth/userinfo')).to.equal(401);
  }

  const without = (grant: string): readonly GrantType[] => everyGrant.filter((one) => one !== grant);

  describe('the grant', () => {
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

  describe('the scope', () => {
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

  describe('the audience', () => {
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

  describe('other settings of the client', () => {
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

  describe('settings of the box', () => {
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
});
