import type { ServerResponse } from 'node:http';
import { pagePolicy } from '../../pages/page.ts';
import type { Page } from '../../pages/page.ts';
import { send } from '../server/send.ts';
import type { Answer, AnswerHeaders, OnAnswer } from '../server/send.ts';

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
    contentType: 'text/html; charset=utf-8',
    body: page.text,
    policy: pagePolicy(page, leaves),
  };
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
