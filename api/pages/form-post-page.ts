import type { Language } from './language.ts';
import { markup } from './markup.ts';
import { messages } from './messages.ts';
import { page } from './page.ts';
import type { BoxLook, Page } from './page.ts';

/** What the page shows, and carries to the app. */
export interface FormPostView {
  readonly language: Language;
  readonly look: BoxLook;
  /** Where its form goes. */
  readonly address: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** Sends the form as soon as it is there. It needs no escaping in a page. */
const send = 'document.forms[0].submit()';

/** The page that brings an answer to an app by POST (OAuth 2.0 Form Post Response Mode §2), by a button where no script runs. */
export function formPostPage({ language, look, address, fields }: FormPostView): Page {
  const say = messages[language];
  return page(
    { language, title: say.backToApp, ...look },
    markup`<p>${say.backToAppText}</p>
<form method="post" action="${address}">
${fields.map(([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">\n`)}<button>${say.goOn}</button>
</form>`,
    send,
  );
}
