import { expect } from 'chai';
import { createHash, randomBytes } from 'node:crypto';
import { isObject } from '../../crds/path.ts';
import { refusals } from '../../api/schemas/refusals.ts';
import type { RefusalReason } from '../../api/schemas/refusals.ts';
import { startAdminBoxctl } from '../cli/boxctl.ts';
import type { Boxctl } from '../cli/boxctl.ts';
import { assertion, makeSigner, proof } from '../oauth/assertions.ts';
import type { Signer } from '../oauth/assertions.ts';
import { eventually } from '../support/eventually.ts';
import { addUser, issuerOf, newBrowser } from './pages/browser.ts';
import type { Browser } from './pages/browser.ts';
import { entries, startBoxApi, stringIn } from './resources/box-api.ts';
import type { BoxApi } from './resources/box-api.ts';

type Fields = Readonly<Record<string, string>>;

/** A request that must be refused: the ID in the answer, and all of the answer. */
interface Refused {
  readonly id: string;
  readonly text: string;
}

const password = 'a long enough passphrase';
const verifier = randomBytes(32).toString('base64url');
const challenge = createHash('sha256').update(verifier).digest('base64url');
const back = 'https://app.example/back';
const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };

describe('a refused request', () => {
  let api: BoxApi;
  let boxctl: Boxctl;
  let browser: Browser;
  let signer: Signer;

  before(async () => {
    api = await startBoxApi();
    boxctl = await startAdminBoxctl(api.url);
    signer = await makeSigner('ES256');
    const auth = { authorization_code: { redirect_uri: back, refresh_token: true, audience: ['https://api.example'] } };
    const code = { kind: 'Client', grant_types: ['authorization_code'], auth, first_party: true } as const;
    await api.declare('default', [
      { kind: 'Box', id: 'box', tokens: { reject_unknown_scope: true } },
      { ...code, id: 'web', secret: 'web-secret' },
      { ...code, id: 'other-web', secret: 'other-secret' },
      { ...code, id: 'spa', allowed_origins: ['https://spa.example'] },
      { kind: 'Client', id: 'retired', grant_types: ['client_credentials'], secret: 'old-secret', active: false },
      { kind: 'Client', id: 'machine', grant_types: ['client_credentials'], secret: 'machine-secret' },
      { kind: 'Client', id: 'signing', grant_types: ['client_credentials'], jwks: { keys: [signer.publicJwk] } },
      { kind: 'Client', id: 'reader', grant_types: ['client_credentials'], secret: 'reader-secret' },
      {
        kind: 'AccessPolicy',
        id: 'readers',
        engine: 'cel',
        expression: 'request_method == "get"',
        link: [{ resourceType: 'Client', id: 'reader' }],
      },
    ]);
    await addUser(api, 'ann@shop.example', password);
    browser = newBrowser(api);
    await browser.submit('/auth/signin', { email: 'ann@shop.example', password });
  });
  after(async () => {
    await boxctl.remove();
    await api.stop();
  });

  async function refused(answer: Response | Promise<Response>): Promise<Refused> {
    const response = await answer;
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
    return { id: response.headers.get('x-request-id') ?? '', text: `${headers}\n${await response.text()}` };
  }
  const get = (path: string, headers: Fields = {}, method = 'GET') =>
    refused(fetch(api.base + path, { method, headers, redirect: 'manual' }));
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
  const post = (path: string, fields: Fields) =>
    refused(fetch(api.base + path, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' }));
  const token = (fields: Fields) => post('/auth/token', fields);
  const byClient = (client_id: string, client_secret: string, more: Fields = {}) =>
    token({ grant_type: 'client_credentials', client_id, client_secret, ...more });
  const authorize = (fields: Fields) => get(`/auth/authorize?${String(new URLSearchParams({ ...asked, ...fields }))}`);
  const asked = { response_type: 'code', client_id: 'web', redirect_uri: back, ...pkce };
  const redeemed = { grant_type: 'authorization_code', client_id: 'web', client_secret: 'web-secret' };
  const redeem = (code: string, fields: Fields = {}) =>
    token({ ...redeemed, code, redirect_uri: back, code_verifier: verifier, ...fields });
  const signIn = async (fields: Fields): Promise<Refused> => {
    const answer = await newBrowser(api).submit('/auth/signin', fields);
    return { id: answer.headers.get('x-request-id') ?? '', text: answer.text };
  };
  const signed = async (by: Signer, claims: Readonly<Record<string, unknown>> = {}) =>
    token({
      grant_type: 'client_credentials',
      ...proof(await assertion(by, 'signing', issuerOf('default'), { claims })),
    });

  /** A new code of the signed-in user. */
  async function newCode(fields: Fields = {}): Promise<string> {
    const { location } = await browser.get(`/auth/authorize?${String(new URLSearchParams({ ...asked, ...fields }))}`);
    return new URL(location).searchParams.get('code') ?? '';
  }

  /** The tokens of a new code. */
  async function newTokens(fields: Fields = {}): Promise<Readonly<Record<string, unknown>>> {
    const code = { ...redeemed, code: await newCode(fields), redirect_uri: back, code_verifier: verifier };
    const response = await fetch(`${api.base}/auth/token`, { method: 'POST', body: new URLSearchParams(code) });
    const body: unknown = await response.json();
    return isObject(body) ? body : {};
  }
  const ofClient = async (id: string) => stringIn(await api.requestToken(id, `${id}-secret`), 'access_token');

  /** Each request with its reason, and a part of what is recorded as sent. */
  const rows: readonly (readonly [RefusalReason, string, () => Promise<Refused>])[] = [
    ['unknown_client', '', () => byClient('nobody', 'x')],
    ['unknown_client', 'client_id nobody', () => authorize({ client_id: 'nobody' })],
    ['inactive_client', '', () => byClient('retired', 'old-secret')],
    ['no_secret', '', () => token({ grant_type: 'client_credentials', client_id: 'machine' })],
    ['wrong_secret', '', () => byClient('machine', 'canary-secret')],
    ['malformed_credentials', 'No client is named', () => token({ grant_type: 'client_credentials' })],
    ['wrong_assertion', '', async () => signed(await makeSigner('ES256'))],
    ['wrong_assertion', 'The aud of the assertion', () => signed(signer, { aud: 'https://elsewhere.example' })],
    ['assertion_time', 'has expired', () => signed(signer, { exp: 1_700_000_000 })],
    ['assertion_time', 'in the future', () => signed(signer, { nbf: 4_000_000_000, exp: 4_000_000_100 })],
    ['redirect_uri_not_listed', `redirect_uri ${back}/`, () => authorize({ redirect_uri: `${back}/` })],
    [
      'wrong_code_challenge',
      'is missing',
      () => authorize({ client_id: 'spa', code_challenge: '', code_challenge_method: '' }),
    ],
    ['wrong_code_challenge', 'must be S256', () => authorize({ code_challenge_method: 'plain' })],
    ['grant_not_listed', 'implicit', () => authorize({ response_type: 'token' })],
    ['grant_not_listed', 'client_credentials', () => byClient('web', 'web-secret')],
    ['grant_not_supported', 'not supported', () => byClient('machine', 'machine-secret', { grant_type: 'magic' })],
    ['scope_not_allowed', 'scope has orders', () => byClient('machine', 'machine-secret', { scope: 'orders' })],
    ['audience_not_allowed', 'audience https://api.example/', () => authorize({ audience: 'https://api.example/' })],
    ['malformed_request', 'code is missing', () => redeem('')],
    ['unknown_code', '', () => redeem('bgc_nonsense')],
    ['wrong_code_verifier', '', async () => redeem(await newCode(), { code_verifier: challenge })],
    ['redirect_uri_differs', '', async () => redeem(await newCode(), { redirect_uri: `${back}/` })],
    [
      'code_of_another_client',
      '',
      async () => redeem(await newCode(), { client_id: 'other-web', client_secret: 'other-secret' }),
    ],
    [
      'used_code',
      '',
      async () => {
        const code = await newCode();
        await redeem(code);
        return redeem(code);
      },
    ],
    [
      'unknown_refresh_token',
      '',
      () => token({ ...redeemed, grant_type: 'refresh_token', refresh_token: 'bgr_nonsense' }),
    ],
    [
      'token_of_another_client',
      '',
      async () => {
        const { access_token } = await newTokens();
        return post('/auth/revoke', {
          client_id: 'machine',
          client_secret: 'machine-secret',
          token: String(access_token),
        });
      },
    ],
    ['unknown_token', '', () => get('/auth/userinfo', bearer('bgt_canary-token'))],
    ['unknown_token', '', () => get('/users', bearer('bgt_canary-token'))],
    ['token_without_openid', '', async () => get('/auth/userinfo', bearer(await ofClient('machine')))],
    [
      'token_for_another_audience',
      '',
      async () => {
        const { access_token } = await newTokens({ audience: 'https://api.example' });
        return get('/auth/check?app=app.example', {
          ...bearer(String(access_token)),
          'X-Original-Method': 'GET',
          'X-Original-URI': '/',
        });
      },
    ],
    ['no_policy', 'GET /users', async () => get('/users', bearer(await ofClient('machine')))],
    [
      'no_policy_grants',
      'DELETE /Client/{id}; policies: readers',
      async () => get('/Client/web', bearer(await ofClient('reader')), 'DELETE'),
    ],
    [
      'token_without_boxgate',
      'GET /users',
      async () => get('/users', bearer(String((await newTokens({ scope: 'openid' }))['access_token']))),
    ],
    ['unknown_user', '', () => signIn({ email: 'canary@shop.example', password: 'canary-password' })],
    ['wrong_password', '', () => signIn({ email: 'ann@shop.example', password: 'canary-password' })],
    [
      'origin_not_listed',
      'https://elsewhere.example',
      () => get('/auth/userinfo', { Origin: 'https://elsewhere.example' }),
    ],
  ];

  it('has its reason in the log, in the audit trail and in boxctl, and tells its caller nothing of it', async () => {
    const sent = [];
    for (const [reason, about, send] of rows) sent.push({ reason, about, ...(await send()) });
    for (const { reason, about, id, text } of sent) {
      const what = `${reason} ${about}: ${text}`;
      const { wrong, fix } = refusals[reason];
      for (const secret of [reason, wrong, fix]) expect(text, what).not.to.contain(secret);

      const line = api.logLines.find((one) => one.includes(`"request_id":"${id}"`) && one.includes('"route"'));
      expect(line, what).to.contain(`"reason":"${reason}"`);
      let records: readonly unknown[] = [];
      await eventually(`${reason} is recorded`, async () => {
        records = entries(await api.call('GET', `/AuditEvent?result=refused&reason=${reason}&request_id=${id}`));
        return records.length > 0;
      });
      expect(records, what).to.have.length(1);
      const [record] = records;
      expect(record, what).to.deep.include({ reason, request_id: id, event: refusals[reason].event });
      expect(isObject(record) ? (record['sent'] ?? '') : '', what).to.contain(about);
      const said = await boxctl.run(['why', id]);
      expect(said, what).to.include({ code: 0, messages: '' });
      expect(said.output, what)
        .to.match(/^when .*\nwho .*127\.0\.0\.1/)
        .and.to.contain(`wrong  ${wrong} (${reason})\nto do  ${fix}\n`);
      if (about !== '') expect(said.output, what).to.contain(about);
    }
    expect(api.logLines.join('\n')).not.to.contain('canary');
    const list = await boxctl.run('audit --result refused --limit 20'.split(' '));
    expect(list).to.include({ code: 0, messages: '' });
    expect(list.output.split('\n')).to.have.length.above(20);
  });

  it('is none if a page of the box itself sends it, such as the admin UI', async () => {
    const { origin } = new URL(issuerOf('default'));
    const { id } = await get('/users', { ...bearer(await ofClient('reader')), Origin: origin });
    let line = '';
    await eventually('it is logged', async () => {
      line = api.logLines.find((one) => one.includes(`"request_id":"${id}"`) && one.includes('"route"')) ?? '';
      return line !== '';
    });
    expect(line).to.contain('"status":200').and.not.to.contain('"reason"');
  });

  it('is unknown to boxctl if there is none of this ID', async () => {
    const said = await boxctl.run(['why', 'nothing-1']);
    expect(said).to.include({ code: 1, output: '' });
    expect(said.messages).to.contain('no refusal has the request ID nothing-1');
  });
});
