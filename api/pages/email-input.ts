import { markup } from './markup.ts';
import type { Markup } from './markup.ts';

/** The field for the email that somebody signs in with; `described` has the attributes that tell of its faults and hints. */
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
