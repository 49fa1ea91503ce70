import type { Language, BoxLook, Page } from './page.ts';
import { markup, page } from './page.ts';
import { messages } from './messages.ts';

/** Content of the page, and the fields that it carries to the app. */
export interface FormPostView {
  readonly language: Language;
  readonly look: BoxLook;
  /** Choice of heading and sentence: for the way back to the app, or for signing out. */
  readonly purpose?: 'back to the app' | 'sign out';
  /** Address that its form is sent to. */
  readonly address: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** Script that sends the form as soon as it is loaded. It needs no escaping in a page. */
const send = 'document.forms[0].submit()';

/**
 * Makes the page that posts its fields to `address` by a script, or by a button where no script runs: an answer to an
 * app (OAuth 2.0 Form Post Response Mode §2), or the logout request of another site to our own address.
 */
export function formPostPage({ language, look, purpose, address, fields }: FormPostView): Page {
  const say = messages[language];
  const [title, text] = purpose === 'sign out' ? [say.signOut, say.signOutOnward] : [say.backToApp, say.backToAppText];
  return page(
    { language, title, ...look },
    markup`<p>${text}</p>
<form method="post" action="${address}">
${fields.map(([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">\n`)}<button>${say.goOn}</button>
</form>`,
    send,
  );
}
