import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { LANGUAGES } from '../../api/pages/page.ts';
import type { Language } from '../../api/pages/page.ts';
import { messages } from '../../api/pages/messages.ts';
import { sendForm, textOf } from '../oauth/requests.ts';
import { ann, appName, codeParameters, onStage, provenSecret, verifier } from './stage.ts';
import type { Stage } from './stage.ts';

describe('in Chromium a person', () => {
  let stage: Stage;

  onStage((set) => (stage = set));

  /** Someone at the keyboard who knows no more of a page than what it says in their language. */
  function visitor(page: Page, language: Language) {
    const say = messages[language];
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
    return {
      say,
      press,
      sees: (heading: string) => page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor(),
      signIn: async (password = ann.password): Promise<void> => {
        await page.getByLabel(say.email).fill(ann.email);
        await page.getByLabel(say.password).fill(password);
        await press(say.signIn);
      },
    };
  }

  /** Returns the parameters in the address with which the browser returned to the app. */
  async function atApp(page: Page, part: 'hash' | 'search'): Promise<Record<string, string>> {
    await page.getByRole('heading', { name: 'Back in the app' }).waitFor();
    return Object.fromEntries(new URLSearchParams(new URL(page.url())[part].slice(1)));
  }

  for (const javaScriptEnabled of [true, false]) {
    for (const language of LANGUAGES) {
      const how = `${javaScriptEnabled ? 'with' : 'without'} JavaScript, in ${language}`;

      it(`signs in, mistypes the password first, and lands at the app with a token: ${how}`, async () => {
        const page = await stage.newPage({ javaScriptEnabled, locale: language });
        const { say, sees, signIn } = visitor(page, language);
        await page.goto(stage.authorize({ login_hint: 'bob@shop.example' }));
        await sees(say.signIn);
        expect(await page.getByLabel(say.email).inputValue()).to.equal('bob@shop.example');
        await signIn('a wrong passphrase');
        expect(await page.getByRole('alert').innerText()).to.equal(say.wrongPassword);
        expect(await page.getByLabel(say.email).inputValue()).to.equal(ann.email);
        expect(await page.getByLabel(say.password).inputValue()).to.equal('');
        await signIn();
        const answer = await atApp(page, 'hash');
        expect(answer).to.include({ state: 's t&a=te', iss: stage.base, expires_in: '600' });
        expect(answer['access_token']).to.match(/^bgt_/);
        await page.context().close();
      });

      it(`denies, allows and is not asked twice, then signs out: ${how}`, async () => {
        const page = await stage.newPage({ javaScriptEnabled, locale: language });
        const { say, press, sees, signIn } = visitor(page, language);
        const proven = { ...codeParameters, client_id: 'proven' };
        await page.goto(stage.authorize({ ...proven, prompt: 'consent' }));
        await signIn();
        await sees(say.consent(appName));
        await press(say.deny);
        expect(await atApp(page, 'search')).to.include({ error: 'access_denied', state: 's t&a=te' });
        await page.goto(stage.authorize({ ...proven, prompt: 'consent' }));
        await press(say.allow);
        const { code = '' } = await atApp(page, 'search');
        const redeemed = await sendForm(`${stage.base}/auth/token`, {
          grant_type: 'authorization_code',
          client_id: 'proven',
          client_secret: provenSecret,
          code,
          code_verifier: verifier,
        });
        expect(textOf(redeemed, 'access_token')).to.match(/^bgt_/);
        await page.goto(stage.authorize(proven));
        expect((await atApp(page, 'search'))['code']).to.match(/^bgc_/);
        await page.goto(`${stage.base}/auth/signout`);
        await press(say.signOut);
        await sees(say.signedOut);
        await page.getByRole('link', { name: say.signInAgain }).click();
        await sees(say.signIn);
        await page.context().close();
      });
    }
  }

  it('A-06 tells nobody of the token, for a browser keeps fragments to itself', async () => {
    const page = await stage.newPage();
    await page.goto(stage.authorize());
    await visitor(page, 'en').signIn();
    const { access_token = '' } = await atApp(page, 'hash');
    await page.reload();
    expect(access_token).to.match(/^bgt_/);
    expect(stage.app.heard.join('\n')).not.to.contain(access_token.slice(4));
    expect(stage.app.heard.filter((line) => line.includes(stage.base))).to.deep.equal([]);
    await page.context().close();
  });

  // Chromium holds `form-action` against each redirect that follows a form: with 'self' nobody gets back to an app, and
  // with the app's own origin not to where the app leads on.
  it('gets back to an app that leads on to another host', async () => {
    const page = await stage.newPage();
    await page.goto(stage.authorize({ client_id: 'onward', response_type: 'code', ...challenge }));
    await visitor(page, 'en').signIn();
    await page.waitForURL(/^http:\/\/localhost:\d+\/home$/);
    await page.context().close();
  });

  for (const javaScriptEnabled of [true, false]) {
    it(`brings an answer by form_post, ${javaScriptEnabled ? 'by itself' : 'with a button, without JavaScript'}`, async () => {
      const page = await stage.newPage({ javaScriptEnabled });
      const { say, press, signIn } = visitor(page, 'en');
      await page.goto(stage.authorize({ response_mode: 'form_post' }));
      await signIn();
      if (!javaScriptEnabled) await press(say.goOn);
      await page.getByRole('heading', { name: 'Back in the app' }).waitFor();
      expect(page.url()).to.equal(`${stage.app.url}/back`);
      const posted = stage.app.heard.filter((line) => line.startsWith('POST /back '));
      expect(posted.at(-1)).to.match(/^POST \/back access_token=bgt_[\w-]{75}&state=s/);
      await page.context().close();
    });
  }

  it('tries again where a form has expired', async () => {
    const page = await stage.newPage();
    const { say, sees, signIn } = visitor(page, 'en');
    await page.goto(stage.authorize());
    await page.context().clearCookies();
    await signIn();
    await sees(say.problem);
    await page.getByRole('link', { name: say.tryAgain }).click();
    await sees(say.signIn);
    await signIn();
    expect((await atApp(page, 'hash'))['access_token']).to.match(/^bgt_/);
    await page.context().close();
  });

  it('needs no mouse: the cursor waits in the first field, and Enter sends', async () => {
    const page = await stage.newPage();
    await page.goto(stage.authorize({ ...codeParameters, prompt: 'consent' }));
    // The browser puts it there once it has drawn the page.
    await page.locator('input[name=email]:focus').waitFor();
    await page.keyboard.type(ann.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(ann.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: appName }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').innerText()).to.equal(messages.en.allow);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(/error=access_denied/);
    await page.context().close();
  });

  it('A-09 sees no page of ours in a frame', async () => {
    const page = await stage.newPage();
    await page.goto(`${stage.app.url}/back`);
    for (const path of ['/auth/signin', '/auth/signout', '/auth/authorize', '/auth/consent?id=x']) {
      await page.setContent(`<iframe src="${stage.base}${path}"></iframe>`);
      const inside = page.frames().find((frame) => frame !== page.mainFrame());
      await inside?.waitForURL('chrome-error://chromewebdata/');
    }
    await page.context().close();
  });
});

const { code_challenge, code_challenge_method } = codeParameters;
const challenge = { code_challenge, code_challenge_method };
