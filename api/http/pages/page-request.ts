import type { IncomingMessage, ServerResponse } from 'node:http';
import { browserHash, formToken } from '../../credentials/browser-token.ts';
import { chooseLanguage } from '../../pages/language.ts';
import type { Language } from '../../pages/language.ts';
import type { BoxLook } from '../../pages/page.ts';
import type { ApiContext } from '../server/api-context.ts';
import { requestContextOf } from '../request/request-context.ts';
import { browserOf, setCookie } from '../cookies/cookie.ts';
import type { Browser } from '../cookies/cookie.ts';
import { pageBox } from './page-box.ts';
import type { PageBox } from './page-box.ts';

/** A visit to one of our pages. */
export interface PageRequest {
  readonly box: PageBox;
  readonly browser: Browser;
  readonly language: Language;
  /** The query with the question mark; empty if there is none. */
  readonly query: string;
}

/** A page's request, and the means to answer it. */
export interface PageExchange {
  readonly context: ApiContext;
  readonly here: PageRequest;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Returns the browser and the box of a request. Throws Problem `not-found`, Outage. */
export async function pageRequest(
  context: ApiContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<PageRequest> {
  const { box: id, path } = requestContextOf(response);
  const box = await pageBox(context, id);
  return {
    box,
    browser: browserOf(request, id, box.issuer),
    language: chooseLanguage(request.headers['accept-language']),
    query: querySuffix(path),
  };
}

/** Returns the query of a path, with the question mark; empty if there is none. */
export function querySuffix(path: string): string {
  const at = path.indexOf('?');
  return at < 0 || at === path.length - 1 ? '' : path.slice(at);
}

/** Returns the common parts of every page with a form. */
export function formView({ box, browser, language }: PageRequest): FormView {
  return { language, look: box.look, formToken: formToken(browserHash(browser.token)) };
}

/** Result of {@link formView}. */
export interface FormView {
  readonly language: Language;
  readonly look: BoxLook;
  readonly formToken: string;
}

/** Returns Set-Cookie for a browser without a cookie; its form would be rejected otherwise. */
export function firstCookie({ box, browser }: PageRequest): Readonly<Record<string, string>> {
  if (!browser.isNew) return {};
  return { 'Set-Cookie': setCookie(box.state.box, box.issuer, browser.token) };
}
