import { expect } from 'chai';
import { decodeProtectedHeader } from 'jose';
import { ownerQuery } from '../../../support/owner-query.ts';
import { readReply, sendForm, textOf } from '../../requests.ts';
import type { Fields, Reply } from '../../requests.ts';
import { ann, annsData, secret } from '../openid-api.ts';
import type { LoginFlow } from './login-flow.ts';
import type { LoginModuleName } from './modules.ts';

type Check = (flow: LoginFlow) => Promise<void>;

/** A request with these parameters besides is answered like any other. */
const succeedsWith =
  (over: Fields): Check =>
  async (flow) => {
    await flow.happy(await flow.api.signedIn(), over);
  };

/** The same, from the sign-in page on. */
const signsInWith =
  (over: Fields): Check =>
  async (flow) => {
    await flow.take(await flow.signIn(flow.newcomer(), over));
  };

/** A request with these parameters besides is refused with one of these errors. */
const failsWith =
  (over: Fields, ...errors: readonly string[]): Check =>
  async (flow) => {
    expect((await flow.ask(await flow.api.signedIn(), over))['error']).to.be.oneOf(errors);
  };

const showsAPage =
  (over: Fields): Check =>
  async (flow) => {
    const { status, location } = await flow.newcomer().get(flow.path(over));
    expect([status, location]).to.deep.equal([400, '']);
  };

function userInfo({ api }: LoginFlow, init: RequestInit): Promise<Reply> {
  return fetch(`${api.url}/boxes/default/auth/userinfo`, init).then(readReply);
}

const tellsUserInfo =
  (init: (token: string) => RequestInit): Check =>
  async (flow) => {
    const { accessToken, claims } = await flow.happy(await flow.api.signedIn());
    const { status, body } = await userInfo(flow, init(accessToken));
    expect([status, body['sub']]).to.deep.equal([200, claims.sub]);
  };

const bearer = (token: string): Record<string, string> => ({ Authorization: `Bearer ${token}` });

const { address, phone_number, phone_number_verified } = annsData;
const claimsOfScopes = {
  profile: { name: annsData.name, given_name: annsData.given_name, birthdate: annsData.birthdate },
  email: { email: ann.email, email_verified: false },
  address: { address },
  phone: { phone_number, phone_number_verified },
};

/** In the id_token where there is no access token, else at userinfo and not in the id_token. */
const givesClaimsOf =
  (...scopes: readonly (keyof typeof claimsOfScopes)[]): Check =>
  async (flow) => {
    const { accessToken, claims } = await flow.happy(await flow.api.signedIn(), {
      scope: ['openid', ...scopes].join(' '),
    });
    const found = accessToken === '' ? claims : (await userInfo(flow, { headers: bearer(accessToken) })).body;
    const expected = new Map<string, unknown>(scopes.flatMap((scope) => Object.entries(claimsOfScopes[scope])));
    expect(found).to.deep.include(Object.fromEntries(expected));
    if (accessToken !== '') expect(claims).not.to.have.any.keys(...expected.keys());
  };

/** As if so much time had gone by: sign-ins and codes are older. */
async function later({ api }: LoginFlow, seconds: number): Promise<void> {
  const by = `interval '${String(seconds)} seconds'`;
  await ownerQuery(api, `UPDATE boxgate.sign_in SET created_at = created_at - ${by}`, []);
  await ownerQuery(
    api,
    `UPDATE boxgate.authorization_code SET created_at = created_at - ${by}, expires_at = expires_at - ${by}`,
    [],
  );
}

/** A first sign-in, and a second request which has to lead to the sign-in page. */
const signsInAgain =
  (over: Fields): Check =>
  async (flow) => {
    const browser = flow.newcomer();
    const first = await flow.take(await flow.signIn(browser));
    await later(flow, 2);
    const second = await flow.take(await flow.signIn(browser, over));
    expect(second.claims.sub).to.equal(first.claims.sub);
    expect(second.claims['auth_time']).to.be.at.least(Number(first.claims['auth_time']));
  };

