import { expect } from 'chai';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { ownerQuery } from '../../support/owner-query.ts';
import { openSocket, readAnswer } from '../raw-http.ts';
import { addUser, hiddenFields, issuerOf, newBrowser } from './browser.ts';
import type { Answer, Browser } from './browser.ts';

const password = 'a long enough passphrase';
const back = 'https://app.example/back';
const page = '/auth/signup';

const boxes = {
  default: { enabled: true },
  closed: { enabled: false },
  domains: { enabled: true, allowed_email_domains: ['shop.example'] },
  members: {
    enabled: true,
    allowed_email_domains: ['shop.example', 'xn--mnchen-3ya.example'],
    default_group: 'members',
  },
  checked: { enabled: true, approval: 'admin' },
} as const;

describe('the sign-up page', () => {
  let api: TestApi;
  let browser: Browser;

  before(async () => {
    api = await startApi({ environment: { BOXGATE_FAILURES_PER_CLIENT: '1000', BOXGATE_FAILURES_PER_BOX: '1000' } });
    const app = { grant_types: ['implicit'], first_party: true, auth: { implicit: { redirect_uri: back } } };
    for (const [id, registration] of Object.entries(boxes)) {
      await api.declare(id, [
        { kind: 'Box', id, registration },
        { kind: 'Client', id: 'app', name: 'The <App>', ...app },
      ]);
    }
    await api.declare('bare', [{ kind: 'Client', id: 'app', ...app }]);
  });
  after(() => api.stop());
  beforeEach(() => {
    browser = newBrowser(api);
  });

  const signUp = (email: string, who = browser): Promise<Answer> => who.submit(page, { email, password });
  const users = (box: string): Promise<readonly Record<string, unknown>[]> =>
    ownerQuery(api, 'SELECT id, email, status FROM boxgate.user WHERE box = $1 ORDER BY id', [box]);

  it('registers a person, who is then signed in', async () => {
    const done = await signUp('Ann@shop.example');
    expect([done.status, done.location]).to.deep.equal([303, `${issuerOf('default')}/auth/signin`]);
    expect((await browser.get('/auth/signin')).text).to.contain('Signed in as ann@shop.example');
    const again = await newBrowser(api).submit('/auth/signin', { email: 'ann@shop.example', password });
    expect(again.status).to.equal(303);
  });

  it('R-49 tells all that is wrong at once, whether the email is taken included', async () => {
    await signUp('ben@shop.example');
    const refused = await newBrowser(api).submit(page, { email: 'Ben@shop.example', password: 'short' });
    expect(refused.status).to.equal(422);
    expect(refused.text).to.contain('id="email-fault"').and.to.contain('Somebody has registered with this email');
    expect(refused.text).to.contain('id="password-fault"');
    const free = await newBrowser(api).submit(page, { email: 'free@shop.example', password: 'short' });
    expect(free.text).to.contain('id="password-fault"').and.not.to.contain('id="email-fault"');
  });

  it('R-49 says to whom waits for approval what the sign-in will say until then', async () => {
    await api.declare('waiting', [{ kind: 'Box', id: 'waiting', registration: boxes.checked }]);
    const waiting = await newBrowser(api, 'waiting').submit(page, { email: 'new@shop.example', password });
    expect(waiting.text).to.contain('waiting for the approval of an administrator');
    expect(waiting.text).to.contain('Until then, signing in says that the email or password is wrong');
    const early = await newBrowser(api, 'waiting').submit('/auth/signin', { email: 'new@shop.example', password });
    expect(early.text).to.contain('Wrong email or password');
  });

  it('R-53 creates no account beyond the quota of users, and says so', async () => {
    await api.declare('full', [{ kind: 'Box', id: 'full', registration: { enabled: true } }]);
    await api.declareWithin('full', { users: 1 }, []);
    expect((await newBrowser(api, 'full').submit(page, { email: 'one@shop.example', password })).status).to.equal(303);
    const refused = await newBrowser(api, 'full').submit(page, { email: 'two@shop.example', password });
    expect([refused.status, refused.text.includes('No more accounts')]).to.deep.equal([422, true]);
    expect(await users('full')).to.have.lengthOf(1);
  });

  it('A-10 gives a new cookie, and ends the sign-in that the browser had', async () => {
    await signUp('before@shop.example');
    const old = newBrowser(api);
    for (const [name, value] of browser.cookies) old.cookies.set(name, value);
    const form_token = await formTokenOf(browser);
    await browser.post(page, { form_token, email: 'after@shop.example', password });
    expect((await browser.get('/auth/signin')).text).to.contain('Signed in as after@shop.example');
    expect((await old.get('/auth/signin')).text).to.contain('name="password"');
  });

  it('leads back to the app that somebody came from, who is then signed in there', async () => {
    const request = new URLSearchParams({ response_type: 'token', client_id: 'app', state: 's', prompt: 'login' });
    const asked = await browser.get(`/auth/authorize?${request.toString()}`);
    const signIn = await browser.get(asked.location);
    const link = /<a href="([^"]*\/auth\/signup[^"]*)"/.exec(signIn.text)?.[1]?.replaceAll('&#38;', '&') ?? '';
    expect((await browser.get(link)).text).to.contain('to continue to The &#60;App&#62;');
    const done = await browser.submit(link, { email: 'eve@shop.example', password });
    expect(done.location.startsWith(`${issuerOf('default')}/auth/authorize?`)).to.equal(true);
    expect((await browser.get(done.location)).location).to.match(/^https:\/\/app\.example\/back#access_token=bgt_/);
  });

  it('A-01 shows nothing of an app that is not known', async () => {
    expect((await browser.get(`${page}?client_id=nobody&response_type=token`)).status).to.equal(400);
  });

  describe('says what is wrong, beside the field, and keeps what was typed but the password', () => {
    const most = 'x'.repeat(4097);
    const stored = '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNo';
    const wrong: readonly [what: string, fields: Record<string, string>, says: readonly string[]][] = [
      ['nothing', {}, ['Type an email', 'At least 8 characters']],
      ['no email', { email: 'no <email>', password }, ['Type an email', 'value="no &#60;email&#62;"']],
      ['a short password', { email: 'bob@shop.example', password: 'short' }, ['is too short', 'bob@shop.example']],
      ['a long password', { email: 'bob@shop.example', password: most }, ['at most 4096 characters']],
      ['R-16 a password in the form that is stored', { email: 'bob@shop.example', password: stored }, ['stored form']],
      ['a password that all use', { email: 'bob@shop.example', password: 'password1' }, ['most common']],
    ];
    for (const [what, fields, says] of wrong) {
      it(what, async () => {
        const { status, text } = await browser.submit(page, fields);
        expect(status).to.equal(422);
        for (const part of says) expect(text).to.contain(part);
        expect(text)
          .to.contain('aria-invalid="true"')
          .and.not.contain(`value="${fields['password'] ?? '-'}"`);
      });
    }

    it('U-01 an email that is taken, however it is written', async () => {
      await addUser(api, 'carl@shop.example', password);
      for (const email of ['carl@shop.example', 'CARL@Shop.Example', ' carl@shop.example ']) {
        const { status, text } = await signUp(email);
        expect(status).to.equal(422);
        expect(text).to.contain('Somebody has registered with this email');
      }
    });

    it('an email of another domain than the box allows', async () => {
      const domains = newBrowser(api, 'domains');
      for (const email of [
        'a@else.example',
        'a@shop.example.else.example',
        'a@sub.shop.example',
        'a@notshop.example',
      ]) {
        const { status, text } = await signUp(email, domains);
        expect([email, status]).to.deep.equal([email, 422]);
        expect(text).to.contain('shop.example');
      }
      expect(await users('domains')).to.deep.equal([]);
    });

    it('in the language of the browser', async () => {
      const { text } = await browser.get(page, { 'Accept-Language': 'de' });
      expect(text).to.contain('Konto anlegen').and.to.contain('Mindestens 8 Zeichen');
    });
  });

  it('puts whom it registers into the default group, which is made when nobody has', async () => {
    const many = ['a@shop.example', 'b@SHOP.example', 'c@münchen.example'].map(async (email) => {
      expect((await signUp(email, newBrowser(api, 'members'))).status, email).to.equal(303);
    });
    await Promise.all(many);
    const groups = await ownerQuery(
      api,
      `SELECT jsonb_agg(boxgate.groups_of(box, id)) AS groups FROM boxgate.user
                                           WHERE box = $1`,
      ['members'],
    );
    const members = [{ id: 1, name: 'members', description: null }];
    expect(groups).to.deep.equal([{ groups: [members, members, members] }]);
  });

  it('lets nobody in before an admin says so, where the box wants that', async () => {
    const waiting = newBrowser(api, 'checked');
    const { status, text, headers } = await signUp('dan@shop.example', waiting);
    expect([status, headers.has('set-cookie')]).to.deep.equal([200, false]);
    expect(text).to.contain('waiting for the approval of an administrator');
    expect(await users('checked')).to.deep.equal([{ id: '1', email: 'dan@shop.example', status: 'inactive' }]);
    const early = await waiting.submit('/auth/signin', { email: 'dan@shop.example', password });
    expect(early.text).to.contain('Wrong email or password');
    await ownerQuery(api, `UPDATE boxgate.user SET status = 'active' WHERE box = $1`, ['checked']);
    expect((await waiting.submit('/auth/signin', { email: 'dan@shop.example', password })).status).to.equal(303);
  });

  for (const box of ['closed', 'bare']) {
    it(`is not there in a box that does not enable it: ${box}`, async () => {
      const stranger = newBrowser(api, box);
      const signIn = await stranger.get('/auth/signin');
      expect(signIn.text).not.to.contain('/auth/signup');
      expect((await stranger.get(page)).status).to.equal(404);
      const form_token = /name="form_token" value="([^"]*)"/.exec(signIn.text)?.[1] ?? '';
      const posted = await stranger.post(page, { form_token, email: 'a@shop.example', password });
      expect([posted.status, await users(box)]).to.deep.equal([404, []]);
    });
  }

  it('R-60 registers nobody by a form that ends after registration was closed', async () => {
    const box = (enabled: boolean) => api.declare('late', [{ kind: 'Box', id: 'late', registration: { enabled } }]);
    await box(true);
    const late = newBrowser(api, 'late');
    const fields = { ...hiddenFields((await late.get(page)).text), email: 'late@shop.example', password };
    const body = new URLSearchParams(fields).toString();
    const head = [
      `POST /boxes/late${page} HTTP/1.1`,
      'Host: 127.0.0.1',
      `Cookie: ${[...late.cookies].map(([name, value]) => `${name}=${value}`).join('; ')}`,
      'Content-Type: application/x-www-form-urlencoded',
      `Content-Length: ${String(body.length)}`,
    ];
    const socket = openSocket(api.url);
    socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 10)}`);
    // A later request has been answered: this one has been looked at.
    for (let asked = 0; asked < 2; asked += 1) expect((await newBrowser(api, 'late').get(page)).status).to.equal(200);
    await box(false);
    socket.write(body.slice(10));
    const { status } = await readAnswer(socket, false);
    socket.destroy();
    expect([status, await users('late')]).to.deep.equal([404, []]);
  });

  it('A-07 refuses a form that was made for another browser', async () => {
    const form_token = await formTokenOf(newBrowser(api));
    await browser.get(page);
    const { status } = await browser.post(page, { form_token, email: 'forged@shop.example', password });
    expect(status).to.equal(403);
    expect((await users('default')).some(({ email }) => email === 'forged@shop.example')).to.equal(false);
  });

  it('registers one user of a hundred sign-ups at once with one email', async () => {
    const emails = Array.from({ length: 100 }, (_, nth) => (nth % 2 === 0 ? 'many@shop.example' : 'MANY@shop.example'));
    const answers = await Promise.all(emails.map((email) => signUp(email, newBrowser(api))));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 303)).to.deep.equal([303]);
    expect(statuses.filter((status) => ![303, 422, 503].includes(status))).to.deep.equal([]);
    const stored = (await users('default')).filter(({ email }) => String(email).toLowerCase() === 'many@shop.example');
    expect(stored).to.have.length(1);
  });

  async function formTokenOf(who: Browser): Promise<string> {
    return /name="form_token" value="([^"]*)"/.exec((await who.get('/auth/signout')).text)?.[1] ?? '';
  }
});

describe('many sign-ups', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi({ environment: { BOXGATE_FAILURES_PER_CLIENT: '3' } });
    await api.declare('default', [{ kind: 'Box', id: 'default', registration: { enabled: true } }]);
  });
  after(() => api.stop());

  it('X-16 are held back from one address, whether the email is taken or not', async () => {
    const browser = newBrowser(api);
    const statuses: number[] = [];
    for (const name of ['a', 'a', 'b', 'c']) {
      statuses.push((await newBrowser(api).submit(page, { email: `${name}@shop.example`, password })).status);
    }
    expect(statuses).to.deep.equal([303, 422, 303, 429]);
    const held = await browser.submit(page, { email: 'd@shop.example', password });
    expect(Number(held.headers.get('retry-after'))).to.be.within(1, 60);
    expect(held.text).to.contain('too many attempts');
  });
});
