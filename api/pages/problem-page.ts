import { markup } from './markup.ts';
import { chooseLanguage } from './language.ts';
import { messages } from './messages.ts';
import type { PageProblem } from './messages.ts';
import { page } from './page.ts';
import type { Page } from './page.ts';

/** What a person sees instead of a page that cannot be shown. Nothing of the request stands in it. */
export function problemPage(problem: PageProblem, acceptLanguage: string | undefined, requestId: string): Page {
  const language = chooseLanguage(acceptLanguage);
  const say = messages[language];
  return page(
    { language, title: say.problem },
    markup`<p>${say.problems[problem]}</p>
      ${ofForm.includes(problem) ? markup`<p><a href="">${say.tryAgain}</a></p>` : undefined}
      <p class="soft">${say.requestId} ${requestId}</p>`,
  );
}

/** What can be wrong with one of our forms: it goes to the address of its page, where a new one is (the empty link). */
const ofForm: readonly PageProblem[] = ['form-expired', 'throttled'];
