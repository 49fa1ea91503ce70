import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Outage } from '../../db/core/outage.ts';
import { errorFacts } from '../../../program/log.ts';
import { OAuthError } from '../../oauth/oauth-error.ts';
import type { PageProblem } from '../../pages/messages.ts';
import { problemPage } from '../../pages/problem-page.ts';
import { Problem, problemKinds } from '../../problem.ts';
import { InvalidUser } from '../../records/user-document.ts';
import { pageAnswer } from '../pages/send.ts';
import { findRequestContext, requestContextOf } from '../request/request-context.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { ApiContext } from './api-context.ts';
import { everyAnswer, send } from './send.ts';
import type { Answer, AnswerHeaders } from './send.ts';
import type { Fault } from '../../../crds/fault.ts';
import { faultSentence } from '../../../crds/fault.ts';
import type { Issue, OperationOutcome } from '../../schemas/problems.ts';

/**
 * Ends a request that failed: sends its answer, and logs it unless the caller was at fault. Never
 * throws: a failure here is answered with a bare 500, because an uncaught error would end the process.
 */
export function answeringErrors({ log, onAnswer }: Pick<ApiContext, 'log' | 'onAnswer'>) {
  return (error: unknown, request: IncomingMessage, response: ServerResponse): void => {
    try {
      answer(error, request, response);
    } catch (failure) {
      const requestId = findRequestContext(response)?.requestId ?? randomUUID();
      answerBare(response, requestId);
      log.error({ ...errorFacts(failure), answering: textOf(error), request_id: requestId }, 'bug');
    }
  };

  function answer(error: unknown, request: IncomingMessage, response: ServerResponse): void {
    const requestContext = requestContextOf(response);
    const refusal = refusalOf(error);
    requestContext.error = error instanceof Outage ? 'unavailable' : (requestContext.page ?? refusal?.code ?? 'bug');
    requestContext.refusal = refusal?.details ?? requestContext.refusal;
    // Before the log line: if this fails, one line reports both errors.
    if (response.headersSent || response.destroyed) response.destroy();
    else send(response, errorAnswer(error, requestContext, request), onAnswer);
    // Only for what is logged: V8 writes the text of a stack when it is read, which takes longer than the answer.
    const facts = () => ({ ...errorFacts(error), request_id: requestContext.requestId });
    if (refusal === undefined) log.error(facts(), 'bug');
    else if (error instanceof Outage) log.warn({ ...facts(), stack: undefined }, 'outage');
    else if (requestContext.refusal?.reason === 'token_too_large') {
      log.warn({ ...facts(), stack: undefined, box: requestContext.box }, 'a token was not issued');
    }
  }
}

/** Sends a bare 500 without code that may just have failed; if even that fails, the connection is closed. */
function answerBare(response: ServerResponse, requestId: string): void {
  const headers = [...everyAnswer, 'X-Request-Id', requestId, 'Cache-Control', 'no-store', 'Content-Length', '0'];
  try {
    if (response.headersSent || response.destroyed) response.destroy();
    else response.writeHead(500, headers).end();
  } catch {
    response.destroy();
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : typeof error;
}

/** Returns what a caller is told of an error; undefined for a bug. */
function refusalOf(error: unknown): OAuthError | Problem | undefined {
  if (error instanceof OAuthError || error instanceof Problem) return error;
  if (!(error instanceof Outage)) return undefined;
  return new Problem('unavailable', 'The service cannot answer now; try again', { 'Retry-After': '1' });
}

/** Returns the answer to an error, in the shape of its endpoint; a bug is told without details, whatever it was. */
export function errorAnswer(
  error: unknown,
  requestContext: RequestContext,
  { method, headers: sent }: Pick<IncomingMessage, 'method' | 'headers'>,
): Answer {
  const refusal = refusalOf(error);
  const { shape } = requestContext;
  const status = refusal === undefined ? 500 : statusOf(refusal);
  const headers = headersOf(refusal, requestContext);
  if (shape === 'page') {
    const { refusal: why, page, requestId, advice } = requestContext;
    const problem =
      page ?? (why?.reason === 'token_too_large' ? 'token-too-large' : (pageProblems[status] ?? 'bad-request'));
    const again = status === 503 && method === 'GET' ? { Refresh: secondsToRefresh } : {};
    const shown = problemPage(problem, sent['accept-language'], requestId, advice);
    return pageAnswer(shown, { status, headers: { ...headers, ...again } });
  }
  return { status, headers, body: JSON.stringify(bodyOf(refusal, requestContext)) };
}

/** Seconds after which a browser loads a page again that could not be answered: time to read why. */
const secondsToRefresh = '3';

function statusOf(refusal: OAuthError | Problem): number {
  return refusal instanceof OAuthError ? refusal.status : problemKinds[refusal.code][0];
}

/** RFC 6749 §5.1 and §5.2; `WWW-Authenticate` on every 401 (RFC 9110 §15.5.2). */
function headersOf(refusal: OAuthError | Problem | undefined, { shape, box }: RequestContext): AnswerHeaders {
  const headers = shape === 'oauth' || refusal instanceof OAuthError ? { Pragma: 'no-cache' } : {};
  if (!(refusal instanceof OAuthError)) return { ...headers, ...refusal?.headers };
  return {
    ...headers,
    ...(refusal.status === 401 && { 'WWW-Authenticate': `Basic realm="${box}", charset="UTF-8"` }),
    ...(refusal.retryAfter !== undefined && { 'Retry-After': String(refusal.retryAfter) }),
    ...(refusal.status === 415 && { 'Accept-Post': 'application/x-www-form-urlencoded, application/json' }),
  };
}

function bodyOf(refusal: OAuthError | Problem | undefined, { shape, requestId }: RequestContext): object {
  const isResource = shape === 'resource';
  if (refusal === undefined) return isResource ? bugOutcome(requestId) : { error: 'server_error' };
  if (refusal instanceof OAuthError) return { error: refusal.code, error_description: refusal.message };
  // The body of a refused user has a shape of its own: it names each field with its faults.
  if (refusal instanceof InvalidUser) return { entity: refusal.entity, errors: refusal.errors };
  if (isResource) return operationOutcome(refusal, requestId);
  const [, error] = problemKinds[refusal.code];
  return refusal.code === 'not-found' ? { error } : { error, error_description: refusal.message };
}

function bugOutcome(id: string): object {
  const diagnostics = 'Something went wrong on our side; the log knows more under the request id';
  return { resourceType: 'OperationOutcome', id, issue: [{ severity: 'error', code: 'exception', diagnostics }] };
}

/** Pages of errors, by status. */
const pageProblems: Readonly<Record<number, PageProblem>> = {
  403: 'form-expired',
  404: 'not-found',
  405: 'method-not-allowed',
  413: 'too-large',
  429: 'throttled',
  500: 'bug',
  503: 'unavailable',
};

/** Returns a problem in the form of the resource endpoints: one issue for each fault. */
export function operationOutcome({ code, faults }: Problem, id: string): OperationOutcome {
  const [, , issue] = problemKinds[code];
  return { resourceType: 'OperationOutcome', id, issue: faults.map((fault) => issueOf(issue, fault)) };
}

function issueOf(code: Issue['code'], fault: Fault): Issue {
  const issue = { severity: 'error', code, diagnostics: faultSentence(fault) } as const;
  return fault.path === '' ? issue : { ...issue, expression: [fault.path] };
}
