import { markup } from './markup.ts';
import type { Markup } from './markup.ts';

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
