import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PageProblem } from '../../pages/messages.ts';
import { pagePolicy } from '../../pages/page.ts';
import type { Page } from '../../pages/page.ts';
import { problemPage } from '../../pages/problem-page.ts';
import { requestContextOf } from '../request/request-context.ts';
import type { ApiContext } from '../server/api-context.ts';
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

/** A request for a page, and what its answer needs. */
interface Asked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: Pick<ApiContext, 'onAnswer'>;
}

/** Sends the page of a problem, with status 400. */
export function sendProblem(problem: PageProblem, { request, response, context }: Asked): void {
  const requestContext = requestContextOf(response);
  requestContext.error = problem;
  const page = problemPage(
    problem,
    request.headers['accept-language'],
    requestContext.requestId,
    requestContext.advice,
  );
  send(response, pageAnswer(page, { status: 400 }), context.onAnswer);
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
