import { expect } from 'chai';
import { addUser, newBrowser } from '../../../http/pages/browser.ts';
import { ownerQuery } from '../../../support/owner-query.ts';
import { startApi } from '../../../support/api.ts';
import type { TestApi } from '../../../support/api.ts';
import { basic, sendForm, textOf } from '../../requests.ts';
import type { Fields, Reply } from '../../requests.ts';

const ann = { username: 'ann@shop.example', password: 'a long enough passphrase' };
const secret = 'of the old app';

describe('the password grant (RFC 6749 section 4.3)', () => {
  let api: TestApi;
  let user = 0;

  before(async () => {
    api = await startApi();
    await api.declare('default', [
      { kind: 'Box', id: 'default', tokens: { default_access_token_expiration: 90 } },
      { kind: 'Client', id: 'old', grant_types: ['password'], secret, scope: ['read'] },
      { kind: 'Client', id: 'desk', grant_types: ['password'] },
      { kind: 'Client', id: 'new', grant_types: ['client_credentials'], secret },
      {
        kind: 'AccessPolicy',
        id: 'all',
        engine: 'allow',
        link: ['old', 'desk'].map((id) => ({ resourceType: 'Client', id })),
      },
    ]);
    await api.declare('few', [
      { kind: 'Box', id: 'few', tokens: { max_sessions_per_client: 1 } },
      { kind: 'Client', id: 'desk', grant_types: ['password'] },
    ]);
    user = await addUser(api, ann.username, ann.password);
  });
  after(() => api.stop());

  function ask(fields: Fields, authorization?: string, box = 'default'): Promise<Reply> {
    return sendForm(`${api.url}/boxes/${box}/auth/token`, { grant_type: 'password', ...fields }, authorization);
  }

  it('gives a token of the person, and no refresh token', async () => {
    const reply = await ask({ ...ann, scope: 'read' }, basic('old', secret));
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.body).to.have.all.keys('token_type', 'access_token', 'expires_in', 'scope');
    expect(reply.body).to.include({ token_type: 'Bearer', expires_in: 90 });
    const token = textOf(reply, 'access_token');
    const told = await sendForm(`${api.url}/boxes/default/auth/introspect`, { token }, basic('new', secret));
    expect(told.body).to.include({ active: true, client_id: 'old', sub: String(user), scope: 'read' });
    const sessions = await fetch(`${api.url}/boxes/default/Session?type=password&user=${String(user)}`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(await sessions.json()).to.have.property('total', 1);
  });

  it('is there for a client without a secret, which names itself', async () => {
    expect((await ask({ ...ann, client_id: 'desk' })).status).to.equal(200);
  });

  const refusals: readonly [what: string, fields: Fields, client: string | undefined, error: string][] = [
    ['a wrong password', { ...ann, password: 'wrong' }, 'old', '400 invalid_grant'],
    ['nobody', { ...ann, username: 'bob@shop.example' }, 'old', '400 invalid_grant'],
    ['what is no email', { ...ann, username: 'ann' }, 'old', '400 invalid_grant'],
    ['no username', { password: 'x' }, 'old', '400 invalid_request'],
    ['no password', { username: ann.username }, 'old', '400 invalid_request'],
    ['another scope', { ...ann, scope: 'openid' }, 'old', '400 invalid_scope'],
    ['T-05 a client that does not list it', ann, 'new', '400 unauthorized_client'],
    ['a confidential client that only names itself', { ...ann, client_id: 'old' }, undefined, '401 invalid_client'],
    ['a client that nobody knows', { ...ann, client_id: 'nobody' }, undefined, '401 invalid_client'],
  ];
  for (const [what, fields, client, expected] of refusals) {
    it(`refuses ${what}: ${expected}`, async () => {
      const { status, body } = await ask(fields, client && basic(client, secret));
      expect(`${String(status)} ${String(body['error'])}`).to.equal(expected);
    });
  }

  it('refuses an inactive person like a wrong password, and ends with a new one', async () => {
    const email = 'carl@shop.example';
    await addUser(api, email, ann.password);
    const token = textOf(await ask({ ...ann, username: email, client_id: 'desk' }), 'access_token');
    const alive = async (): Promise<number> =>
      (await fetch(`${api.url}/boxes/default/Session`, { headers: { Authorization: `Bearer ${token}` } })).status;
    expect(await alive()).to.equal(200);
    await ownerQuery(api, `UPDATE boxgate.user SET status = 'inactive' WHERE email = $1`, [email]);
    const wrong = await ask({ ...ann, client_id: 'desk', password: 'wrong' });
    const inactive = await ask({ ...ann, client_id: 'desk', username: email });
    expect(inactive.body).to.deep.equal(wrong.body);
    expect(await alive()).to.equal(401);
  });

  it('takes nothing from the address', async () => {
    for (const name of ['username', 'password']) {
      const url = `${api.url}/boxes/default/auth/token?${name}=x`;
      const { status, text } = await sendForm(url, { grant_type: 'password', ...ann, client_id: 'desk' });
      expect([status, text.includes(`${name} belongs in the body`)]).to.deep.equal([400, true]);
    }
  });

  it('keeps to the limit of sessions', async () => {
    await addUser(api, ann.username, ann.password, 'few');
    expect((await ask({ ...ann, client_id: 'desk' }, undefined, 'few')).status).to.equal(200);
    expect((await ask({ ...ann, client_id: 'desk' }, undefined, 'few')).status).to.equal(429);
  });

  it('X-16 counts wrong passwords together with those at the sign-in page', async () => {
    const email = 'dora@shop.example';
    await addUser(api, email, ann.password);
    const browser = newBrowser(api);
    for (let nth = 0; nth < 10; nth += 1) {
      expect((await browser.submit('/auth/signin', { email, password: 'wrong passphrase' })).status).to.equal(200);
      expect((await ask({ username: email, password: 'wrong', client_id: 'desk' })).status).to.equal(400);
    }
    const held = await ask({ ...ann, username: email, client_id: 'desk' });
    expect([held.status, held.body['error']]).to.deep.equal([429, 'slow_down']);
    expect(Number(held.headers.get('retry-after'))).to.be.within(1, 60);
    expect((await browser.submit('/auth/signin', { email, password: ann.password })).status).to.equal(429);
  });
});
