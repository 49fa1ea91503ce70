import { markup } from './markup.ts';
import type { Language } from './language.ts';
import { messages } from './messages.ts';
import { page } from './page.ts';
import type { Page } from './page.ts';

/** How the pages of a box look: what its settings say. */
export interface BoxLook {
  readonly name: string | undefined;
  readonly logo: string | undefined;
}

/** What the sign-in page shows. */
export interface SignInView {
  readonly language: Language;
  readonly look: BoxLook;
  /** The app that somebody came from. */
  readonly app: string | undefined;
  /** What the form carries against forgery. */
  readonly formToken: string;
  /** As it was typed, to be corrected. */
  readonly email: string;
  readonly failed: boolean;
  /** Where somebody without an account makes one; undefined: nowhere. */
  readonly signUpAddress: string | undefined;
}

/** The page that asks for email and password. Its form goes to the address it was loaded from. */
export function signInPage({ language, look, app, formToken, email, failed, signUpAddress }: SignInView): Page {
  const say = messages[language];
  return page(
    { language, title: say.signIn, ...look },
    markup`${app === undefined ? undefined : markup`<p class="soft">${say.toContinueTo(app)}</p>`}
      <form method="post">
        ${failed ? markup`<p class="alert" role="alert" id="failed">${say.wrongPassword}</p>` : undefined}
        <input type="hidden" name="form_token" value="${formToken}" />
        <label for="email">${say.email}</label>
        <input
          id="email"
          name="email"
          value="${email}"
          inputmode="email"
          autocomplete="username"
          autocapitalize="none"
          spellcheck="false"
          required
          ${failed ? undefined : markup`autofocus`}
          ${failed ? markup`aria-invalid="true" aria-describedby="failed"` : undefined}
        />
        <label for="password">${say.password}</label>
        <input
          id="password"
          name="password"
          type="password"
          autocomplete="current-password"
          required
          ${failed ? markup`autofocus` : undefined}
          ${failed ? markup`aria-invalid="true" aria-describedby="failed"` : undefined}
        />
        <button>${say.signIn}</button>
      </form>
      ${
        signUpAddress === undefined
          ? undefined
          : markup`<p class="soft other">${say.noAccount} <a href="${signUpAddress}">${say.signUp}</a></p>`
      }`,
  );
}

/** What the pages of somebody who is signed in, or was, show. */
export interface SignedInView {
  readonly language: Language;
  readonly look: BoxLook;
  readonly formToken: string;
  readonly email: string;
  /** Where the form of the button goes. */
  readonly signOutAddress: string;
}

/** Who is signed in, and the way out. */
export function signedInPage({ language, look, formToken, email, signOutAddress }: SignedInView): Page {
  const say = messages[language];
  return page(
    { language, title: say.signedIn, ...look },
    markup`<p>${say.signedInAs(email)}</p>
      ${signOutForm(say.signOut, formToken, signOutAddress)}`,
  );
}

/** Asks whether to sign out: a link alone must not do it. */
export function signOutPage({ language, look, formToken, email, signOutAddress }: SignedInView): Page {
  const say = messages[language];
  return page(
    { language, title: say.signOut, ...look },
    markup`<p>${say.signOutQuestion}</p>
      <p class="soft">${say.signedInAs(email)}</p>
      ${signOutForm(say.signOut, formToken, signOutAddress)}`,
  );
}

function signOutForm(label: string, formToken: string, address: string) {
  return markup`<form method="post" action="${address}">
    <input type="hidden" name="form_token" value="${formToken}" />
    <button>${label}</button>
  </form>`;
}

/** Nobody is signed in in this browser any more. */
export function signedOutPage(language: Language, look: BoxLook, signInAddress: string): Page {
  const say = messages[language];
  return page(
    { language, title: say.signedOut, ...look },
    markup`<p>${say.signedOutText}</p>
      <p><a href="${signInAddress}">${say.signInAgain}</a></p>`,
  );
}
