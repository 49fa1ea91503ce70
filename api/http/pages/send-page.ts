import type { ServerResponse } from 'node:http';
import { pagePolicy } from '../../pages/page.ts';
import type { Page } from '../../pages/page.ts';
import { send } from '../send.ts';
import type { Answer, AnswerHeaders, OnAnswer } from '../send.ts';

/** How a page is sent. */
export interface PageOptions {
  readonly status?: number;
  /** Its form's answer may lead to an app. */
  readonly leaves?: boolean;
  readonly headers?: AnswerHeaders;
}

/** A page as an answer: nobody keeps it, nobody frames it. */
export function pageAnswer(page: Page, { status = 200, leaves = false, headers = {} }: PageOptions = {}): Answer {
  return {
    status,
    headers: { ...headers, 'Content-Language': page.language, 'X-Frame-Options': 'DENY' },
    contentType: 'text/html; charset=utf-8',
    body: page.text,
    policy: pagePolicy(page, leaves),
  };
}

/** Sends somebody on to another address: 303, so that a form is not sent again (RFC 9110 §15.4.4). */
export function sendOn(
  response: ServerResponse,
  address: string,
  onAnswer: OnAnswer,
  headers: AnswerHeaders = {},
): void {
  send(response, { status: 303, headers: { ...headers, Location: address } }, onAnswer);
}
