import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { hiddenFields } from '../../http/pages/browser.ts';
import type { Answer, Browser } from '../../http/pages/browser.ts';
import { basic, sendForm } from '../requests.ts';
import type { Fields } from '../requests.ts';
import {
  ann,
  annsData,
  answered,
  authorizePath,
  back,
  codeRequest,
  issuer,
  secret,
  startOpenIdApi,
} from './openid-api.ts';
import type { OpenIdApi } from './openid-api.ts';

const implicit = { client_id: 'own', redirect_uri: back, scope: 'openid', nonce: 'n', state: 's' };
const idToken = { ...implicit, response_type: 'id_token' };
const both = { ...implicit, response_type: 'id_token token' };

describe('response types of OpenID Connect', () => {
  let api: OpenIdApi;
  let browser: Browser;

  before(async () => {
    api = await startOpenIdApi();
    browser = await api.signedIn();
  });
  after(() => api.stop());

  const ask = (parameters: Fields, by = browser): Promise<Answer> => by.get(authorizePath(parameters));

  it('id_token brings one in the fragment, with the claims of the scope, and no access token', async () => {
    const answer = await ask({ ...idToken, scope: 'openid email profile' });
    expect([answer.status, answer.location.startsWith(`${back}#id_token=`)]).to.deep.equal([302, true]);
    expect(Object.keys(answered(answer))).to.deep.equal(['id_token', 'state', 'iss']);
    const { payload } = await api.verify(answered(answer)['id_token'] ?? '');
    expect(payload).to.include({ iss: issuer, sub: String(api.user), aud: 'own', azp: 'own', nonce: 'n' });
    expect(payload).to.include({ email: ann.email, email_verified: false, name: annsData.name });
    expect(payload).to.have.any.keys('auth_time').and.not.have.any.keys('at_hash', 'shoe_size', 'address');
    expect(payload['auth_time']).to.be.a('number');
  });

  for (const response_type of ['id_token token', 'token id_token']) {
    it(`${response_type} brings both, bound to each other; the claims are at userinfo`, async () => {
      const parameters = answered(await ask({ ...both, response_type, scope: 'openid email' }));
      const names = ['access_token', 'state', 'token_type', 'expires_in', 'id_token', 'iss'];
      expect(Object.keys(parameters)).to.deep.equal(names);
      const { payload } = await api.verify(parameters['id_token'] ?? '');
      const whole = createHash('sha256')
        .update(parameters['access_token'] ?? '')
        .digest();
      expect(payload['at_hash']).to.equal(whole.subarray(0, 16).toString('base64url'));
      expect(payload).not.to.have.property('email');
      const headers = { Authorization: `Bearer ${parameters['access_token'] ?? ''}` };
      expect((await api.get('/auth/userinfo', headers)).body).to.include({ sub: String(api.user), email: ann.email });
    });
  }

  it('token stays as it is, whatever the scope', async () => {
    const parameters = answered(await ask({ ...implicit, response_type: 'token' }));
    expect(Object.keys(parameters)).to.deep.equal(['access_token', 'state', 'token_type', 'expires_in', 'iss']);
  });

  it('token is valid for an hour unless its client or its box says otherwise', async () => {
    // E-24: it was valid for 30 days, and no answer said so.
    const client = { kind: 'Client', grant_types: ['implicit'], first_party: true } as const;
    const auth = { implicit: { redirect_uri: back } };
    await api.declare('default', [
      { ...client, id: 'short', auth: { implicit: { ...auth.implicit, access_token_expiration: 60 } } },
      { ...client, id: 'usual', auth },
    ]);
    const lifetimes = async (): Promise<unknown[]> => {
      const asked = ['short', 'usual'].map((client_id) => ask({ ...implicit, client_id, response_type: 'token' }));
      const answers = await Promise.all(asked);
      return answers.map((answer) => answered(answer)['expires_in']);
    };
    expect(await lifetimes()).to.deep.equal(['60', '3600']);
    const token = answered(await ask({ ...implicit, response_type: 'token' }))['access_token'] ?? '';
    const url = `${api.url}/boxes/default/auth/introspect`;
    const { body } = await sendForm(url, { token }, basic('machine', secret));
    expect(Number(body['exp']) - Number(body['iat'])).to.equal(3600);
    for (const [tokens, expected] of [
      [{ default_access_token_expiration: 7200 }, ['60', '7200']],
      [{ default_lifetime: 600 }, ['60', '600']],
      [{ default_lifetime: 7200 }, ['60', '3600']],
    ] as const) {
      await api.declare('default', [{ kind: 'Box', id: 'box', tokens }]);
      expect(await lifetimes(), JSON.stringify(tokens)).to.deep.equal(expected);
    }
    await api.declare('default', [{ kind: 'Box', id: 'box' }]);
  });

  const refusals: readonly [error: string, parameters: Fields][] = [
    ['invalid_request', { ...idToken, nonce: undefined }],
    ['invalid_request', { ...both, nonce: '' }],
    ['invalid_scope', { ...idToken, scope: undefined }],
    ['invalid_scope', { ...both, scope: 'email' }],
    ['invalid_request', { ...idToken, response_mode: 'query' }],
    ['invalid_request', { ...both, response_mode: 'jwt' }],
    ['unauthorized_client', { ...idToken, client_id: 'code-only' }],
    ['unsupported_response_type', { ...both, response_type: 'code id_token' }],
    ['unsupported_response_type', { ...both, response_type: 'id_token id_token' }],
    ['invalid_request', { ...idToken, id_token_hint: 'ey.no.jwt' }],
  ];
  for (const [error, parameters] of refusals) {
    it(`A-04 are refused with ${error}: ${JSON.stringify(parameters)}`, async () => {
      const answer = await ask(parameters);
      expect(answer.status).to.equal(302);
      expect(answered(answer)).to.include({ error, state: 's', iss: issuer });
    });
  }

  describe('id_token_hint', () => {
    const hintOf = async (client_id: string): Promise<string> =>
      answered(await ask({ ...idToken, client_id }))['id_token'] ?? '';

    it('of who is signed in is answered, without a page too', async () => {
      const id_token_hint = await hintOf('own');
      expect(answered(await ask({ ...idToken, id_token_hint, prompt: 'none' }))).to.have.property('id_token');
    });

    it('of somebody else is told to the client', async () => {
      const other = await api.signedIn(api.eve);
      const id_token_hint = answered(await ask(idToken, other))['id_token'] ?? '';
      for (const prompt of ['none', undefined]) {
        expect(answered(await ask({ ...idToken, id_token_hint, prompt }))['error']).to.equal('login_required');
      }
      const asked = await ask({ ...idToken, id_token_hint, prompt: 'login' });
      expect(asked.location).to.contain('/auth/signin?');
      const signedIn = await other.submit(asked.location, ann);
      expect(answered(await other.get(signedIn.location))['error']).to.equal('login_required');
    });

    it('of another client, of another box or changed is refused', async () => {
      const own = await hintOf('own');
      const [head = '', claims = '', signature = ''] = own.split('.');
      const forged = Buffer.from(
        Buffer.from(claims, 'base64url')
          .toString()
          .replace(/"sub":"\d+"/, '"sub":"9"'),
      );
      const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
      for (const id_token_hint of [
        await hintOf('es256'),
        `${head}.${forged.toString('base64url')}.${signature}`,
        `${none}.${claims}.`,
        'x'.repeat(5000),
      ]) {
        expect(answered(await ask({ ...idToken, id_token_hint }))['error']).to.equal('invalid_request');
      }
    });
  });

  describe('response_mode form_post', () => {
    const fieldsOf = ({ text }: Answer): Record<string, string> => hiddenFields(text);

    it('brings the answer in a form that sends itself, and by a button where no script runs', async () => {
      const state = 'x&"<b>\'`+ ü';
      const answer = await ask({ ...codeRequest, state, response_mode: 'form_post' });
      expect([answer.status, answer.location]).to.deep.equal([200, '']);
      expect(answer.text)
        .to.contain(`<form method="post" action="${back}">`)
        .and.to.contain('<button>Continue</button>');
      const fields = fieldsOf(answer);
      expect(Object.keys(fields)).to.deep.equal(['code', 'state', 'iss']);
      expect(fields).to.include({ state, iss: issuer });
      const [, script = ''] = /<script>([^<]*)<\/script>/.exec(answer.text) ?? [];
      const policy = answer.headers.get('content-security-policy');
      expect(policy).to.contain(`script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`);
      expect(policy).to.contain("default-src 'none'").and.to.contain("frame-ancestors 'none'");
      expect(answer.headers.get('cache-control')).to.equal('no-store');
      expect((await api.redeem(fields['code'] ?? '')).status).to.equal(200);
    });

    it('brings tokens and errors too', async () => {
      const mode = { response_mode: 'form_post' };
      expect(Object.keys(fieldsOf(await ask({ ...both, ...mode })))).to.include.members(['access_token', 'id_token']);
      const refused = await ask({ ...codeRequest, ...mode, scope: 'openid  email' });
      expect(fieldsOf(refused)).to.include({ error: 'invalid_scope' });
    });

    it('is no way to an app that has no address of the web', async () => {
      const app = { ...codeRequest, client_id: 'device', redirect_uri: 'com.example.app:/back' };
      expect(answered(await ask({ ...app, response_mode: 'form_post' }))['error']).to.equal('invalid_request');
    });

    it('fragment brings a code there, and a consent answers in each mode', async () => {
      const answer = await ask({ ...codeRequest, response_mode: 'fragment' });
      expect(answer.location).to.match(/^https:\/\/app\.example\/back#code=bgc_/);
      const asked = await ask({ ...codeRequest, client_id: 'foreign', response_mode: 'form_post' });
      const allowed = await browser.submit(asked.location, { answer: 'allow' });
      expect(Object.keys(fieldsOf(allowed))).to.deep.equal(['code', 'iss']);
    });
  });
});
