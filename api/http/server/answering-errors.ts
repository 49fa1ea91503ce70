import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Outage } from '../../db/core/outage.ts';
import { errorFacts } from '../../../process/log.ts';
import { OAuthError, TokenTooLarge } from '../../oauth/oauth-error.ts';
import { Problem } from '../../problem.ts';
import { answerError, bugAnswer } from './answer-error.ts';
import type { ApiContext } from './api-context.ts';
import { requestContextOf, findRequestContext } from '../request/request-context.ts';
import type { RequestContext } from '../request/request-context.ts';
import { pageErrorAnswer } from './page-error.ts';
import { everyAnswer, send } from './send.ts';

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
    const found = answerError(error, requestContext);
    requestContext.error = codeOf(error);
    // Before the log line: if this fails, one line reports both errors.
    if (response.headersSent || response.destroyed) response.destroy();
    else if (requestContext.shape === 'page') {
      send(response, pageErrorAnswer(error, requestContext, request.headers['accept-language']), onAnswer);
    } else send(response, found ?? bugAnswer(requestContext), onAnswer);
    if (found === undefined) log.error(facts(error, requestContext), 'bug');
    else if (error instanceof Outage) log.warn({ ...facts(error, requestContext), stack: undefined }, 'outage');
    else if (error instanceof TokenTooLarge) {
      log.warn(
        { ...facts(error, requestContext), stack: undefined, box: requestContext.box },
        'a token was not issued',
      );
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

function facts(error: unknown, { requestId }: RequestContext): Readonly<Record<string, string>> {
  return { ...errorFacts(error), request_id: requestId };
}

function codeOf(error: unknown): string {
  if (error instanceof OAuthError || error instanceof Problem) return error.code;
  return error instanceof Outage ? 'unavailable' : 'bug';
}
