import type { Page } from 'playwright-core';
import type { Language } from '../../api/pages/page.ts';
import { messages } from '../../api/pages/messages.ts';
import { problemPage } from '../../api/pages/problem-page.ts';
import { ann, appName, codeParameters, logo } from './stage.ts';
import type { Stage } from './stage.ts';

/** A page of ours in one of its states, and the way of a person to it, in a browser that nobody has used. */
export interface PageState {
  /** Name of its screenshot. */
  readonly name: string;
  readonly open: (page: Page, stage: Stage, language: Language) => Promise<unknown>;
}

const consent = { ...codeParameters, prompt: 'consent' };

/** Every page that people come to, in each of its states. */
export const pageStates: readonly PageState[] = [
  {
    name: 'sign-in',
    open: (page, { base }) => page.goto(`${base}/auth/signin`),
  },
  {
    name: 'sign-in-with-logo',
    open: async (page, { base }) => {
      await page.route(logo, (route) => route.fulfill({ contentType: 'image/svg+xml', body: picture }));
      await page.goto(`${base.replace(/default$/, 'branded')}/auth/signin`);
      await page.waitForFunction('document.images[0].naturalWidth > 0');
    },
  },
  {
    name: 'sign-in-for-app',
    open: (page, { authorize }) => page.goto(authorize({ login_hint: ann.email })),
  },
  {
    name: 'sign-in-failed',
    open: async (page, { authorize }, language) => {
      await page.goto(authorize());
      await signIn(page, language, 'bob@shop.example');
      await page.getByRole('alert').waitFor();
    },
  },
  {
    name: 'sign-in-throttled',
    open: async (page, { base }, language) => {
      const email = `${language}-held@shop.example`;
      // Six failures of an account from one address, then it is held back.
      for (let tries = 0; tries < 6; tries += 1) {
        await page.goto(`${base}/auth/signin`);
        await signIn(page, language, email);
        await page.getByRole('alert').waitFor();
      }
      await signIn(page, language, email);
      await page.getByText(messages[language].problems.throttled).waitFor();
    },
  },
  {
    name: 'signed-in',
    open: async (page, { base }, language) => {
      await page.goto(`${base}/auth/signin`);
      await signIn(page, language);
      await page.getByText(messages[language].signedInAs(ann.email)).waitFor();
    },
  },
  {
    name: 'consent',
    open: async (page, { authorize }, language) => {
      await page.goto(authorize(consent));
      await signIn(page, language);
      await page.getByRole('heading', { name: messages[language].consent(appName) }).waitFor();
    },
  },
  {
    name: 'consent-without-scopes',
    open: async (page, { authorize }, language) => {
      await page.goto(authorize({ ...consent, scope: '' }));
      await signIn(page, language);
      await page.getByRole('heading', { name: messages[language].consent(appName) }).waitFor();
    },
  },
  {
    name: 'consent-in-your-name',
    open: async (page, { authorize }, language) => {
      await page.goto(authorize({ ...consent, client_id: 'agent', scope: 'openid boxgate' }));
      await signIn(page, language);
      await page.getByText(messages[language].scopes['boxgate'] ?? '').waitFor();
    },
  },
  {
    name: 'sign-up',
    open: (page, { base }) => page.goto(`${base}/auth/signup`),
  },
  {
    name: 'sign-up-faulty',
    open: async (page, { base }, language) => {
      await page.goto(`${base}/auth/signup`);
      await fillIn(page, language, 'signUp', { email: 'eve@elsewhere.example', password: 'short' });
      await page.getByRole('alert').first().waitFor();
    },
  },
  {
    name: 'sign-up-waiting',
    open: async (page, { base }, language) => {
      await page.goto(`${base.replace(/default$/, 'approved')}/auth/signup`);
      await fillIn(page, language, 'signUp', { ...ann, email: `${language}-${String(Math.random())}@shop.example` });
      await page.getByText(messages[language].waitsForAdmin).waitFor();
    },
  },
  {
    name: 'back-to-app',
    open: async (page, { app, authorize }, language) => {
      // The app says nothing new, so the browser stays on the page that brings it the answer.
      await page.route(`${app.url}/**`, (route) => route.fulfill({ status: 204 }));
      await page.goto(authorize({ response_mode: 'form_post' }));
      await signIn(page, language);
      await page.getByText(messages[language].backToAppText).waitFor();
    },
  },
  {
    name: 'sign-out',
    open: async (page, stage, language) => {
      await openState('signed-in', page, stage, language);
      await page.goto(`${stage.base}/auth/signout`);
    },
  },
  {
    name: 'signed-out',
    open: async (page, stage, language) => {
      const { signOut, signedOut } = messages[language];
      await openState('sign-out', page, stage, language);
      await page.getByRole('button', { name: signOut }).click();
      await page.getByRole('heading', { name: signedOut }).waitFor();
    },
  },
  {
    name: 'logout',
    open: async (page, stage, language) => {
      await openState('signed-in', page, stage, language);
      await page.goto(logoutAddress(stage));
      await page.getByText(messages[language].signOutQuestion).waitFor();
    },
  },
  {
    name: 'logout-posted',
    open: async (page, { base }, language) => {
      // The second form is the page's own: its answer says nothing new, so the browser stays.
      let forms = 0;
      await page.route(`${base}/auth/logout`, (route) => {
        forms += 1;
        return forms === 1 ? route.continue() : route.fulfill({ status: 204 });
      });
      await page.setContent(`<form method="post" action="${base}/auth/logout"><button>Leave</button></form>`);
      await page.getByRole('button', { name: 'Leave' }).click();
      await page.getByText(messages[language].signOutOnward).waitFor();
    },
  },
  {
    name: 'logout-done',
    open: async (page, stage, language) => {
      const { signOut, signedOut } = messages[language];
      await openState('signed-in', page, stage, language);
      await page.goto(`${stage.base}/auth/logout`);
      await page.getByRole('button', { name: signOut }).click();
      await page.getByRole('heading', { name: signedOut }).waitFor();
    },
  },
  {
    name: 'logout-untrusted',
    open: async (page, stage, language) => {
      await openState('signed-in', page, stage, language);
      await page.goto(`${logoutAddress(stage)}&id_token_hint=none`);
      await page.getByText(messages[language].problems['logout-untrusted']).waitFor();
    },
  },
  {
    name: 'form-expired',
    open: async (page, { base }, language) => {
      await page.goto(`${base}/auth/signin`);
      await page.context().clearCookies();
      await signIn(page, language);
      await page.getByText(messages[language].problems['form-expired']).waitFor();
    },
  },
  {
    name: 'untrusted',
    open: (page, { authorize }) => page.goto(authorize({ client_id: 'nobody' })),
  },
  {
    name: 'expired',
    open: (page, { base }) => page.goto(`${base}/auth/consent?id=none`),
  },
];

