import { expect } from 'chai';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { ownerQuery } from '../../support/owner-query.ts';
import { freshDatabase } from '../../support/postgres.ts';
import type { TestDatabase } from '../../support/postgres.ts';
import { addUser, newBrowser } from './browser.ts';
import type { Answer, Browser } from './browser.ts';

const ann = { email: 'ann@shop.example', password: 'a long enough passphrase' };
/** Wrong passwords in 15 minutes for one account from all addresses; one network may use up a quarter of them. */
const perAccount = 8;
const deviceCookie = 'boxgate-device.default';
const environment = { BOXGATE_TRUSTED_PROXIES: '127.0.0.1', BOXGATE_FAILURES_PER_ACCOUNT: String(perAccount) };

describe('a browser that has signed in before', () => {
  let database: TestDatabase;
  let replicas: readonly [TestApi, TestApi];
  let owner: Browser;
  let email: string;
  let user: number;
  let nth = 0;

  before(async () => {
    database = await freshDatabase();
    replicas = [await startApi({ database, environment }), await startApi({ database, environment })];
    await replicas[0].declare('default', [
      { kind: 'Client', id: 'app', grant_types: ['password'], scope: ['openid', 'boxgate'] },
      { kind: 'AccessPolicy', id: 'users', engine: 'allow', subjects: 'authenticated' },
      { kind: 'Box', id: 'default', compatibility: { password_change_without_old: false } },
    ]);
  });
  before(() => addUser(replicas[0], ann.email, ann.password));
  after(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await database.drop();
  });
  beforeEach(async () => {
    nth += 1;
    email = `ann-${String(nth)}@shop.example`;
    user = await addUser(replicas[0], email, ann.password);
    owner = newBrowser(replicas[0]);
  });

  /** Signs in from an address, in a browser with these cookies and no others. */
  async function signIn(
    password: string,
    from: string,
    { api = replicas[0], who = newBrowser(api), as = email }: { api?: TestApi; who?: Browser; as?: string } = {},
  ): Promise<Answer> {
    return who.submit('/auth/signin', { email: as, password }, { 'X-Forwarded-For': from });
  }

  /** Wrong passwords from as many networks as it takes, on both replicas in turn; the statuses of the answers. */
  async function strangersGuess(times: number, as = email): Promise<readonly number[]> {
    const statuses: number[] = [];
    for (let guess = 0; guess < times; guess += 1) {
      const api = replicas[guess % 2 === 0 ? 0 : 1];
      const from = `10.${String(100 + guess)}.${String(nth)}.1`;
      statuses.push((await signIn(`wrong ${String(guess)}`, from, { api, as })).status);
    }
    return statuses;
  }

  /** A browser, at the second replica unless another is given, that has only the device cookie of another one. */
  function sameDevice(who: Browser, api = replicas[1]): Browser {
    const browser = newBrowser(api);
    const value = who.cookies.get(deviceCookie);
    if (value !== undefined) browser.cookies.set(deviceCookie, value);
    return browser;
  }

  it('R-04 signs the owner in after strangers have used up the guesses of the account, on every replica', async () => {
    expect((await signIn(ann.password, '10.1.0.1', { who: owner })).status).to.equal(303);
    await owner.submit('/auth/signout', {});
    const guesses = await strangersGuess(perAccount + 6);
    expect(guesses).to.deep.equal([...Array<number>(perAccount).fill(200), ...Array<number>(6).fill(429)]);
    for (const api of replicas) {
      expect((await signIn(ann.password, '10.9.0.2', { api })).status, 'without the cookie').to.equal(429);
    }
    expect((await signIn(ann.password, '10.9.0.2', { api: replicas[1], who: sameDevice(owner) })).status).to.equal(303);
    expect((await signIn(ann.password, '10.1.0.1', { who: owner })).status).to.equal(303);
  });

  it('R-04 signs the owner in at an address whose own guesses are used up by a stranger', async () => {
    await signIn(ann.password, '10.1.0.3', { who: owner });
    const guesses: number[] = [];
    for (let guess = 0; guess < 4; guess += 1) guesses.push((await signIn('wrong', '10.1.0.3')).status);
    expect(guesses).to.deep.equal([200, 200, 429, 429]);
    expect((await signIn(ann.password, '10.1.0.3', { who: sameDevice(owner) })).status).to.equal(303);
    expect((await signIn(ann.password, '10.9.0.4')).status, 'a quiet network').to.equal(303);
  });

  it('R-04 counts the failures of that browser on their own', async () => {
    await signIn(ann.password, '10.1.0.5', { who: owner });
    const guesses: number[] = [];
    for (let guess = 0; guess < perAccount + 2; guess += 1) {
      const who = sameDevice(owner);
      guesses.push((await signIn('wrong', `10.1.1.${String(guess)}`, { who, api: replicas[1] })).status);
    }
    expect(guesses).to.deep.equal([...Array<number>(perAccount).fill(200), 429, 429]);
    expect((await signIn(ann.password, '10.9.0.6')).status, 'a browser without the cookie').to.equal(303);
  });

  it('R-04 has a cookie that no script reads, that names nobody and outlives the browser', async () => {
    const { headers } = await signIn(ann.password, '10.1.0.7', { who: owner });
    const cookie = headers.getSetCookie().find((text) => text.startsWith(deviceCookie));
    expect(cookie).to.match(
      /^boxgate-device\.default=[\w.-]{60,500}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=2592000$/,
    );
    expect(cookie).not.to.contain('shop.example');
  });

  it('R-04 takes the cookie of another account, a changed one and an old one for none', async () => {
    await signIn(ann.password, '10.1.0.8', { who: owner });
    const other = `other-${String(nth)}@shop.example`;
    await addUser(replicas[0], other, ann.password);
    await strangersGuess(perAccount, other);
    expect((await signIn(ann.password, '10.1.0.8', { who: sameDevice(owner), as: other })).status).to.equal(429);
    await strangersGuess(perAccount);
    const forged = newBrowser(replicas[0]);
    forged.cookies.set(
      deviceCookie,
      (owner.cookies.get(deviceCookie) ?? '').replace(/.$/, (last) => (last === 'A' ? 'E' : 'A')),
    );
    expect((await signIn(ann.password, '10.9.0.9', { who: forged })).status).to.equal(429);
  });

  it('R-04 ends the cookie with a new password, and not with signing out', async () => {
    await signIn(ann.password, '10.1.0.10', { who: owner });
    await owner.submit('/auth/signout', {});
    expect(owner.cookies.has(deviceCookie)).to.equal(true);
    await setPassword('another long passphrase');
    await strangersGuess(perAccount);
    expect((await signIn('another long passphrase', '10.9.0.10', { who: owner })).status).to.equal(429);
  });

  it('R-04 remembers several accounts of one browser', async () => {
    const other = `other-${String(nth)}@shop.example`;
    await addUser(replicas[0], other, ann.password);
    await signIn(ann.password, '10.1.0.11', { who: owner });
    await owner.submit('/auth/signout', {});
    await signIn(ann.password, '10.1.0.11', { who: owner, as: other });
    await strangersGuess(perAccount);
    expect((await signIn(ann.password, '10.9.0.11', { who: sameDevice(owner) })).status).to.equal(303);
  });

  /** Signs in from a network, uses up the guesses of the account from others, and returns the same sign-in's status. */
  async function afterStrangers(from: string, change?: string): Promise<number> {
    expect((await signIn(ann.password, from)).status).to.equal(303);
    if (change !== undefined) {
      await ownerQuery(replicas[0], `UPDATE boxgate.user SET networks = ${change} WHERE box = 'default' AND id = $1`, [
        user,
      ]);
    }
    await strangersGuess(perAccount);
    return (await signIn(ann.password, from)).status;
  }

  for (const [before, after] of [
    ['10.1.7.1', '10.1.7.254'],
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::7'],
  ] as const) {
    it(`signs the owner in at the network of ${before} after strangers have used up the guesses`, async () => {
      // E-07: an owner must not be locked out, in a new browser and by the password grant.
      expect(await afterStrangers(before)).to.equal(303);
      expect((await signIn(ann.password, after, { api: replicas[1] })).status).to.equal(303);
      expect((await grant(ann.password, after)).status).to.equal(200);
      expect((await signIn(ann.password, '10.9.0.20')).status, 'another network').to.equal(429);
    });
  }

  it('signs the owner in at the network of a token by the password grant', async () => {
    // E-07: a grant is a sign-in too.
    expect((await grant(ann.password, '10.1.8.1')).status).to.equal(200);
    await strangersGuess(perAccount);
    expect((await signIn(ann.password, '10.1.8.2')).status).to.equal(303);
  });

  it('knows a network for 30 days', async () => {
    // E-07: lately means 30 days.
    const older = (seconds: number): string =>
      `(SELECT jsonb_object_agg(key, value::bigint - ${String(seconds)}) FROM jsonb_each_text(networks))`;
    const month = 30 * 24 * 3_600;
    expect(await afterStrangers('10.1.9.1', older(month - 60))).to.equal(303);
    nth += 1;
    email = `ann-${String(nth)}@shop.example`;
    user = await addUser(replicas[0], email, ann.password);
    expect(await afterStrangers('10.1.9.1', older(month))).to.equal(429);
  });

  it('knows the last five networks of an account', async () => {
    // E-07: the networks of the last five sign-ins.
    const networks = [1, 2, 3, 4, 5, 6].map((network) => `10.20.${String(network)}.1`);
    for (const [age, from] of networks.entries()) {
      expect((await signIn(ann.password, from)).status).to.equal(303);
      // The clock of the limits stands still in tests.
      const change = `(SELECT jsonb_object_agg(key, value::bigint - ${String(age + 1)}) FROM jsonb_each_text(networks))`;
      await ownerQuery(replicas[0], `UPDATE boxgate.user SET networks = ${change} WHERE id = $1`, [user]);
    }
    await strangersGuess(perAccount);
    const statuses: number[] = [];
    for (const from of networks) statuses.push((await signIn(ann.password, from)).status);
    expect(statuses).to.deep.equal([429, 303, 303, 303, 303, 303]);
  });

  it('limits the guesses of a network that signed in lately', async () => {
    // E-07: the limits of the network stay.
    await signIn(ann.password, '10.1.10.1');
    const guesses: number[] = [];
    for (let guess = 1; guess < 5; guess += 1) guesses.push((await signIn('wrong', `10.1.10.${String(guess)}`)).status);
    expect(guesses).to.deep.equal([200, 200, 429, 429]);
    expect((await signIn(ann.password, '10.1.10.9', { who: newBrowser(replicas[1]) })).status).to.equal(429);
  });

  it('R-04 tells nobody which accounts exist: an unknown email has the same answers and the same bound', async () => {
    const known = await strangersGuess(perAccount + 2);
    nth += 1;
    const unknown = await strangersGuess(perAccount + 2, `nobody-${String(nth)}@shop.example`);
    expect(unknown).to.deep.equal(known);
    const page = async (as: string) => (await signIn('wrong', '10.1.0.12', { as })).text.replaceAll(as, 'EMAIL');
    expect(stripped(await page(`nobody-${String(nth)}@shop.example`))).to.equal(stripped(await page(email)));
  });

  it('R-04 has one bound for the page and the password grant, which knows no cookie', async () => {
    await signIn(ann.password, '10.1.0.13', { who: owner });
    await strangersGuess(perAccount - 1);
    expect((await grant('wrong', '10.9.1.14')).status).to.equal(400);
    const held = await grant(ann.password, '10.9.0.15');
    expect(held.status).to.equal(429);
    expect(Number(held.headers.get('retry-after'))).to.be.within(1, 900);
    expect((await signIn(ann.password, '10.9.0.13', { who: sameDevice(owner) })).status).to.equal(303);
  });

  it('R-04 lets people change their own password over REST, and nobody else guess at it there', async () => {
    const [own, other] = await Promise.all([tokenOf(email), tokenOf(ann.email)]);
    await strangersGuess(perAccount);
    const change = async (token: string): Promise<number> => {
      const response = await fetch(`${replicas[1].url}/boxes/default/users/${String(user)}`, {
        method: 'PUT',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ password: 'another long passphrase', old_password: ann.password }),
      });
      return response.status;
    };
    expect(await change(other)).to.equal(429);
    expect(await change(own)).to.equal(200);
  });

  function grant(password: string, from: string, as = email): Promise<Response> {
    const fields = { grant_type: 'password', client_id: 'app', username: as, password, scope: 'openid boxgate' };
    return fetch(`${replicas[1].url}/boxes/default/auth/token`, {
      method: 'POST',
      headers: { 'X-Forwarded-For': from },
      body: new URLSearchParams(fields),
    });
  }

  async function tokenOf(as: string): Promise<string> {
    const answer: unknown = await (await grant(ann.password, '10.1.0.16', as)).json();
    if (typeof answer !== 'object' || answer === null || !('access_token' in answer)) throw new Error('no token');
    return String(answer.access_token);
  }

  it('R-04 gives many guesses at once no more than as many one after the other', async () => {
    const replies = await Promise.all(
      Array.from({ length: 3 * perAccount }, (_, guess) =>
        signIn('wrong', `10.${String(100 + guess)}.${String(nth)}.1`),
      ),
    );
    expect(replies.filter(({ status }) => status === 200).length).to.be.within(1, perAccount);
  });

  async function setPassword(password: string): Promise<void> {
    const changed = await addUser(replicas[0], `spare-${String(nth)}@shop.example`, password);
    await ownerQuery(
      replicas[0],
      `UPDATE boxgate.user u SET password = s.password, pepper = s.pepper FROM boxgate.user s
        WHERE u.box = 'default' AND s.box = u.box AND u.id = $1 AND s.id = $2 RETURNING u.id`,
      [user, changed],
    );
  }
});

/** Without what differs from page to page: tokens of forms and requests. */
function stripped(text: string): string {
  return text.replace(/value="[\w-]{43}"/g, '').replace(/Request ID: \S+/, '');
}
