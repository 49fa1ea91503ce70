import { markup, page } from './page.ts';
import type { Language, BoxLook, Page } from './page.ts';
import { messages } from './messages.ts';
import type { Messages } from './messages.ts';

/** Content of the pages for a user who is signed in. */
interface SignedInView {
  readonly language: Language;
  readonly look: BoxLook;
  readonly formToken: string;
  readonly email: string;
  /** Address that the form of the button is sent to. */
  readonly signOutAddress: string;
  /** Fault in the request of the app that sent the user here; undefined: none. */
  readonly fault?: keyof Messages['logoutFaults'] | undefined;
}

/** Renders the page that shows the signed-in user: a link to the console or the account, and a button to sign out. */
export function signedInPage(
  { language, look, formToken, email, signOutAddress }: SignedInView,
  isAdministrator: boolean,
): Page {
  const say = messages[language];
  const [label, fragment] = isAdministrator ? [say.openConsole, ''] : [say.openAccount, '#/account'];
  return page(
    { language, title: say.signedIn, ...look },
    markup`<p>${say.signedInAs(email)}</p>
      <p><a href="${look.issuer}/ui/${fragment}">${label}</a></p>
      ${signOutForm(say.signOut, formToken, signOutAddress)}`,
  );
}

/** Renders the question whether to sign out: a link alone must not do it. */
export function signOutPage({ language, look, formToken, email, signOutAddress, fault }: SignedInView): Page {
  const say = messages[language];
  return page(
    { language, title: say.signOut, ...look },
    markup`${faultText(language, fault)}<p>${say.signOutQuestion}</p>
      <p class="soft">${say.signedInAs(email)}</p>
      ${signOutForm(say.signOut, formToken, signOutAddress)}`,
  );
}

function faultText(language: Language, fault: SignedInView['fault']) {
  return fault && markup`<p role="alert">${messages[language].logoutFaults[fault]}</p>`;
}

function signOutForm(label: string, formToken: string, address: string) {
  return markup`<form method="post" action="${address}">
    <input type="hidden" name="form_token" value="${formToken}" />
    <button>${label}</button>
  </form>`;
}

/** Renders the page after signing out. */
export function signedOutPage(
  { language, look, fault }: Pick<SignedInView, 'language' | 'look' | 'fault'>,
  signInAddress: string,
): Page {
  const say = messages[language];
  return page(
    { language, title: say.signedOut, ...look },
    markup`${faultText(language, fault)}<p>${say.signedOutText}</p>
      <p><a href="${signInAddress}">${say.signInAgain}</a></p>`,
  );
}
