import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { messages } from '../../api/pages/messages.ts';
import { addUser } from '../http/pages/browser.ts';
import { eventually } from '../support/eventually.ts';
import { seededRandom } from '../support/random.ts';
import { alarmsOf, skeletonOf } from './alarms.ts';
import { payloads } from './payloads.ts';
import { ann, onStage } from './stage.ts';
import type { Stage } from './stage.ts';

const say = messages.en;
const grant_types = ['authorization_code'];
const auth = { authorization_code: { redirect_uri: 'https://app.example/back', pkce: false } };
const secret = 'a secret of an app';

/** A name of an app has at most 256 characters; a scope is of these, and at most 128. */
const asScopes = payloads.filter((text) => /^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/.test(text));
const scopesOfAnApp = 50;
const inOneTest = 100;

describe('A-12 W-02 what people, apps and admins call things is text in Chromium', () => {
  let stage: Stage;
  onStage((set) => (stage = set));

  const random = seededRandom();
  const count = Number(process.env['BOXGATE_PAYLOADS'] ?? 25);
  const chosen = payloads
    .map((text) => [random.fraction(), text] as const)
    .toSorted(([a], [b]) => a - b)
    .slice(0, count)
    .map(([, text], nth) => ({ client: `app-${String(nth)}`, text }));
  const portions = Array.from({ length: Math.ceil(chosen.length / inOneTest) }, (_, nth) =>
    chosen.slice(nth * inOneTest, (nth + 1) * inOneTest),
  );

  const named = (portion: readonly unknown[]): string =>
    `${String(portion.length)} of ${String(payloads.length)} texts (seed ${String(random.seed)})`;

  async function signedIn(): Promise<{ readonly page: Page; readonly alarms: readonly string[] }> {
    const page = await stage.newPage();
    const alarms = alarmsOf(page, stage.base);
    await page.goto(`${stage.base}/auth/signin`);
    await page.getByLabel(say.email).fill(ann.email);
    await page.getByLabel(say.password).fill(ann.password);
    await page.getByRole('button', { name: say.signIn, exact: true }).click();
    await page.getByText(say.signedInAs(ann.email)).waitFor();
    return { page, alarms };
  }

  const app = (id: string, fields: object = {}) =>
    ({ kind: 'Client', id, grant_types, auth, secret, ...fields }) as const;
  const address = (client: string, parameters: Readonly<Record<string, string>> = {}): string =>
    stage.authorize({ response_type: 'code', client_id: client, prompt: 'login', ...parameters });

  before(async () => {
    const apps = chosen.map(({ client, text }) => app(client, { name: text }));
    const wide = asScopes.flatMap((_, nth) => {
      const scope = asScopes.slice(nth, nth + scopesOfAnApp);
      return nth % scopesOfAnApp === 0 ? [app(`wide-${String(nth)}`, { scope })] : [];
    });
    await stage.api.declare('default', [app('harmless', { name: 'Harmless' }), ...apps, ...wide]);
  });

  it('would be noticed if it were not', async () => {
    const page = await stage.newPage();
    const alarms = alarmsOf(page, stage.base);
    await page.goto(`${stage.base}/auth/signin`);
    const before = await skeletonOf(page);
    await page.setContent(`<script>alert(1)</script><img src="http://127.0.0.1:9/x">${await page.content()}`);
    await eventually('the browser tells of it', () => /Content Security Policy|dialog/.test(alarms.join('\n')));
    expect(await skeletonOf(page)).not.to.deep.equal(before);
    await page.context().close();
  });

  for (const portion of portions) {
    it(`${named(portion)} as the name of an app, as a hint and as an email`, async () => {
      const page = await stage.newPage();
      const alarms = alarmsOf(page, stage.base);
      async function shown(client: string, text: string): Promise<readonly string[]> {
        await page.goto(address(client, { login_hint: text, state: text }));
        const asked = await skeletonOf(page);
        expect(await page.getByLabel(say.email).inputValue()).to.equal(text);
        await page.getByLabel(say.password).fill('a wrong passphrase');
        await page.getByRole('button', { name: say.signIn, exact: true }).click();
        await page.getByRole('alert').waitFor();
        return [...asked, ...(await skeletonOf(page))];
      }
      const harmless = await shown('harmless', 'ann');
      for (const { client, text } of portion) {
        expect(await shown(client, text), text).to.deep.equal(harmless);
      }
      expect(alarms).to.deep.equal([]);
      await page.context().close();
    });

    it(`${named(portion)} where consent is asked for`, async () => {
      const { page, alarms } = await signedIn();
      await page.goto(address('harmless', { prompt: 'consent' }));
      const harmless = await skeletonOf(page);
      for (const { client, text } of portion) {
        await page.goto(address(client, { prompt: 'consent', state: text }));
        expect(await page.getByRole('heading', { level: 1 }).textContent()).to.equal(say.consent(text));
        expect(await skeletonOf(page), text).to.deep.equal(harmless);
      }
      expect(alarms).to.deep.equal([]);
      await page.context().close();
    });
  }

  it('all of them as scopes, where consent is asked for', async () => {
    const { page, alarms } = await signedIn();
    for (let nth = 0; nth < asScopes.length; nth += scopesOfAnApp) {
      const scopes = asScopes.slice(nth, nth + scopesOfAnApp);
      await page.goto(address(`wide-${String(nth)}`, { prompt: 'consent', scope: scopes.join(' ') }));
      expect(await page.getByRole('listitem').allTextContents()).to.deep.equal(scopes);
    }
    expect(alarms).to.deep.equal([]);
    await page.context().close();
  });

  it('an email with every sign that emails may have', async () => {
    for (const email of ["'/onfocus=alert`1`/autofocus/x='@shop.example", '`${alert`1`}`&#x3c@shop.example']) {
      await addUser(stage.api, email, ann.password);
      const page = await stage.newPage();
      const alarms = alarmsOf(page, stage.base);
      await page.goto(`${stage.base}/auth/signin`);
      await page.getByLabel(say.email).fill(email);
      await page.getByLabel(say.password).fill(ann.password);
      await page.getByRole('button', { name: say.signIn, exact: true }).click();
      await page.getByText(say.signedInAs(email)).waitFor();
      expect(alarms).to.deep.equal([]);
      await page.context().close();
    }
  });

  it('data of users and names of groups, whoever opens an answer of the API in a browser', async () => {
    const boss = { kind: 'Client', id: 'boss', grant_types: ['client_credentials'], secret } as const;
    const link = [{ resourceType: 'Client', id: 'boss' }];
    await stage.api.declare('default', [boss, { kind: 'AccessPolicy', id: 'boss', engine: 'allow', link }]);
    const fields = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'boss', client_secret: secret });
    const granted: unknown = await (await fetch(`${stage.base}/auth/token`, { method: 'POST', body: fields })).json();
    const token = String(Reflect.get(Object(granted), 'access_token'));
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const text = chosen.map((one) => one.text).join('\n');
    const posts: readonly [path: string, body: object][] = [
      ['/Group', { name: '<script>alert(1)</script>', description: text }],
      ['/users', { email: 'eve@shop.example', password: ann.password, data: JSON.stringify({ text }) }],
      // Refused: the answer repeats what was submitted.
      ['/users', { email: '<script>alert(1)</script>', data: text }],
    ];
    for (const [path, body] of posts) {
      await fetch(stage.base + path, { method: 'POST', headers, body: JSON.stringify(body) });
    }
    const page = await stage.newPage({ extraHTTPHeaders: { Authorization: headers.Authorization } });
    const alarms = alarmsOf(page, stage.base);
    for (const path of [
      '/users',
      '/Group',
      '/users?email=<script>alert(1)</script>',
      '/Group/<script>alert(1)</script>',
    ]) {
      await page.goto(stage.base + path);
      expect(await page.evaluate('document.contentType'), path).to.equal('application/json');
      expect(await page.locator('script').count(), path).to.equal(0);
    }
    expect(alarms).to.deep.equal([]);
    await page.context().close();
  });
});
