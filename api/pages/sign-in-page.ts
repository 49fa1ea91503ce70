import { markup, page } from './page.ts';
import type { Markup, BoxLook, Page, Language } from './page.ts';
import { messages } from './messages.ts';
import type { Messages } from './messages.ts';

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
function emailInput(email: string, autofocus: boolean, described: Markup | undefined): Markup {
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

/** Faults of the typed text, by field. */
export interface SignUpFaults {
  readonly email?: 'no-email' | 'other-domain' | 'taken' | 'full' | undefined;
  readonly password?: 'too-short' | 'too-long' | 'most-used' | 'stored-form' | undefined;
}

/** Content of the sign-up page. */
interface SignUpView {
  readonly language: Language;
  readonly look: BoxLook;
  /** App that the user came from. */
  readonly app: string | undefined;
  readonly formToken: string;
  /** Email as it was typed, to be corrected. */
  readonly email: string;
  readonly faults: SignUpFaults;
  /** Domains that emails must have; undefined: any. */
  readonly domains: readonly string[] | undefined;
  /** Characters that a password must have at least. */
  readonly shortestPassword: number;
  /** Address for users who have an account. */
  readonly signInAddress: string;
}

/** Renders the page for registration. Its form goes to the address it was loaded from. */
export function signUpPage(view: SignUpView): Page {
  const { language, look, app, formToken, email, faults, signInAddress } = view;
  const say = messages[language];
  const emailFault = faults.email === undefined ? undefined : say.emailFaults[faults.email];
  const passwordFault = faults.password === undefined ? undefined : say.passwordFaults[faults.password];
  const focusesPassword = faults.email === undefined && faults.password !== undefined;
  return page(
    { language, title: say.signUp, ...look },
    markup`${app === undefined ? undefined : markup`<p class="soft">${say.toContinueTo(app)}</p>`}
      <form method="post">
        <input type="hidden" name="form_token" value="${formToken}" />
        <label for="email">${say.email}</label>
        ${fault('email', emailFault)}
        ${domainHint(view, say)}
        ${emailInput(email, !focusesPassword, describedBy('email', emailFault !== undefined, view.domains !== undefined))}
        <label for="password">${say.password}</label>
        ${fault('password', passwordFault)}
        <p class="hint" id="password-hint">${say.passwordHint(view.shortestPassword)}</p>
        <input
          id="password"
          name="password"
          type="password"
          autocomplete="new-password"
          required
          ${focusesPassword ? markup`autofocus` : undefined}
          ${describedBy('password', passwordFault !== undefined, true)}
        />
        <button>${say.signUp}</button>
      </form>
      <p class="soft other">${say.haveAccount} <a href="${signInAddress}">${say.signIn}</a></p>`,
  );
}

function fault(field: string, sentence: string | undefined): Markup | undefined {
  return sentence === undefined ? undefined : markup`<p class="alert" role="alert" id="${field}-fault">${sentence}</p>`;
}

function domainHint({ domains }: SignUpView, say: Messages): Markup | undefined {
  return domains === undefined
    ? undefined
    : markup`<p class="hint" id="email-hint">${say.emailHint(domains.join(', '))}</p>`;
}

function describedBy(field: string, isFaulty: boolean, hasHint: boolean): Markup | undefined {
  const ids = [...(isFaulty ? [`${field}-fault`] : []), ...(hasHint ? [`${field}-hint`] : [])];
  if (ids.length === 0) return undefined;
  return markup`${isFaulty ? markup`aria-invalid="true"` : undefined} aria-describedby="${ids.join(' ')}"`;
}

/** Renders the page after a registration that waits for an admin. */
export function waitingPage(language: Language, look: BoxLook): Page {
  const say = messages[language];
  return page({ language, title: say.registered, ...look }, markup`<p>${say.waitsForAdmin}</p>`);
}
