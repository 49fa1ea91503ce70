import { expect } from 'chai';
import { isObject } from '../../../crds/path.ts';
import { member } from '../../support/member.ts';
import { meanwhile } from '../../support/meanwhile.ts';
import { ownerQuery } from '../../support/owner-query.ts';
import { userTokens } from '../../support/user-token.ts';
import { addUser } from '../pages/browser.ts';
import { storeGrant } from '../route-requests.ts';
import { startBoxApi } from './box-api.ts';
import type { BoxApi, Reply } from './box-api.ts';

const password = 'a long enough passphrase';

describe('the own account over REST', () => {
  let api: BoxApi;
  let nth = 0;

  before(async () => {
    api = await startBoxApi();
    const auth = { authorization_code: { redirect_uri: 'https://app.example/back', refresh_token: true } };
    await api.declare('default', [
      ...['phone', 'watch'].map((id) => {
        return { kind: 'Client', id, grant_types: ['authorization_code'], auth } as const;
      }),
      // The widest right that a policy can give.
      { kind: 'AccessPolicy', id: 'everybody', engine: 'allow', subjects: 'authenticated' },
    ]);
    await api.declare('other', [{ kind: 'Client', id: 'phone', grant_types: ['authorization_code'], auth }]);
  });
  after(() => api.stop());

  interface Owner {
    readonly id: number;
    readonly email: string;
    /** The token of the admin UI. */
    readonly token: string;
  }

  const tokenOf = async (user: number, client: string, box = 'default'): Promise<string> =>
    (await userTokens(api.databaseOf(box).ownerUrl, box, client, user)).access;

  async function owner(): Promise<Owner> {
    const email = `own${String((nth += 1))}@shop.example`;
    const id = await addUser(api, email, password);
    return { id, email, token: await tokenOf(id, 'boxgate.ui') };
  }

  const ask = (token: string, method: string, path: string, body?: unknown): Promise<Reply> =>
    api.call(method, path, { token, ...(body !== undefined && { body }) });

  interface Shown {
    readonly sessions: readonly string[];
    readonly clients: readonly string[];
    readonly grants: readonly string[];
  }

  async function shown(token: string): Promise<Shown> {
    const { status, body } = await ask(token, 'GET', '/account');
    expect(status).to.equal(200);
    const list = (name: string): unknown[] => {
      const value: unknown = isObject(body) ? body[name] : undefined;
      return Array.isArray(value) ? value : [];
    };
    const id = (one: unknown): string => String(Reflect.get(Object(one), 'id'));
    const clientOf = (one: unknown): string => id(Reflect.get(Object(one), 'client'));
    const sessions = list('sessions');
    return { sessions: sessions.map(id), clients: sessions.map(clientOf), grants: list('grants').map(id) };
  }

  const isLive = async (token: string): Promise<boolean> => (await ask(token, 'GET', '/Client')).status === 200;

  it('names the lists that the user may read', async () => {
    const expression = 'request_method == "get" && uri in ["/users", "/Group"]';
    await api.declare('narrow', [
      { kind: 'AccessPolicy', id: 'people', engine: 'cel', expression, subjects: 'authenticated' },
    ]);
    const id = await addUser(api, 'narrow@shop.example', password, 'narrow');
    const headers = { Authorization: `Bearer ${await tokenOf(id, 'boxgate.ui', 'narrow')}` };
    const response = await fetch(`${api.url}/boxes/narrow/account`, { headers });
    expect(await response.json()).to.deep.include({ lists: ['/Group', '/users'] });
  });

  it('shows the active sessions and the grants of the user, the newest session first, and of nobody else', async () => {
    const [one, another] = [await owner(), await owner()];
    await tokenOf(another.id, 'watch');
    await storeGrant(api, 'default', String(another.id), 'watch');
    await tokenOf(one.id, 'phone');
    await storeGrant(api, 'default', String(one.id), 'phone');
    const { clients, grants } = await shown(one.token);
    expect(clients).to.deep.equal(['phone', 'boxgate.ui']);
    expect(grants).to.deep.equal([`${String(one.id)}.phone`]);
  });

  it('is for the token of the admin UI only, whatever the policies grant', async () => {
    const { id, token } = await owner();
    const foreign = [await tokenOf(id, 'phone'), await tokenOf(id, 'boxgate.cli'), api.adminToken];
    // A token of the UI without the user's rights.
    const narrow = await tokenOf(id, 'boxgate.ui');
    await ownerQuery(
      api,
      `UPDATE boxgate.session SET scope = 'openid' WHERE user_id = $1 AND client = 'boxgate.ui'
          AND id <> (SELECT min(id::text)::uuid FROM boxgate.session WHERE user_id = $1 AND client = 'boxgate.ui')`,
      [String(id)],
    );
    const { sessions } = await shown(token);
    const body = { old_password: password, password: 'another long passphrase' };
    for (const [nthToken, one] of [...foreign, narrow].entries()) {
      const asked = [
        await ask(one, 'GET', '/account'),
        await ask(one, 'DELETE', `/account/sessions/${sessions[0] ?? ''}`),
        await ask(one, 'DELETE', '/account/grants/phone'),
        await ask(one, 'PUT', '/account/password', body),
      ];
      expect(
        asked.map(({ status }) => status),
        String(nthToken),
      ).to.deep.equal([403, 403, 403, 403]);
    }
    expect((await shown(token)).sessions).to.deep.equal(sessions);
  });

  it('is not for a declared client that has had the ID of the UI since before it was reserved', async () => {
    const client = { kind: 'Client', id: 'boxgate.ui', grant_types: ['authorization_code'] } as const;
    const auth = { authorization_code: { redirect_uri: 'https://app.example/back' } };
    const everybody = { kind: 'AccessPolicy', id: 'everybody', engine: 'allow', subjects: 'authenticated' } as const;
    await api.declare('legacy', [{ ...client, auth, scope: ['boxgate'], first_party: true }, everybody]);
    const id = await addUser(api, 'old@shop.example', password, 'legacy');
    const token = await tokenOf(id, 'boxgate.ui', 'legacy');
    const status = async (path: string): Promise<number> => {
      const headers = { Authorization: `Bearer ${token}` };
      return (await fetch(`${api.url}/boxes/legacy${path}`, { headers })).status;
    };
    expect([await status('/Client'), await status('/account')]).to.deep.equal([200, 403]);
  });

  it('ends a session of the user, with its token; that of somebody else stays', async () => {
    const [one, another] = [await owner(), await owner()];
    const [mine, foreign] = [await tokenOf(one.id, 'phone'), await tokenOf(another.id, 'phone')];
    const [ofAnother = ''] = (await shown(another.token)).sessions;
    const refused = await ask(one.token, 'DELETE', `/account/sessions/${ofAnother}`);
    const absent = await ask(one.token, 'DELETE', '/account/sessions/nothing');
    expect([refused.status, refused.text, absent.status, await isLive(foreign)]).to.deep.equal([204, '', 204, true]);
    const [ofMine = ''] = (await shown(one.token)).sessions;
    const ended = await ask(one.token, 'DELETE', `/account/sessions/${ofMine}`);
    expect([ended.status, Reflect.get(Object(ended.body), 'status')]).to.deep.equal([200, 'revoked']);
    expect([await isLive(mine), await isLive(foreign)]).to.deep.equal([false, true]);
  });

  it('withdraws a grant of the user, with the tokens of that client; those of somebody else stay', async () => {
    const [one, another] = [await owner(), await owner()];
    const [mine, foreign] = [await tokenOf(one.id, 'phone'), await tokenOf(another.id, 'phone')];
    for (const { id } of [one, another]) await storeGrant(api, 'default', String(id), 'phone');
    const withdrawn = await ask(one.token, 'DELETE', '/account/grants/phone');
    expect([withdrawn.status, Reflect.get(Object(withdrawn.body), 'id')]).to.deep.equal([
      200,
      `${String(one.id)}.phone`,
    ]);
    expect((await ask(one.token, 'DELETE', '/account/grants/phone')).status).to.equal(204);
    expect((await ask(one.token, 'DELETE', `/account/grants/${String(another.id)}.phone`)).status).to.equal(204);
    expect([await isLive(mine), await isLive(foreign)]).to.deep.equal([false, true]);
    expect((await shown(another.token)).grants).to.deep.equal([`${String(another.id)}.phone`]);
  });

  it('changes the password for who knows the present one, and ends every session of the user', async () => {
    const { id, token } = await owner();
    const phone = await tokenOf(id, 'phone');
    const change = (body: unknown): Promise<Reply> => ask(token, 'PUT', '/account/password', body);
    const wanted = 'another long passphrase';
    const wrong = await change({ old_password: 'not the password', password: wanted });
    expect([wrong.status, wrong.text]).to.deep.equal([
      422,
      '{"entity":{},"errors":{"old_password":["is not the password of this user"]}}',
    ]);
    expect((await change({ password: wanted })).text).to.contain('"old_password":["must be the password');
    expect((await change({ old_password: password, password: 'short' })).text).to.contain('"password":["must have');
    const before = (await api.call('GET', `/users/${String(id)}`)).body;
    for (const more of [{ 'group-ids': [1] }, { email: 'x@shop.example' }, { status: null }, { email_verified: true }])
      expect((await change({ old_password: password, password: wanted, ...more })).status).to.equal(422);
    expect((await api.call('GET', `/users/${String(id)}`)).body).to.deep.equal(before);
    expect(await isLive(phone)).to.equal(true);
    const changed = await change({ old_password: password, password: wanted });
    expect([changed.status, changed.text]).to.deep.equal([204, '']);
    expect([await isLive(phone), await isLive(token)]).to.deep.equal([false, false]);
    const again = await ask(await tokenOf(id, 'boxgate.ui'), 'PUT', '/account/password', {
      old_password: password,
      password: wanted,
    });
    expect(again.status).to.equal(422);
  });

  it('ends with all that the user has begun if an administrator signs them out everywhere', async () => {
    const [one, other] = [await owner(), await owner()];
    const phone = await tokenOf(one.id, 'phone');
    const answer = await api.call('PUT', `/users/${String(one.id)}`, { body: { end_sessions: true } });
    expect(answer.status).to.equal(200);
    expect(member(answer.body, 'end_sessions')).to.equal(undefined);
    expect(await Promise.all([one.token, phone, other.token].map(isLive))).to.deep.equal([false, false, true]);
    expect(await isLive(await tokenOf(one.id, 'boxgate.ui'))).to.equal(true);
    const wrong = await api.call('PUT', `/users/${String(one.id)}`, { body: { end_sessions: 'all' } });
    expect([wrong.status, wrong.text.includes('end_sessions')]).to.deep.equal([422, true]);
  });

  it('does not undo a reset that came while the old password was verified', async () => {
    const { id, token } = await owner();
    const reset = `UPDATE boxgate.user SET password = 'of a reset' WHERE box = 'default' AND id = $1`;
    // It verifies the password of before, and waits for the row.
    const change = { old_password: password, password: 'of an intruder' };
    const changed = await meanwhile(api, [[reset, [id]]], () => ask(token, 'PUT', '/account/password', change));
    expect(changed.status, changed.text).to.equal(422);
    const stored = await ownerQuery(api, `SELECT password FROM boxgate.user WHERE box = 'default' AND id = $1`, [id]);
    expect(stored).to.deep.equal([{ password: 'of a reset' }]);
  });

  it('is of one box: a token of another box is none', async () => {
    const id = await addUser(api, 'there@shop.example', password, 'other');
    const token = await tokenOf(id, 'boxgate.ui', 'other');
    expect((await ask(token, 'GET', '/account')).status).to.equal(401);
  });

  it('takes no parameter, so that none can name somebody else', async () => {
    const { token } = await owner();
    expect((await ask(token, 'GET', '/account?user=1')).status).to.equal(400);
  });
});
