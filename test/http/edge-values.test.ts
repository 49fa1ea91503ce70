import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { createHttpServer, defaultServerLimits, listen } from '../../api/http/server/server.ts';
import { parseJson } from '../../crds/path.ts';
import {
  ann,
  authorizePath,
  answered,
  back,
  codeRequest,
  goodbye,
  startOpenIdApi,
} from '../oauth/openid/openid-api.ts';
import type { OpenIdApi } from '../oauth/openid/openid-api.ts';
import { sendForm, textOf } from '../oauth/requests.ts';
import { hiddenFields, newBrowser } from './pages/browser.ts';
import type { Answer, Browser } from './pages/browser.ts';
import { openSocket, sendRequest } from './raw-http.ts';
import type { RawReply } from './raw-http.ts';

/** An input, and the answer that it must get. */
interface Row {
  readonly name: string;
  readonly ask: () => Promise<unknown>;
  readonly becomes: unknown;
}

const password = 'correct horse battery 7';
const secret = 'operator-secret-1';
const longName = (nth: number, sign: string): string => `${String(nth).padStart(3, '0')}${sign.repeat(60)}`;

describe('values of other software', () => {
  let api: OpenIdApi;
  let token = '';
  const groups: number[] = [];
  const longGroups: number[] = [];

  before(async () => {
    api = await startOpenIdApi({ registration: { enabled: true } });
    const auth = { authorization_code: { redirect_uri: back, token_format: 'jwt' } };
    await api.declare('default', [
      { kind: 'Client', id: 'ops', grant_types: ['client_credentials'], secret },
      { kind: 'Client', id: 'jwt', grant_types: ['authorization_code'], first_party: true, auth },
      { kind: 'Client', id: 'implicit', grant_types: ['implicit'], auth: { implicit: { redirect_uri: back } } },
      { kind: 'AccessPolicy', id: 'ops', engine: 'allow', link: [{ resourceType: 'Client', id: 'ops' }] },
    ]);
    const fields = { grant_type: 'client_credentials', client_id: 'ops', client_secret: secret };
    token = textOf(await sendForm(url('/auth/token'), fields), 'access_token');
    for (let nth = 0; nth < 101; nth += 1) {
      groups.push(await newGroup(longName(nth, 'x')));
      longGroups.push(await newGroup(longName(nth, '語')));
    }
  });
  after(() => api.stop());

  const url = (path: string): string => `${api.url}/boxes/default${path}`;

  async function rest(method: string, path: string, body?: object): Promise<{ status: number; text: string }> {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const response = await fetch(url(path), { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return { status: response.status, text: await response.text() };
  }

  async function newGroup(name: string): Promise<number> {
    const { status, text } = await rest('POST', '/Group', { name });
    expect(status, text).to.equal(201);
    return Number(/"id":"?(\d+)/.exec(text)?.[1]);
  }

  const newUser = (fields: object) =>
    rest('POST', '/users', { email: `${randomUUID()}@example.com`, password, ...fields });

  const newPerson = async (ids: readonly number[]) => {
    const email = `${randomUUID()}@example.com`;
    expect((await newUser({ email, 'group-ids': ids })).status).to.equal(201);
    return api.signedIn({ email, password });
  };

  const raw = (method: string, target: string, headers: readonly (readonly [string, string])[], body?: string) =>
    sendRequest(api.url, { method, target: `/boxes/default${target}`, headers, ...(body !== undefined && { body }) });

  const form = [['Content-Type', 'application/x-www-form-urlencoded']] as const;
  const cookies = (count: number): readonly [string, string] => [
    'Cookie',
    Array.from({ length: count }, (_, nth) => `c${String(nth)}=${'x'.repeat(3900)}`).join('; '),
  ];
  const kind = ({ status, headers }: RawReply) => [status, headers.get('content-type')?.split(';')[0]];

  const rows: readonly Row[] = [
    {
      name: 'R6: a form at another host of the box leads to the issuer, which its policy permits',
      ask: async () => {
        const page = await raw('GET', '/auth/signin', [['Host', 'localhost:8080']]);
        return /form-action [^;]*/.exec(page.headers.get('content-security-policy') ?? '')?.[0];
      },
      becomes: "form-action 'self' http://boxgate.test",
    },
    {
      name: 'R7: a user in 101 groups',
      ask: async () => {
        const { status, text } = await newUser({ 'group-ids': groups });
        return [status, /"errors":(\{.*?\})/.exec(text)?.[1]];
      },
      becomes: [422, '{"group-ids":["must name at most 100 groups: a user is in no more"]}'],
    },
    {
      name: 'R7: a change of a user to 101 groups',
      ask: async () => (await rest('PUT', `/users/${String(api.user)}`, { 'group-ids': groups })).status,
      becomes: 422,
    },
    ...[100, 20_000, 64_000].flatMap((length): Row[] => [
      {
        name: `R7: revocation of a token of ${String(length)} characters`,
        ask: async () => {
          const fields = { client_id: 'ops', client_secret: secret, token: 'x'.repeat(length) };
          return (await sendForm(url('/auth/revoke'), fields)).status;
        },
        becomes: 200,
      },
      {
        name: `R7: introspection of a token of ${String(length)} characters`,
        ask: async () => {
          const fields = { client_id: 'ops', client_secret: secret, token: 'x'.repeat(length) };
          return (await sendForm(url('/auth/introspect'), fields)).status;
        },
        becomes: 200,
      },
      {
        name: `R7: logout with a hint of ${String(length)} characters`,
        ask: async () => (await raw('POST', '/auth/logout', form, `id_token_hint=${'x'.repeat(length)}`)).status,
        becomes: 400,
      },
    ]),
    {
      name: 'R7: logout with a hint of 70,000 characters',
      ask: async () => (await raw('POST', '/auth/logout', form, `id_token_hint=${'x'.repeat(70_000)}`)).status,
      becomes: 413,
    },
    ...['2026-01-01T00:00:00.1Z', '2026-01-01T00:00:00.123Z', '2026-01-01T00:00:00.123456Z'].map(dateRow),
    ...['2026-01-01T00:00:00.1234567%2B01:00', '2026-01-01T00:00:00.123456789Z'].map(dateRow),
    ...['3600', '2147483647', '9'.repeat(40)].map((age): Row => {
      return {
        name: `R10: max_age=${age}`,
        ask: async () => {
          const browser = await api.signedIn();
          return answered(await browser.get(authorizePath({ ...codeRequest, max_age: age })))['error'];
        },
        becomes: undefined,
      };
    }),
    {
      name: 'R11: five large cookies of neighbours',
      ask: async () => kind(await raw('GET', '/auth/signin', [['Accept', 'text/html'], cookies(5)])),
      becomes: [200, 'text/html'],
    },
    {
      name: 'R11: nine large cookies',
      ask: async () => {
        const reply = await raw('GET', '/auth/signin', [['Accept', 'text/html,*/*'], cookies(9)]);
        expect(reply.text).to.contain('Delete the cookies of this site');
        expect(reply.headers.get('content-security-policy')).to.contain("default-src 'none'");
        return kind(reply);
      },
      becomes: [431, 'text/html'],
    },
    {
      name: 'R11: nine large cookies of a browser that reads German',
      ask: async () => {
        const headers = [['Accept', 'text/html,*/*'], ['Accept-Language', 'de-AT,de;q=0.9'], cookies(9)] as const;
        return (await raw('GET', '/auth/signin', headers)).text.includes('Löschen Sie die Cookies');
      },
      becomes: true,
    },
    {
      name: 'R11: nine large cookies of a script',
      ask: async () => kind(await raw('GET', '/auth/signin', [['Accept', 'application/json'], cookies(9)])),
      becomes: [431, 'application/json'],
    },
    {
      name: 'R12: a password of 4 letters, each written as two characters',
      ask: async () => (await newUser({ password: 'e\u0301'.repeat(4) })).status,
      becomes: 422,
    },
    {
      name: 'R12: a password of 8 letters, each written as two characters',
      ask: async () => (await newUser({ password: 'e\u0301'.repeat(8) })).status,
      becomes: 201,
    },
    ...['＠example.com', '@ｅｘａｍｐｌｅ.com', '＠ｅｘａｍｐｌｅ．ｃｏｍ'].map((end, nth): Row => {
      return {
        name: `R13: an email that ends with ${end}`,
        ask: async () => {
          const { status, text } = await newUser({ email: `eri${String(nth)}${end}` });
          return [status, /"email":"([^"]*)"/.exec(text)?.[1]];
        },
        becomes: [201, `eri${String(nth)}@example.com`],
      };
    }),
  ];

  function dateRow(time: string): Row {
    return {
      name: `R8: created_at=ge${time}`,
      ask: async () => (await rest('GET', `/Session?created_at=ge${time}`)).status,
      becomes: 200,
    };
  }

  for (const { name, ask, becomes } of rows) {
    it(name, async () => {
      // E-22: values that browsers, HTTP clients and other languages send by themselves.
      expect(await ask()).to.deep.equal(becomes);
    });
  }

  const pagePath = (page: string, over = {}) =>
    authorizePath({ ...codeRequest, ...over }).replace('/auth/authorize', `/auth/${page}`);
  const hasCode = async (browser: Browser, answer: Answer) => 'code' in answered(await browser.get(answer.location));
  const alertIn = ({ text }: Answer) => / role="alert"[^>]*>([^<]*)/.exec(text)?.[1];

  /** Opens a page in two tabs of a browser, and sends the form of each; returns the answer to the second. */
  async function inTwoTabs(browser: Browser, page: string, first: object, second: object): Promise<Answer> {
    const tabs = [await browser.get(pagePath(page)), await browser.get(pagePath(page))];
    const [one, two] = tabs.map(({ text }) => hiddenFields(text));
    expect((await browser.post(pagePath(page), { ...one, ...first })).status).to.equal(303);
    return browser.post(pagePath(page), { ...two, ...second });
  }

  it('R1: the sign-in form of a second tab goes on', async () => {
    // E-10: the second tab ended at an error page although its person was signed in.
    const browser = newBrowser(api);
    const answer = await inTwoTabs(browser, 'signin', ann, { ...ann, password: '' });
    expect(await hasCode(browser, answer)).to.equal(true);
  });

  for (const page of ['signin', 'signup']) {
    it(`R1: the ${page} form of a second tab is shown again with another account that was typed`, async () => {
      // E-10: never another account silently.
      const browser = newBrowser(api);
      const first = page === 'signin' ? ann : { email: `${randomUUID()}@example.com`, password };
      const answer = await inTwoTabs(browser, page, first, api.eve);
      expect([answer.status, alertIn(answer)]).to.deep.equal([200, undefined]);
      expect(answer.text).to.contain(`value="${api.eve.email}"`);
      expect((await browser.get('/auth/signin')).text).to.contain(first.email);
    });
  }

  for (const [over, status] of [
    [{}, 303],
    [{ response_type: 'none' }, 303],
    [{ prompt: 'login' }, 200],
    [{ prompt: 'select_account' }, 200],
    [{ max_age: '0' }, 200],
  ] as const) {
    it(`R1b: the sign-in page of an app answers somebody who is signed in ${String(status)}: ${JSON.stringify(over)}`, async () => {
      // E-10: it asked for the password.
      const answer = await (await api.signedIn()).get(pagePath('signin', over));
      expect([answer.status, answer.text.includes('name="password"')]).to.deep.equal([status, status === 200]);
      if (status === 303) expect(answer.location).to.contain('/auth/authorize?');
    });
  }

  /** Returns a browser of somebody whom an app asks for consent, and the form of that page. */
  async function askedForConsent(): Promise<{ readonly browser: Browser; readonly fields: Record<string, string> }> {
    const browser = await newPerson([]);
    const { location } = await browser.get(authorizePath({ ...codeRequest, client_id: 'foreign' }));
    return { browser, fields: hiddenFields((await browser.get(location)).text) };
  }

  it('R2: Allow that is pressed twice gives a code that counts, and one code in all', async () => {
    // E-10: the browser follows the second answer, which was an error.
    const { browser, fields } = await askedForConsent();
    const press = () => browser.post('/auth/consent', { ...fields, answer: 'allow' });
    const [first, second] = [await press(), await press()];
    const status = async (answer: Answer) => (await api.redeem(answer, { client_id: 'foreign' })).status;
    expect([await status(first), await status(second)]).to.deep.equal([400, 200]);
    const third = await press();
    expect(third.status).to.equal(303);
    expect((await browser.get(third.location)).text).to.contain('name="answer"');
  });

  it('R2: Deny that is pressed twice gives the same answer', async () => {
    // E-10: the browser follows the second answer, which was an error.
    const { browser, fields } = await askedForConsent();
    const press = () => browser.post('/auth/consent', { ...fields, answer: 'deny' });
    for (const answer of [await press(), await press()]) {
      expect(answered(answer)).to.include({ error: 'access_denied' });
    }
  });

  it('R2: the consent form of a tab is shown again after a sign-in in another one', async () => {
    // E-10: its "Try again" was a dead end.
    const { browser, fields } = await askedForConsent();
    await browser.submit(pagePath('signin', { prompt: 'login' }), { ...api.eve });
    const answer = await browser.post('/auth/consent', { ...fields, answer: 'allow' });
    expect(answer.status).to.equal(303);
    expect((await browser.get(answer.location)).text).to.contain(api.eve.email);
  });

  it('R3: Create account that is pressed twice signs in to the account that it created', async () => {
    // E-10: the browser follows the second answer, which said that somebody has registered the email.
    const browser = newBrowser(api);
    const typed = { email: `${randomUUID()}@example.com`, password };
    const fields = hiddenFields((await browser.get(pagePath('signup'))).text);
    const before = new Map(browser.cookies);
    const press = (over = {}) => {
      for (const [name, value] of before) browser.cookies.set(name, value);
      return browser.post(pagePath('signup'), { ...fields, ...typed, ...over });
    };
    expect((await press()).status).to.equal(303);
    expect((await press({ password: 'another passphrase' })).status).to.equal(422);
    expect(await hasCode(browser, await press())).to.equal(true);
    expect((await newBrowser(api).submit(pagePath('signup'), typed)).status).to.equal(422);
  });

  for (const response_type of [undefined, 'none']) {
    it(`E-32: response_type=${String(response_type)} of a client with the implicit grant alone is an error in the query`, async () => {
      // E-32: it was in the fragment (RFC 6749 §4.1.2.1).
      const answer = await newBrowser(api).get(authorizePath({ ...codeRequest, client_id: 'implicit', response_type }));
      expect(answer.location).to.match(/^https:\/\/app\.example\/back\?error=/);
    });
  }

  for (const method of ['GET', 'POST']) {
    it(`R7: a person in 100 groups is signed out by their id_token, by ${method}`, async () => {
      // E-22: the id_token of a person in many groups was larger than what logout reads.
      const browser = await newPerson(groups.slice(0, 100));
      const code = await browser.get(authorizePath({ ...codeRequest, scope: 'openid groups' }));
      const id_token_hint = textOf(await api.redeem(code), 'id_token');
      expect(id_token_hint).to.have.length.greaterThan(8_000);
      const fields = { id_token_hint, post_logout_redirect_uri: goodbye };
      const answer =
        method === 'GET'
          ? await browser.get(authorizePath(fields).replace('/auth/authorize', '/auth/logout'))
          : await browser.post('/auth/logout', fields);
      expect([answer.status, answer.location]).to.deep.equal([303, goodbye]);
    });
  }

  for (const client_id of ['own', 'jwt']) {
    it(`R7: a token of ${client_id} above 16 KiB is not issued, and the log says why`, async () => {
      // E-22: nothing would accept it afterwards: no header, no revocation, no logout.
      const browser = await newPerson(longGroups.slice(0, 100));
      const code = await browser.get(authorizePath({ ...codeRequest, client_id, scope: 'openid groups' }));
      const reply = await api.redeem(code, { client_id });
      expect(reply.status).to.equal(400);
      expect(reply.body).to.deep.equal({
        error: 'invalid_scope',
        error_description:
          'The token would have more than 16384 characters. Request fewer scopes, such as without groups, or take the user out of some groups',
      });
      const logged = api.logLines
        .map(parseJson)
        .filter((line) => JSON.stringify(line).includes('token was not issued'));
      expect(logged.at(-1)).to.include({
        box: 'default',
        request_id: reply.headers.get('x-request-id'),
      });
    });
  }

  it('R7: the implicit grant shows a page for such a person, and stores no session', async () => {
    // E-22: an id_token in a fragment has the same limit.
    const browser = await newPerson(longGroups.slice(0, 100));
    const parameters = { response_type: 'id_token', client_id: 'own', redirect_uri: back, nonce: 'n' };
    const answer = await browser.get(authorizePath({ ...parameters, scope: 'openid groups' }));
    expect([answer.status, answer.location]).to.deep.equal([400, '']);
    expect(answer.text).to.contain('you are in so many groups');
  });

  it('R14: an idle connection is closed without an answer', async () => {
    // E-22: a browser that keeps a connection ready took the 408 for the answer to its next request.
    const limits = { ...defaultServerLimits, headers: 100, request: 200, interval: 20 };
    const server = createHttpServer((_request, response) => response.end(), limits);
    const socket = openSocket(`http://127.0.0.1:${String(await listen(server, '127.0.0.1', 0))}`);
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
    await new Promise((resolve) => socket.once('close', resolve));
    server.close();
    expect(received).to.equal('');
  });
});
