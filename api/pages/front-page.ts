import { markup, page } from './page.ts';
import type { Language, Page } from './page.ts';
import { messages } from './messages.ts';

/** Renders the page at the root of an installation, with links to the consoles of the boxes that it may name. */
export function frontPage(language: Language, boxes: readonly string[]): Page {
  const say = messages[language];
  const links = boxes.map((box) => markup`<li><a href="boxes/${box}/ui/">${box}</a></li>`);
  return page(
    { language, title: say.front },
    markup`<p>${say.frontText}</p>
      ${links.length === 0 ? undefined : markup`<p>${say.frontBoxes}</p><ul>${links}</ul>`}`,
  );
}
