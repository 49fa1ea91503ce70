// The script of the admin UI: it fills the page that the API serves at `/ui/` of a box.
import { render } from 'preact';
import { App } from './app.tsx';
import { messages } from './messages/de.ts';
import { arrive, isAtItsAddress, readPage } from './start.ts';

const page = readPage();
if (isAtItsAddress(page.issuer)) {
  const isBack = arrive();
  const language = document.documentElement.lang === 'de' ? 'de' : 'en';
  page.root.replaceChildren();
  render(<App page={page} say={messages[language]} language={language} isBack={isBack} />, page.root);
}
