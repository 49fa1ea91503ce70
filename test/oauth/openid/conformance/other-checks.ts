import { expect } from 'chai';
import { SignJWT, generateKeyPair } from 'jose';
import type { Answer, Browser } from '../../../http/pages/browser.ts';
import { claimsOf, readReply, textOf } from '../../requests.ts';
import type { Fields } from '../../requests.ts';
import { answered, authorizePath, codeRequest, goodbye } from '../openid-api.ts';
import type { OpenIdApi } from '../openid-api.ts';
import type { LogoutModuleName } from './modules.ts';

/** OpenID Connect Discovery §3 and §4, of a box on a host of its own. */
export async function verifyMetadata(api: OpenIdApi): Promise<void> {
  const issuer = 'https://id.example.com';
  const auth = { authorization_code: { redirect_uri: 'https://app.example/back' } };
  const client = { kind: 'Client', id: 'app', grant_types: ['authorization_code'], auth } as const;
  await api.declare('secure', [{ kind: 'Box', id: 'secure', issuer }, client]);
  const url = `${api.url}/boxes/secure/.well-known/openid-configuration`;
  const { status, headers, body } = await readReply(await fetch(url));
  expect([status, headers.get('content-type')]).to.deep.equal([200, 'application/json; charset=utf-8']);
  expect(body).to.include({ issuer, claims_parameter_supported: true, request_parameter_supported: false });
  expect(body).to.include({ request_uri_parameter_supported: false });
  for (const [name, value] of Object.entries(body)) {
    if (name.endsWith('_endpoint') || name === 'jwks_uri')
      expect(value, name).to.match(/^https:\/\/id\.example\.com\//);
  }
  expect(body).to.include.all.keys('authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri');
  expect(body['response_types_supported']).to.include.members(['code', 'id_token', 'id_token token']);
  expect(body['response_modes_supported']).to.include.members(['query', 'fragment', 'form_post']);
  expect(body['grant_types_supported']).to.include.members(['authorization_code', 'implicit']);
  expect(body['subject_types_supported']).to.deep.equal(['public']);
  expect(body['id_token_signing_alg_values_supported']).to.include('RS256');
  expect(body['claims_supported']).to.include.members(['sub', 'name', 'email']);
  expect(body['scopes_supported']).to.include.members(['openid', 'profile', 'email', 'address', 'phone']);
}

/** Somebody who signed in through an app, and the id_token that it got. */
async function begin(api: OpenIdApi): Promise<{ readonly browser: Browser; readonly hint: string }> {
  const browser = await api.signedIn();
  const reply = await api.redeem(await browser.get(authorizePath(codeRequest)));
  return { browser, hint: textOf(reply, 'id_token') };
}

const logoutPath = (parameters: Fields): string => authorizePath(parameters).replace('/auth/authorize', '/auth/logout');

async function expectSignedIn(browser: Browser, expected: boolean): Promise<void> {
  const answer = await browser.get(authorizePath({ ...codeRequest, prompt: 'none' }));
  expect('code' in answered(answer)).to.equal(expected);
}

type Check = (api: OpenIdApi) => Promise<void>;

/** Returns the parameters of a logout request with this id_token. */
type Asked = (hint: string) => Fields | Promise<Fields>;

const leadsBack =
  (asked: Asked, address: string): Check =>
  async (api) => {
    const { browser, hint } = await begin(api);
    const { status, location } = await browser.get(logoutPath(await asked(hint)));
    expect([status, location]).to.deep.equal([303, address]);
    await expectSignedIn(browser, false);
  };

/** It shows an error, and leads nowhere. */
const leadsNowhere =
  (asked: Asked): Check =>
  async (api) => {
    const { browser, hint } = await begin(api);
    const { status, location } = await browser.get(logoutPath(await asked(hint)));
    expect([status, location]).to.deep.equal([400, '']);
    await expectSignedIn(browser, true);
  };

/** It says that the request of the app was wrong, asks the person, and leads nowhere. */
const asks =
  (asked: Asked): Check =>
  async (api) => {
    const { browser, hint } = await begin(api);
    const page = await browser.get(logoutPath(await asked(hint)));
    expect([page.status, page.location]).to.deep.equal([200, '']);
    expect(page.text).to.contain('The request of the app that sent you here is wrong').and.to.contain('was not called');
    expect(page.text).to.contain('Do you want to sign out').and.not.to.contain('post_logout_redirect_uri=');
    await expectSignedIn(browser, true);
  };

const signsOut =
  (asked: Asked, isAsked: boolean): Check =>
  async (api) => {
    const { browser, hint } = await begin(api);
    const path = logoutPath(await asked(hint));
    const page: Answer = isAsked ? await browser.submit(path, {}) : await browser.get(path);
    expect([page.status, page.location]).to.deep.equal([200, '']);
    expect(page.text).to.contain('You are signed out');
    await expectSignedIn(browser, false);
  };

const whole = (id_token_hint: string) => ({ id_token_hint, post_logout_redirect_uri: goodbye, state: 'bye' });

/** The checks of each module, named as the suite names them. */
export const LOGOUT_CHECKS: Readonly<Record<LogoutModuleName, Check>> = {
  async 'oidcc-rp-initiated-logout-discovery-endpoint-verification'(api) {
    const { body } = await api.get('/.well-known/openid-configuration');
    expect(body['end_session_endpoint']).to.be.a('string');
  },
  'oidcc-rp-initiated-logout': leadsBack(whole, `${goodbye}?state=bye`),
  'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri': asks((hint) => ({
    ...whole(hint),
    post_logout_redirect_uri: 'https://app.example/elsewhere',
  })),
  'oidcc-rp-initiated-logout-modified-id-token-hint': leadsNowhere((hint) => {
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    return whole(`${none}.${hint.split('.')[1] ?? ''}.`);
  }),
  'oidcc-rp-initiated-logout-no-id-token-hint': asks((hint) => ({ ...whole(hint), id_token_hint: undefined })),
  'oidcc-rp-initiated-logout-no-params': signsOut(() => ({}), true),
  'oidcc-rp-initiated-logout-no-post-logout-redirect-uri': signsOut(
    (hint) => ({ ...whole(hint), post_logout_redirect_uri: undefined }),
    false,
  ),
  'oidcc-rp-initiated-logout-no-state': leadsBack((hint) => ({ ...whole(hint), state: undefined }), goodbye),
  'oidcc-rp-initiated-logout-only-state': signsOut(() => ({ state: 'bye' }), true),
  'oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri': asks((hint) => ({
    ...whole(hint),
    post_logout_redirect_uri: `${goodbye}?foo=bar`,
  })),
  'oidcc-rp-initiated-logout-bad-id-token-hint': leadsNowhere(async (hint) => {
    const { privateKey } = await generateKeyPair('RS256');
    return whole(await new SignJWT(claimsOf(hint)).setProtectedHeader({ alg: 'RS256', typ: 'JWT' }).sign(privateKey));
  }),
};
