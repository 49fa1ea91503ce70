import { expect } from 'chai';
import { createHash, randomBytes } from 'node:crypto';
import { addUser, newBrowser } from '../../http/pages/browser.ts';
import type { Browser } from '../../http/pages/browser.ts';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { ownerQuery } from '../../support/owner-query.ts';
import { sendForm } from '../requests.ts';
import type { Reply } from '../requests.ts';

const ann = { email: 'ann@shop.example', password: 'a long enough passphrase' };
const back = 'https://app.example/back';
const verifier = randomBytes(32).toString('base64url');
const request = {
  response_type: 'code',
  redirect_uri: back,
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
};

describe('what one person can create', () => {
  let api: TestApi;
  let browser: Browser;

  before(async () => {
    api = await startApi();
    const client = { kind: 'Client', grant_types: ['authorization_code'] } as const;
    const auth = { authorization_code: { redirect_uri: back, refresh_token: true } };
    await api.declare('default', [
      { ...client, id: 'own', first_party: true, auth },
      { ...client, id: 'foreign', auth },
    ]);
    await addUser(api, ann.email, ann.password);
    browser = newBrowser(api);
    await browser.submit('/auth/signin', ann);
  });
  after(() => api.stop());

  const ask = (client: string) =>
    browser.get(`/auth/authorize?${new URLSearchParams({ ...request, client_id: client }).toString()}`);

  async function code(): Promise<string> {
    return new URL((await ask('own')).location).searchParams.get('code') ?? '';
  }

  function grant(fields: Record<string, string>): Promise<Reply> {
    return sendForm(`${api.url}/boxes/default/auth/token`, { client_id: 'own', ...fields });
  }

  const redeem = (text: string) =>
    grant({ grant_type: 'authorization_code', redirect_uri: back, code_verifier: verifier, code: text });

  const refresh = (text: string) => grant({ grant_type: 'refresh_token', refresh_token: text });

  async function count(table: string, condition = 'true'): Promise<number> {
    const [row] = await ownerQuery(api, `SELECT count(*) AS n FROM boxgate.${table} WHERE ${condition}`, []);
    return Number(row?.['n']);
  }

  /** Does something again and again, one after the other. */
  async function times<T>(most: number, work: () => Promise<T>): Promise<readonly T[]> {
    const results: T[] = [];
    for (let done = 0; done < most; done += 1) results.push(await work());
    return results;
  }

  it('R-52 is at most fifty codes that nobody used: the oldest goes', async () => {
    const codes = await times(60, code);
    expect(await count('authorization_code', 'used_at IS NULL')).to.equal(50);
    const oldest = await redeem(codes[0] ?? '');
    expect([oldest.status, oldest.body['error']]).to.deep.equal([400, 'invalid_grant']);
    for (const kept of [codes[10], codes[59]]) expect((await redeem(kept ?? '')).status).to.equal(200);
  });

  it('R-52 is at most a hundred refresh families at a client: the one that was not used for longest is revoked', async () => {
    const given = await times(103, async () => String((await redeem(await code())).body['refresh_token']));
    expect(await count('refresh_family', 'ended_at IS NULL')).to.equal(100);
    const oldest = await refresh(given[0] ?? '');
    expect([oldest.status, oldest.body['error']]).to.deep.equal([400, 'invalid_grant']);
    for (const kept of [given[3], given[102]]) expect((await refresh(kept ?? '')).status).to.equal(200);
  });

  it('R-52 is at most twenty requests that wait for consent in a browser', async () => {
    const pages = await times(25, async () => (await ask('foreign')).location);
    expect(await count('consent_request')).to.equal(20);
    expect((await browser.get(pages[0] ?? '')).status).to.equal(400);
    expect((await browser.get(pages[24] ?? '')).status).to.equal(200);
  });

  it('R-52 is at most a hundred sign-ins, of which the newest stay', async () => {
    await ownerQuery(
      api,
      `INSERT INTO boxgate.sign_in (box, browser, user_id, version, created_at, expires_at)
       SELECT s.box, sha256(n::text::bytea), s.user_id, s.version, s.created_at - interval '1 hour', s.expires_at
         FROM boxgate.sign_in s, generate_series(1, 150) n`,
      [],
    );
    const other = newBrowser(api);
    await other.submit('/auth/signin', ann);
    expect(await count('sign_in')).to.equal(100);
    for (const one of [browser, other]) expect((await one.get('/auth/signin')).text).to.contain(ann.email);
  });
});
