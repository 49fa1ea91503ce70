import type { PageProblem } from '../../pages/messages.ts';
import { TokenTooLarge } from '../../oauth/oauth-error.ts';
import { problemPage } from '../../pages/problem-page.ts';
import { answerError, bugAnswer } from './answer-error.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { Answer } from './send.ts';
import { pageAnswer } from '../pages/send.ts';

const problems: Readonly<Record<number, PageProblem>> = {
  403: 'form-expired',
  404: 'not-found',
  405: 'method-not-allowed',
  413: 'too-large',
  429: 'throttled',
  500: 'bug',
  503: 'unavailable',
};

/** Returns the answer to an error at the address of a page: the usual status, with a page for people. */
export function pageErrorAnswer(
  error: unknown,
  requestContext: RequestContext,
  acceptLanguage: string | undefined,
): Answer {
  const { status, headers = {} } = answerError(error, requestContext) ?? bugAnswer(requestContext);
  const problem = error instanceof TokenTooLarge ? 'token-too-large' : (problems[status] ?? 'bad-request');
  const page = problemPage(problem, acceptLanguage, requestContext.requestId);
  return pageAnswer(page, { status, headers });
}
