import { expect } from 'chai';
import { sendForm, textOf } from '../../oauth/requests.ts';
import type { Reply } from '../../oauth/requests.ts';
import { nextMillisecond } from '../../support/eventually.ts';
import { addUser, newBrowser } from '../pages/browser.ts';
import type { Browser } from '../pages/browser.ts';
import { entries, startBoxApi } from './box-api.ts';
import type { BoxApi } from './box-api.ts';

const password = 'a long enough passphrase';
const back = 'https://app.example/back';
const auth = {
  implicit: { redirect_uri: back },
  authorization_code: { redirect_uri: back, refresh_token: true, secret_required: false },
};
const grant_types = ['implicit', 'authorization_code'];

describe('grants over REST: what people let clients have', () => {
  let api: BoxApi;
  let nth = 0;

  before(async () => {
    api = await startBoxApi();
    await api.declare('default', [
      ...['shop', 'mail', 'again'].map((id) => {
        return { kind: 'Client', id, grant_types, auth, scope: ['read', 'openid', 'boxgate'] } as const;
      }),
      {
        kind: 'AccessPolicy',
        id: 'own-grants',
        engine: 'cel',
        expression: 'uri.startsWith("/Grant/" + string(int(user.id)) + ".")',
        subjects: 'authenticated',
      },
    ]);
  });
  after(() => api.stop());

  interface Signed {
    readonly id: number;
    readonly browser: Browser;
  }

  async function person(): Promise<Signed> {
    const email = `p${String((nth += 1))}@shop.example`;
    const id = await addUser(api, email, password);
    const browser = newBrowser(api);
    await browser.submit('/auth/signin', { email, password });
    return { id, browser };
  }

  /** Allows a client's request. Returns the parameters of the address that the browser leaves with. */
  async function allow(
    { browser }: Signed,
    client_id: string,
    more: Record<string, string> = {},
  ): Promise<URLSearchParams> {
    const wish = { response_type: 'token', client_id, scope: 'read boxgate', ...more };
    let { location } = await browser.get(`/auth/authorize?${new URLSearchParams(wish).toString()}`);
    if (location.includes('/auth/consent')) location = (await browser.submit(location, { answer: 'allow' })).location;
    expect(location.startsWith(back), location).to.equal(true);
    return new URLSearchParams(location.slice(back.length + 1));
  }

  const challenge = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' };
  const code_verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
  const redeem = (client_id: string, code: string): Promise<Reply> =>
    sendForm(`${api.base}/auth/token`, { grant_type: 'authorization_code', client_id, code, code_verifier });
  const statusWith = async (token: string, path: string): Promise<number> =>
    (await api.call('GET', path, { token })).status;

  it('A-15 are read, with who lets whom have what', async () => {
    const ann = await person();
    await allow(ann, 'shop');
    const id = `${String(ann.id)}.shop`;
    const { status, body, headers } = await api.call('GET', `/Grant/${id}`);
    expect(status).to.equal(200);
    expect(headers.get('etag')).to.match(/^"/);
    expect(body).to.deep.include({
      resourceType: 'Grant',
      id,
      user: { resourceType: 'User', id: String(ann.id) },
      client: { resourceType: 'Client', id: 'shop' },
      scope: 'read boxgate',
    });
    const tag = { 'If-None-Match': headers.get('etag') ?? '' };
    expect((await api.call('GET', `/Grant/${id}`, { headers: tag })).status).to.equal(304);
    await allow(ann, 'shop', { scope: 'openid' });
    expect((await api.call('GET', `/Grant/${id}?_elements=scope`)).body).to.deep.equal({
      resourceType: 'Grant',
      id,
      scope: 'read boxgate openid',
    });
  });

  it('are searched by user, client and time, page by page', async () => {
    const [ann, bob] = [await person(), await person()];
    for (const [who, client] of [
      [ann, 'shop'],
      [ann, 'mail'],
      [bob, 'mail'],
    ] as const) {
      await allow(who, client);
      await nextMillisecond();
    }
    const ids = async (query: string): Promise<unknown[]> =>
      entries(await api.call('GET', `/Grant?${query}`)).map((one) => one['id']);
    const [anns, bobs] = [String(ann.id), String(bob.id)];
    expect(await ids(`user=${anns}`)).to.deep.equal([`${anns}.mail`, `${anns}.shop`]);
    expect(await ids(`user=User/${bobs}&client=Client/mail`)).to.deep.equal([`${bobs}.mail`]);
    expect(await ids(`client=mail&_sort=-created_at&_count=1`)).to.deep.equal([`${bobs}.mail`]);
    expect(await ids(`user=${anns}&_sort=created_at`)).to.deep.equal([`${anns}.shop`, `${anns}.mail`]);
    expect(await ids('created_at=lt2020-01-01')).to.deep.equal([]);
    const { body } = await api.call('GET', `/Grant?user=${anns}&_count=1`);
    const next = /"relation":"next","url":"[^"]*\?([^"]*)"/.exec(JSON.stringify(body))?.[1] ?? '';
    expect(await ids(next)).to.deep.equal([`${anns}.shop`]);
    expect((await api.call('GET', '/Grant?person=1')).status).to.equal(400);
    expect((await api.call('GET', '/Grant?user=ann')).status).to.equal(400);
  });

  it('end with their removal all that the client has of the person, at once, and are asked for again', async () => {
    const ann = await person();
    const implicit = (await allow(ann, 'shop')).get('access_token') ?? '';
    const used = await redeem(
      'shop',
      (await allow(ann, 'shop', { response_type: 'code', ...challenge })).get('code') ?? '',
    );
    const late = (await allow(ann, 'shop', { response_type: 'code', ...challenge })).get('code') ?? '';
    const other = (await allow(ann, 'mail')).get('access_token') ?? '';
    const id = `${String(ann.id)}.shop`;
    const tokens = [implicit, textOf(used, 'access_token')];
    for (const token of tokens) expect(await statusWith(token, `/Grant/${id}`)).to.equal(200);

    const removed = await api.call('DELETE', `/Grant/${id}`);
    expect([removed.status, Reflect.get(Object(removed.body), 'id')]).to.deep.equal([200, id]);
    for (const token of tokens) expect(await statusWith(token, `/Grant/${id}`)).to.equal(401);
    expect(await statusWith(other, `/Grant/${String(ann.id)}.mail`)).to.equal(200);
    expect((await redeem('shop', late)).status).to.equal(400);
    const refresh_token = textOf(used, 'refresh_token');
    const refresh = { grant_type: 'refresh_token', client_id: 'shop', refresh_token };
    expect((await sendForm(`${api.base}/auth/token`, refresh)).body['error']).to.equal('invalid_grant');
    const asked = await ann.browser.get('/auth/authorize?response_type=token&client_id=shop&scope=read');
    expect(asked.location).to.contain('/auth/consent?id=');
    const { status } = await api.call('DELETE', `/Grant/${id}`);
    expect([status, (await api.call('GET', `/Grant/${id}`)).status]).to.deep.equal([204, 404]);
  });

  it('may be seen and removed by their own person, where a policy says so', async () => {
    const [ann, bob] = [await person(), await person()];
    const token = (await allow(ann, 'shop')).get('access_token') ?? '';
    await allow(bob, 'shop');
    expect(await statusWith(token, `/Grant/${String(ann.id)}.shop`)).to.equal(200);
    expect(await statusWith(token, `/Grant/${String(bob.id)}.shop`)).to.equal(403);
    expect(await statusWith(token, '/Grant')).to.equal(403);
    const removed = await api.call('DELETE', `/Grant/${String(ann.id)}.shop`, { token });
    expect([removed.status, await statusWith(token, `/Grant/${String(ann.id)}.shop`)]).to.deep.equal([200, 401]);
  });

  it('C-10 are not those of a client that was created again', async () => {
    const ann = await person();
    await allow(ann, 'again');
    await api.remove('default', [{ kind: 'Client', id: 'again' }]);
    expect((await api.call('GET', `/Grant/${String(ann.id)}.again`)).status).to.equal(404);
    await api.declare('default', [{ kind: 'Client', id: 'again', grant_types, auth, scope: ['read'] }]);
    expect((await api.call('GET', `/Grant/${String(ann.id)}.again`)).status).to.equal(404);
    expect(entries(await api.call('GET', '/Grant?client=again'))).to.deep.equal([]);
  });

  it('are made and changed by nobody but their person, in a browser', async () => {
    for (const [method, path, allowed] of [
      ['POST', '/Grant', 'GET, HEAD'],
      ['PUT', '/Grant/1.shop', 'GET, DELETE, HEAD'],
      ['PATCH', '/Grant/1.shop', 'GET, DELETE, HEAD'],
    ] as const) {
      const { status, headers } = await api.call(method, path, { body: {} });
      expect([status, headers.get('allow')]).to.deep.equal([405, allowed]);
    }
  });

  for (const id of ['1', 'x.shop', '0.shop', '1.', '1.-', `1.${'x'.repeat(129)}`, '9'.repeat(20), '1.%00', '1.%27']) {
    it(`have no id ${id.slice(0, 20)}`, async () => {
      expect((await api.call('GET', `/Grant/${id}`)).status).to.be.oneOf([404, 400]);
    });
  }
});
