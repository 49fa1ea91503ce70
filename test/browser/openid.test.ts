import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { messages } from '../../api/pages/messages.ts';
import { ann, codeParameters, onStage } from './stage.ts';
import type { Stage } from './stage.ts';

const say = messages.en;

describe('in Chromium an app of OpenID Connect', () => {
  let stage: Stage;

  onStage((set) => (stage = set));

  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

  async function signIn(page: Page): Promise<void> {
    await page.getByLabel(say.email).fill(ann.email);
    await page.getByLabel(say.password).fill(ann.password);
    await press(page, say.signIn);
  }

  const atApp = (page: Page) => page.getByRole('heading', { name: 'Back in the app' }).waitFor();

  for (const javaScriptEnabled of [true, false]) {
    it(`is answered by form_post ${javaScriptEnabled ? 'at once' : 'by a button, without JavaScript'}`, async () => {
      const page = await stage.newPage({ javaScriptEnabled });
      const posted: string[] = [];
      page.on('request', (request) => {
        if (request.method() === 'POST' && request.url().startsWith(stage.app.url))
          posted.push(request.postData() ?? '');
      });
      const mode = { client_id: 'own', scope: 'openid', response_mode: 'form_post' };
      await page.goto(stage.authorize({ ...codeParameters, ...mode }));
      await signIn(page);
      if (!javaScriptEnabled) await press(page, say.goOn);
      await atApp(page);
      const [body = '', ...more] = posted;
      expect(more).to.deep.equal([]);
      const answer = Object.fromEntries(new URLSearchParams(body));
      expect(answer).to.include({ state: 's t&a=te', iss: stage.base });
      expect(answer['code']).to.match(/^bgc_/);
      expect(page.url()).to.equal(`${stage.app.url}/back`);
      await page.context().close();
    });
  }

  it('signs a person out, who is asked, and led back', async () => {
    const page = await stage.newPage();
    await page.goto(`${stage.base}/auth/signin`);
    await signIn(page);
    await page.getByText(say.signedInAs(ann.email)).waitFor();
    const post_logout_redirect_uri = `${stage.app.url}/bye`;
    const query = new URLSearchParams({ client_id: 'own', post_logout_redirect_uri, state: 'a&b' });
    await page.goto(`${stage.base}/auth/logout?${query.toString()}`);
    await page.getByText(say.signedInAs(ann.email)).waitFor();
    await press(page, say.signOut);
    await atApp(page);
    expect(page.url()).to.equal(`${post_logout_redirect_uri}?state=a%26b`);
    await page.goto(`${stage.base}/auth/signin`);
    await page.getByLabel(say.email).waitFor();
    await page.context().close();
  });

  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? 'at once' : 'after a button, without JavaScript';
    it(`R-11 of another site signs a person out by a form, which brings no cookie, ${how}`, async () => {
      const page = await stage.newPage({ javaScriptEnabled });
      await page.goto(`${stage.base}/auth/signin`);
      await signIn(page);
      await page.getByText(say.signedInAs(ann.email)).waitFor();
      const otherSite = 'http://localhost:9/';
      const post_logout_redirect_uri = `${stage.app.url}/bye`;
      const body = `<form method="post" action="${stage.base}/auth/logout">
<input name="client_id" value="own"><input name="post_logout_redirect_uri" value="${post_logout_redirect_uri}">
<button>Leave</button></form>`;
      await page.route(otherSite, (route) => route.fulfill({ contentType: 'text/html', body }));
      await page.goto(otherSite);
      await press(page, 'Leave');
      if (!javaScriptEnabled) await press(page, say.goOn);
      await page.getByText(say.signOutQuestion).waitFor();
      await press(page, say.signOut);
      await atApp(page);
      expect(page.url()).to.equal(post_logout_redirect_uri);
      await page.goto(`${stage.base}/auth/signin`);
      await page.getByLabel(say.email).waitFor();
      await page.context().close();
    });
  }
});
