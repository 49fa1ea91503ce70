import { markup } from './markup.ts';
import type { Markup } from './markup.ts';
import type { Language } from './language.ts';
import { messages } from './messages.ts';
import { page } from './page.ts';
import type { BoxLook, Page } from './page.ts';

/** Content of the sign-in page. */
interface SignInView {
  readonly language: Language;
  readonly look: BoxLook;
  /** App that the user came from. */
  readonly app: string | undefined;
  /** Token of the form against forgery. */
  readonly formToken: string;
  /** Email as it was typed, to be corrected. */
  readonly email: string;
  readonly failed: boolean;
  /** Address of the sign-up page; undefined if there is none. */
  readonly signUpAddress: string | undefined;
}

/** Renders the page that asks for email and password. Its form goes to the address it was loaded from. */
export function signInPage({ language, look, app, formToken, email, failed, signUpAddress }: SignInView): Page {
  const say = messages[language];
  const described = failed ? markup`aria-invalid="true" aria-describedby="failed"` : undefined;
  return page(
    { language, title: say.signIn, ...look },
    markup`${app === undefined ? undefined : markup`<p class="soft">${say.toContinueTo(app)}</p>`}
      <form method="post">
        ${failed ? markup`<p class="alert" role="alert" id="failed">${say.wrongPassword}</p>` : undefined}
        <input type="hidden" name="form_token" value="${formToken}" />
        <label for="email">${say.email}</label>
        ${emailInput(email, !failed, described)}
        <label for="password">${say.password}</label>
        <input
          id="password"
          name="password"
          type="password"
          autocomplete="current-password"
          required
          ${failed ? markup`autofocus` : undefined}
          ${described}
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

/** Renders the field for the email to sign in with; `described` holds the attributes for its faults and hints. */
export function emailInput(email: string, autofocus: boolean, described: Markup | undefined): Markup {
  return markup`<input
          id="email"
          name="email"
          value="${email}"
          inputmode="email"
          autocomplete="username"
          autocapitalize="none"
          spellcheck="false"
          required
          ${autofocus ? markup`autofocus` : undefined}
          ${described}
        />`;
}
