import { markup, page, chooseLanguage } from './page.ts';
import { messages } from './messages.ts';
import type { PageProblem } from './messages.ts';
import type { Page } from './page.ts';

/** Renders the page for a problem. It contains nothing of the request except its ID, and what a developer is told. */
export function problemPage(
  problem: PageProblem,
  acceptLanguage: string | undefined,
  requestId: string,
  advice?: string,
): Page {
  const language = chooseLanguage(acceptLanguage);
  const say = messages[language];
  return page(
    { language, title: say.problem },
    markup`<p>${say.problems[problem]}</p>
      ${ofForm.includes(problem) ? markup`<p><a href="">${say.tryAgain}</a></p>` : undefined}
      ${problem === 'logout-untrusted' ? markup`<p><a href="signout">${say.signOut}</a></p>` : undefined}
      ${advice === undefined ? undefined : markup`<p>${advice}</p>`}
      <p class="soft">${say.requestId} ${requestId}</p>`,
  );
}

/** Problems with one of our forms: it was sent to the address of its page, which has a new one (the empty link). */
const ofForm: readonly PageProblem[] = ['form-expired', 'throttled'];
