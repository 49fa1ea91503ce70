import { expect } from 'chai';
import { decodeProtectedHeader } from 'jose';
import type { Browser } from '../../http/pages/browser.ts';
import { ownerQuery } from '../../support/owner-query.ts';
import { basic, claimsOf, sendForm, textOf } from '../requests.ts';
import type { Fields, Reply } from '../requests.ts';
import { ann, annsData, answered, authorizePath, back, codeRequest, secret, startOpenIdApi } from './openid-api.ts';
import type { OpenIdApi } from './openid-api.ts';

/** Clients beside those of the API: `told` lists claims, `jwt` gets JWTs, `spa` gets them without a code. */
const declared = [
  client('told', { id_token_claims: ['email', 'profile', 'groups'] }),
  client('jwt', {}, { token_format: 'jwt' }),
  { ...client('spa', { grant_types: ['implicit'] }), auth: { implicit: { redirect_uri: back, token_format: 'jwt' } } },
  client('narrow', { scope: ['openid', 'email'] }),
  client('brief', { scope: ['openid', 'email'] }, { refresh_token: false }),
  client('once', {}, { refresh_token: false }),
  {
    kind: 'Client',
    id: 'machine-jwt',
    grant_types: ['client_credentials'],
    auth: { client_credentials: { token_format: 'jwt' } },
    secret,
  },
] as const;

function client(id: string, fields: object = {}, settings: object = {}) {
  const auth = { authorization_code: { redirect_uri: back, refresh_token: true, ...settings } };
  return { kind: 'Client', id, first_party: true, grant_types: ['authorization_code'], auth, ...fields } as const;
}