/** A second request is answered for the sign-in of the first. */
const staysSignedIn =
  (over: (idToken: string) => Fields): Check =>
  async (flow) => {
    const browser = await flow.api.signedIn();
    const first = await flow.happy(browser, { max_age: '15000' });
    const second = await flow.happy(browser, over(first.idToken));
    const [one, other] = [first, second].map(({ claims: { sub, auth_time } }) => ({ sub, auth_time }));
    expect(other).to.deep.equal(one);
  };

const refusesSecondUse =
  (seconds: number): Check =>
  async (flow) => {
    const { code = '' } = await flow.ask(await flow.api.signedIn());
    const first = await flow.redeem(code);
    expect(first.status).to.equal(200);
    await later(flow, seconds);
    expect((await flow.redeem(code)).body['error']).to.equal('invalid_grant');
    const { status } = await userInfo(flow, { headers: bearer(textOf(first, 'access_token')) });
    expect(status).to.equal(401);
  };

const form = { 'Content-Type': 'application/x-www-form-urlencoded' };

/** The checks of each module, named as the suite names them. */
export const LOGIN_CHECKS: Readonly<Record<Exclude<LoginModuleName, 'oidcc-idtoken-unsigned'>, Check>> = {
  'oidcc-server': signsInWith({}),
  'oidcc-response-type-missing': failsWith(
    { response_type: undefined },
    'invalid_request',
    'unsupported_response_type',
  ),
  async 'oidcc-idtoken-signature'(flow) {
    const { alg, kid } = decodeProtectedHeader((await flow.happy(await flow.api.signedIn())).idToken);
    expect(alg).to.equal('RS256');
    expect((await flow.api.keys()).keys.filter((key) => key.kid === kid)).to.have.length(1);
  },
  'oidcc-userinfo-get': tellsUserInfo((token) => ({ headers: bearer(token) })),
  'oidcc-userinfo-post-header': tellsUserInfo((token) => ({ method: 'POST', headers: bearer(token) })),
  'oidcc-userinfo-post-body': tellsUserInfo((token) => ({
    method: 'POST',
    headers: form,
    body: `access_token=${token}`,
  })),
  async 'oidcc-ensure-request-without-nonce-succeeds-for-code-flow'(flow) {
    const { code = '' } = await flow.ask(await flow.api.signedIn(), { nonce: undefined });
    const { payload } = await flow.api.verify(textOf(await flow.redeem(code), 'id_token'), 'server');
    expect(payload).not.to.have.property('nonce');
  },
  'oidcc-ensure-request-without-nonce-fails': failsWith({ nonce: undefined }, 'invalid_request'),
  'oidcc-scope-profile': givesClaimsOf('profile'),
  'oidcc-scope-email': givesClaimsOf('email'),
  'oidcc-scope-address': givesClaimsOf('address'),
  'oidcc-scope-phone': givesClaimsOf('phone'),
  'oidcc-scope-all': givesClaimsOf('address', 'email', 'phone', 'profile'),
  async 'oidcc-alternate-happy-flow'(flow) {
    const [path = '', query = ''] = flow.path({ scope: 'profile email openid' }).split('?');
    const browser = await flow.api.signedIn();
    const { text, location } = await browser.get(`${path}?${query.split('&').toReversed().join('&')}`);
    expect(text + location).to.match(/bgc_|id_token/);
  },
  'oidcc-display-page': signsInWith({ display: 'page' }),
  'oidcc-display-popup': signsInWith({ display: 'popup' }),
  'oidcc-prompt-login': signsInAgain({ prompt: 'login' }),
  async 'oidcc-prompt-none-not-logged-in'(flow) {
    expect((await flow.ask(flow.newcomer(), { prompt: 'none' }))['error']).to.equal('login_required');
  },
  'oidcc-prompt-none-logged-in': staysSignedIn(() => ({ prompt: 'none' })),
  'oidcc-max-age-1': signsInAgain({ max_age: '1' }),
  'oidcc-max-age-10000': staysSignedIn(() => ({ max_age: '10000' })),
  'oidcc-ensure-request-with-unknown-parameter-succeeds': succeedsWith({ extra: 'foobar' }),
  'oidcc-id-token-hint': staysSignedIn((id_token_hint) => ({ prompt: 'none', id_token_hint })),
  'oidcc-login-hint': signsInWith({ login_hint: 'buffy@shop.example' }),
  'oidcc-ui-locales': signsInWith({ ui_locales: 'se' }),
  'oidcc-claims-locales': succeedsWith({ claims_locales: 'se' }),
  'oidcc-ensure-request-with-acr-values-succeeds': succeedsWith({ acr_values: '1 2' }),
  'oidcc-codereuse': refusesSecondUse(0),
  'oidcc-codereuse-30seconds': refusesSecondUse(30),
  'oidcc-ensure-registered-redirect-uri': showsAPage({ redirect_uri: 'https://app.example/back/other' }),
  async 'oidcc-ensure-post-request-succeeds'(flow) {
    const query = Object.fromEntries(new URLSearchParams(flow.path().split('?', 2)[1]));
    const browser = await flow.api.signedIn();
    const { location } = await flow.newcomer().post('/auth/authorize', query);
    expect((await browser.get(location)).status).to.be.oneOf([200, 302]);
  },
  async 'oidcc-server-client-secret-post'(flow) {
    const { code } = await flow.ask(await flow.api.signedIn());
    const fields = { client_id: 'server', client_secret: secret, code_verifier: undefined };
    expect((await flow.api.redeem(code ?? '', fields)).status).to.equal(200);
  },
  'oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported': failsWith(
    { request_uri: 'https://app.example/request.jwt' },
    'request_uri_not_supported',
  ),
  'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported': failsWith(
    { request: 'eyJhbGciOiJub25lIn0.e30.' },
    'request_not_supported',
  ),
  async 'oidcc-claims-essential'(flow) {
    const place = flow.type === 'id_token' ? 'id_token' : 'userinfo';
    const claims = JSON.stringify({ [place]: { name: { essential: true } } });
    const { accessToken, claims: inIdToken } = await flow.happy(await flow.api.signedIn(), { claims });
    const found = accessToken === '' ? inIdToken : (await userInfo(flow, { headers: bearer(accessToken) })).body;
    expect(found).to.include({ name: annsData.name }).and.not.have.property('given_name');
    if (accessToken !== '') expect(inIdToken).not.to.have.property('name');
  },
  'oidcc-ensure-request-object-with-redirect-uri': showsAPage({
    redirect_uri: 'https://app.example/back/other',
    request: 'eyJhbGciOiJub25lIn0.eyJyZWRpcmVjdF91cmkiOiJodHRwczovL2FwcC5leGFtcGxlL2JhY2sifQ.',
  }),
  async 'oidcc-refresh-token'(flow) {
    const { reply } = await flow.happy(await flow.api.signedIn());
    const refresh_token = reply === undefined ? '' : textOf(reply, 'refresh_token');
    const url = `${flow.api.url}/boxes/default/auth/token`;
    const refresh = { grant_type: 'refresh_token', refresh_token };
    expect((await sendForm(url, { ...refresh, client_id: 'own' })).body['error']).to.equal('invalid_grant');
    const own = { client_id: 'server', client_secret: secret };
    const again = await sendForm(url, { ...refresh, ...own });
    const { body } = await userInfo(flow, { headers: bearer(textOf(again, 'access_token')) });
    expect(body['sub']).to.equal(String(flow.api.user));
  },
  async 'oidcc-ensure-request-with-valid-pkce-succeeds'(flow) {
    // RFC 7636, Appendix B.
    const code_challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
    const { code = '' } = await flow.ask(await flow.api.signedIn(), { code_challenge, code_challenge_method: 'S256' });
    const code_verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
    expect((await flow.redeem(code, { code_verifier })).status).to.equal(200);
  },
};
