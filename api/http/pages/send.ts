import type { ServerResponse } from 'node:http';
import type { PageProblem } from '../../pages/messages.ts';
import { pagePolicy } from '../../pages/page.ts';
import type { Page } from '../../pages/page.ts';
import { Problem } from '../../problem.ts';
import { requestContextOf } from '../request/request-context.ts';
import { send } from '../server/send.ts';
import type { Answer, AnswerHeaders, OnAnswer } from '../server/send.ts';

/** Type of a page. */
export const HTML = 'text/html; charset=utf-8';

/** Options for sending a page. */
export interface PageOptions {
  readonly status?: number;
  /** True if the answer to its form may redirect to an app. */
  readonly leaves?: boolean;
  readonly headers?: AnswerHeaders;
}

/** Creates the answer with a page that must not be cached or framed. */
export function pageAnswer(page: Page, { status = 200, leaves = false, headers = {} }: PageOptions = {}): Answer {
  return {
    status,
    headers: { ...headers, 'Content-Language': page.language, 'X-Frame-Options': 'DENY' },
    contentType: HTML,
    body: page.text,
    policy: pagePolicy(page, leaves),
  };
}

/** Returns the refusal of a request with status 400 and the page of a problem. */
export function refusedWith(page: PageProblem, response: ServerResponse): Problem {
  requestContextOf(response).page = page;
  return new Problem('bad-request', page);
}

/** Redirects to another address with 303, so that a form is not sent again (RFC 9110 §15.4.4). */
export function sendOn(
  response: ServerResponse,
  address: string,
  onAnswer: OnAnswer,
  headers: AnswerHeaders = {},
): void {
  send(response, { status: 303, headers: { ...headers, Location: address } }, onAnswer);
}