describe('claims about a user in tokens', () => {
  let api: OpenIdApi;
  let browser: Browser;

  before(async () => {
    api = await startOpenIdApi();
    await api.declare('default', declared);
    await ownerQuery(
      api,
      `INSERT INTO boxgate.group (box, id, name, version) VALUES ('default', 1, 'shop', 1), ('default', 2, 'staff', 1)`,
      [],
    );
    await join(1, 2);
    browser = await api.signedIn();
  });
  after(() => api.stop());

  async function join(...groups: readonly number[]): Promise<void> {
    await ownerQuery(api, 'DELETE FROM boxgate.group_member', []);
    for (const group of groups) {
      const values = [api.user, group];
      await ownerQuery(
        api,
        `INSERT INTO boxgate.group_member (box, user_id, group_id) VALUES ('default', $1, $2)`,
        values,
      );
    }
  }

  async function tokens(client_id: string, scope: string, over: Fields = {}): Promise<Reply> {
    const answer = await browser.get(authorizePath({ ...codeRequest, client_id, scope, ...over }));
    const reply = await api.redeem(answer, { client_id });
    expect(reply.status, reply.text).to.equal(200);
    return reply;
  }

  function refresh(client_id: string, reply: Reply, fields: Fields = {}): Promise<Reply> {
    const refresh_token = textOf(reply, 'refresh_token');
    const url = `${api.url}/boxes/default/auth/token`;
    return sendForm(url, { grant_type: 'refresh_token', client_id, refresh_token, ...fields });
  }

  async function introspected(token: string): Promise<Reply['body']> {
    const url = `${api.url}/boxes/default/auth/introspect`;
    return (await sendForm(url, { token }, basic('machine', secret))).body;
  }

  const idTokenOf = (reply: Reply) => claimsOf(textOf(reply, 'id_token'));
  const userInfo = async (token: string) =>
    (await api.get('/auth/userinfo', { Authorization: `Bearer ${token}` })).body;

  it('are the groups in the id_token, at userinfo, in introspection and in a JWT, for the scope groups', async () => {
    const opaque = await tokens('own', 'openid groups');
    expect(idTokenOf(opaque)).to.deep.include({ sub: String(api.user), groups: ['shop', 'staff'] });
    const text = textOf(opaque, 'access_token');
    expect(await userInfo(text)).to.deep.equal({ sub: String(api.user), groups: ['shop', 'staff'] });
    expect(await introspected(text))
      .to.deep.include({ groups: ['shop', 'staff'] })
      .and.not.have.property('username');
    const jwt = textOf(await tokens('jwt', 'openid groups'), 'access_token');
    expect(decodeProtectedHeader(jwt).typ).to.equal('at+jwt');
    expect(claimsOf(jwt)).to.deep.include({ scope: 'openid groups', groups: ['shop', 'staff'] });
    expect(await introspected(jwt)).to.deep.include({ active: true, groups: ['shop', 'staff'] });
  });

  it('are the groups and the email in introspection of a refresh token, as of its access tokens', async () => {
    const subject = { active: true, sub: String(api.user) };
    const reply = await tokens('own', 'openid groups');
    const told = await introspected(textOf(reply, 'refresh_token'));
    expect(told)
      .to.deep.include({ ...subject, groups: ['shop', 'staff'] })
      .and.not.have.property('username');
    const less = textOf(await tokens('own', 'openid email'), 'refresh_token');
    expect(await introspected(less))
      .to.deep.include({ ...subject, username: ann.email })
      .and.not.have.property('groups');
    await join(2);
    expect(await introspected(textOf(reply, 'refresh_token'))).to.deep.include({ groups: ['staff'] });
    await join(1, 2);
  });

  it('are the groups in the tokens of the implicit grant', async () => {
    const asked = { client_id: 'spa', redirect_uri: back, nonce: 'n', scope: 'openid groups email' };
    const both = answered(await browser.get(authorizePath({ ...asked, response_type: 'id_token token' })));
    expect(claimsOf(both['access_token'] ?? '')['groups']).to.deep.equal(['shop', 'staff']);
    expect(claimsOf(both['id_token'] ?? '')).to.deep.include({ groups: ['shop', 'staff'] });
    expect(claimsOf(both['id_token'] ?? '')).to.not.have.property('email');
    const alone = answered(await browser.get(authorizePath({ ...asked, response_type: 'id_token' })));
    expect(claimsOf(alone['id_token'] ?? '')).to.deep.include({ groups: ['shop', 'staff'], email: ann.email });
  });

  it('are no groups without the scope', async () => {
    const reply = await tokens('jwt', 'openid email profile');
    const text = textOf(reply, 'access_token');
    for (const claims of [idTokenOf(reply), claimsOf(text), await userInfo(text), await introspected(text)]) {
      expect(claims).to.not.have.property('groups');
    }
  });

  it('are no groups in the token of a client, which may request the scope', async () => {
    const url = `${api.url}/boxes/default/auth/token`;
    const asked = { grant_type: 'client_credentials', scope: 'groups' };
    const text = textOf(await sendForm(url, asked, basic('machine-jwt', secret)), 'access_token');
    expect(claimsOf(text)).to.include({ scope: 'groups' }).and.not.have.property('groups');
    expect(await introspected(text))
      .to.include({ scope: 'groups' })
      .and.not.have.property('groups');
  });

  it('are in the id_token of a code and of a refresh as id_token_claims says', async () => {
    const { name } = annsData;
    const reply = await tokens('told', 'openid email profile groups phone');
    for (const one of [reply, await refresh('told', reply)]) {
      const claims = idTokenOf(one);
      expect(claims).to.deep.include({ email: ann.email, email_verified: false, name, groups: ['shop', 'staff'] });
      expect(claims).to.not.have.any.keys('phone_number', 'shoe_size');
    }
    expect(idTokenOf(await tokens('told', 'openid'))).to.not.have.any.keys('email', 'name', 'groups');
    expect(idTokenOf(await tokens('own', 'openid email profile'))).to.not.have.any.keys('email', 'name', 'groups');
  });

  it('say whether the email is verified, as it is stored now', async () => {
    const first = await tokens('told', 'openid email');
    for (const [stored, expected] of [
      [true, { email: ann.email, email_verified: true }],
      [null, { email: ann.email }],
      [false, { email: ann.email, email_verified: false }],
    ] as const) {
      await ownerQuery(api, 'UPDATE boxgate.user SET email_verified = $2 WHERE id = $1', [api.user, stored]);
      const { sub: _, ...told } = await userInfo(textOf(first, 'access_token'));
      expect(told).to.deep.equal(expected);
      const reply = await tokens('told', 'openid email');
      for (const one of [reply, await refresh('told', reply)]) {
        const { email, email_verified } = idTokenOf(one);
        expect({ email, ...(email_verified !== undefined && { email_verified }) }).to.deep.equal(expected);
      }
    }
  });

  describe('of a refresh (OpenID Connect Core section 12.2)', () => {
    it('are in an id_token of the same user, client and sign-in, without a nonce', async () => {
      const first = await tokens('own', 'openid', { nonce: 'first' });
      const [before, again] = [idTokenOf(first), await refresh('own', first)];
      const { payload } = await api.verify(textOf(again, 'id_token'));
      const { iss, sub, aud, azp, auth_time } = before;
      expect(payload).to.deep.include({ iss, sub, aud, azp, auth_time });
      expect(payload).to.not.have.property('nonce');
      expect(payload['at_hash']).to.be.a('string').and.not.equal(before['at_hash']);
      expect(payload.iat).to.be.at.least(Number(before['iat']));
      // A second refresh still tells of the first sign-in.
      expect(idTokenOf(await refresh('own', again))['auth_time']).to.equal(auth_time);
    });

    it('are in an id_token that is signed with the algorithm of the client', async () => {
      const again = await refresh('es256', await tokens('es256', 'openid'));
      expect(decodeProtectedHeader(textOf(again, 'id_token')).alg).to.equal('ES256');
    });

    it('are in no id_token without the scope openid, granted and left', async () => {
      expect((await refresh('own', await tokens('own', 'email'))).body).to.not.have.property('id_token');
      const narrowed = await refresh('own', await tokens('own', 'openid email'), { scope: 'email' });
      expect(narrowed.body).to.include({ token_type: 'Bearer' }).and.not.have.property('id_token');
    });

    it('are the groups as they are now', async () => {
      const reply = await tokens('jwt', 'openid groups');
      await join(2);
      const again = await refresh('jwt', reply);
      expect(idTokenOf(again)['groups']).to.deep.equal(['staff']);
      expect(claimsOf(textOf(again, 'access_token'))['groups']).to.deep.equal(['staff']);
      await join(1, 2);
    });
  });

  it('come with offline_access for every client that may refresh, and for no other that does not list it', async () => {
    const scope = 'openid offline_access';
    const narrow = await tokens('narrow', scope);
    expect(await introspected(textOf(narrow, 'access_token'))).to.include({ active: true, scope });
    expect((await refresh('narrow', narrow)).body).to.have.property('id_token');
    // E-33: it was granted without a refresh token.
    for (const client_id of ['once', 'spa']) {
      const response_type = client_id === 'spa' ? 'token' : 'code';
      const answer = await browser.get(authorizePath({ ...codeRequest, client_id, scope, response_type }));
      const { access_token } = answered(answer);
      const body = access_token === undefined ? (await api.redeem(answer, { client_id })).body : answered(answer);
      expect(body['scope'], client_id).to.equal('openid');
    }
    const refused = await browser.get(authorizePath({ ...codeRequest, client_id: 'brief', scope }));
    expect(answered(refused)).to.include({ error: 'invalid_scope' });
  });

  describe('that an app asks for by name (OpenID Connect Core section 5.5)', () => {
    // E-32: the parameter `claims` was ignored.
    const { name, phone_number, address } = annsData;
    const claims = JSON.stringify({
      userinfo: { name: { essential: true }, phone_number: null, shoe_size: null, nickname: null },
      id_token: { address: null, groups: { essential: true }, auth_time: { essential: true } },
      other: { email: null },
    });

    /** Reads from the box as a client that may read everything. */
    async function read(path: string): Promise<string> {
      const link = [{ resourceType: 'Client', id: 'machine' }] as const;
      await api.declare('default', [{ kind: 'AccessPolicy', id: 'all', engine: 'allow', link }]);
      const url = `${api.url}/boxes/default/auth/token`;
      const reply = await sendForm(url, { grant_type: 'client_credentials' }, basic('machine', secret));
      return (await api.get(path, { Authorization: `Bearer ${textOf(reply, 'access_token')}` })).text;
    }

    it('are at the place that it names, and in no scope that anybody sees', async () => {
      const reply = await tokens('jwt', 'openid', { claims });
      const again = await refresh('jwt', reply);
      for (const one of [reply, again]) {
        const text = textOf(one, 'access_token');
        expect(await userInfo(text)).to.deep.equal({ sub: String(api.user), name, phone_number });
        expect(idTokenOf(one)).to.deep.include({ address, groups: ['shop', 'staff'] });
        expect(idTokenOf(one)).to.not.have.any.keys('name', 'phone_number', 'email');
        expect(claimsOf(text)).to.include({ scope: 'openid' }).and.not.have.property('groups');
        expect(await introspected(text)).to.include({ scope: 'openid' });
        expect(one.text).to.not.contain('userinfo');
      }
      expect(await introspected(textOf(again, 'refresh_token'))).to.include({ scope: 'openid' });
      const sessions = await read('/Session?client=jwt&_count=1');
      expect(sessions).to.contain('"scope":"openid"').and.not.contain('userinfo');
    });

    it('are in the tokens of the implicit grant', async () => {
      const asked = { client_id: 'spa', redirect_uri: back, nonce: 'n', scope: 'openid', claims };
      const both = answered(await browser.get(authorizePath({ ...asked, response_type: 'id_token token' })));
      expect(claimsOf(both['id_token'] ?? '')).to.deep.include({ address, groups: ['shop', 'staff'] });
      expect(claimsOf(both['access_token'] ?? '')).to.include({ scope: 'openid' });
      expect(await userInfo(both['access_token'] ?? '')).to.deep.equal({ sub: String(api.user), name, phone_number });
      const alone = answered(await browser.get(authorizePath({ ...asked, response_type: 'id_token' })));
      expect(claimsOf(alone['id_token'] ?? '')).to.deep.include({ address, groups: ['shop', 'staff'] });
      expect(claimsOf(alone['id_token'] ?? '')).to.not.have.property('name');
    });

    it('are only those of scopes that the client may request, now too', async () => {
      const all = JSON.stringify({ userinfo: { name: null, email: null } });
      const narrow = await tokens('narrow', 'openid', { claims: all });
      const text = textOf(narrow, 'access_token');
      const { sub: _, ...told } = await userInfo(text);
      expect(told).to.include({ email: ann.email }).and.not.have.property('name');
      await api.declare('default', [client('narrow', { scope: ['openid', 'profile'] })]);
      expect(await userInfo(text)).to.deep.equal({ sub: String(api.user) });
      await api.declare('default', [client('narrow', { scope: ['openid', 'email'] })]);
      expect(answered(await browser.get(authorizePath({ ...codeRequest, scope: '"userinfo:email:email' })))).to.include(
        {
          error: 'invalid_scope',
        },
      );
    });

    it('are listed on the consent page, remembered with the scopes, and not asked for again', async () => {
      const path = (named: object) =>
        authorizePath({ ...codeRequest, client_id: 'remembers', claims: JSON.stringify(named) });
      await api.declare('default', [client('remembers', { first_party: false, secret })]);
      const person = await api.signedIn();
      const two = { userinfo: { name: null, email: null } };
      const { location } = await person.get(path(two));
      expect((await person.get(location)).text).to.contain('see these details about you: name, email address');
      expect(answered(await person.submit(location, { answer: 'allow' }))).to.have.property('code');
      expect(answered(await person.get(path(two)))).to.have.property('code');
      expect(answered(await person.get(path({ userinfo: { name: { essential: true } } })))).to.have.property('code');
      expect((await person.get(path({ userinfo: { phone_number: null } }))).location).to.contain('/auth/consent');
      expect((await person.get(path({ id_token: { name: null } }))).location).to.contain('/auth/consent');
      expect(await read('/Grant?client=remembers'))
        .to.contain('"scope":"openid","claims":["name","email"]')
        .and.not.contain('userinfo');
    });

    it('are not listed on the consent page if the client may not request their scope', async () => {
      const scope = ['openid', 'email'];
      await api.declare('default', [client('modest', { first_party: false, secret, scope })]);
      const person = await api.signedIn();
      const two = JSON.stringify({ userinfo: { name: null, email: null } });
      const { location } = await person.get(authorizePath({ ...codeRequest, client_id: 'modest', claims: two }));
      expect((await person.get(location)).text).to.contain('see these details about you: email address');
    });

    for (const [what, named, error] of [
      ['no JSON', '{', 'invalid_request'],
      ['no object', '[]', 'invalid_request'],
      ['too long', JSON.stringify({ userinfo: { x: 'x'.repeat(4096) } }), 'invalid_request'],
      [
        'of an acr that has to be one of some',
        '{"id_token":{"acr":{"essential":true,"values":["x"]}}}',
        'access_denied',
      ],
      ['of another user', '{"id_token":{"sub":{"value":"999"}}}', 'login_required'],
      ['of nobody', '{"id_token":{"sub":{"value":"ann"}}}', 'login_required'],
    ] as const) {
      it(`are refused if the parameter is ${what}`, async () => {
        expect(answered(await browser.get(authorizePath({ ...codeRequest, claims: named })))).to.include({ error });
      });
    }

    it('may demand the user who is signed in', async () => {
      const named = JSON.stringify({ id_token: { sub: { value: String(api.user) } } });
      const answer = await browser.get(authorizePath({ ...codeRequest, prompt: 'none', claims: named }));
      expect(answered(answer)).to.have.property('code');
    });
  });
});