/** Pages for errors that the user did not cause. */
export const problemStates: readonly PageState[] = (
  ['bad-request', 'method-not-allowed', 'too-large', 'unavailable', 'bug'] as const
).map((problem) => ({
  name: problem,
  open: (page, _stage, language) => page.setContent(problemPage(problem, language, 'req_0123456789').text),
}));

/** A logo, larger than it may be shown, in the colour of its box, which does not change at night. */
const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="320" height="320" viewBox="0 0 160 160">
<rect width="160" height="160" rx="36" fill="#b3005e"/><path d="M44 62h72l-8 62H52z" fill="#fff"/>
<path d="M60 62a20 20 0 0 1 40 0" fill="none" stroke="#fff" stroke-width="10"/></svg>`;

/** Returns the address of a logout request of the client `own`, without an id_token. */
function logoutAddress({ base, app }: Stage): string {
  const query = new URLSearchParams({ client_id: 'own', post_logout_redirect_uri: `${app.url}/bye` });
  return `${base}/auth/logout?${query.toString()}`;
}

/** Leads a browser to the page of that name. */
async function openState(name: string, page: Page, stage: Stage, language: Language): Promise<void> {
  const found = pageStates.find((state) => state.name === name);
  if (found === undefined) throw new Error(`no page ${name}`);
  await found.open(page, stage, language);
}

function signIn(page: Page, language: Language, email = ann.email): Promise<void> {
  return fillIn(page, language, 'signIn', { ...ann, email });
}

async function fillIn(page: Page, language: Language, button: 'signIn' | 'signUp', person: typeof ann): Promise<void> {
  const say = messages[language];
  await page.getByLabel(say.email).fill(person.email);
  await page.getByLabel(say.password).fill(person.password);
  await page.getByRole('button', { name: say[button], exact: true }).click();
}
