import type { IncomingMessage, ServerResponse } from 'node:http';
import { Outage } from '../db/outage.ts';
import { errorFacts } from '../../process/log.ts';
import { OAuthError } from '../oauth/oauth-error.ts';
import { Problem } from '../problem.ts';
import { answerError, bugAnswer } from './answer-error.ts';
import type { ApiContext } from './api-context.ts';
import { exchangeOf } from './exchange.ts';
import type { Exchange } from './exchange.ts';
import { send } from './send.ts';

/** The last step of a request that failed: its answer, and a line in the log when it was not the caller's fault. */
export function answeringErrors({ log, onAnswer }: Pick<ApiContext, 'log' | 'onAnswer'>) {
  return (error: unknown, request: IncomingMessage, response: ServerResponse): void => {
    const exchange = exchangeOf(response);
    const answer = answerError(error, exchange);
    const gone = response.headersSent || response.destroyed;
    exchange.error = codeOf(error);
    // Who hangs up before the end makes errors of the socket, which are nobody's bug.
    if (answer === undefined && !request.destroyed) log.error(facts(error, exchange), 'bug');
    else if (error instanceof Outage) log.warn({ ...facts(error, exchange), stack: undefined }, 'outage');
    if (gone) response.destroy();
    else send(response, answer ?? bugAnswer(exchange), onAnswer);
  };
}

function facts(error: unknown, { requestId }: Exchange): Readonly<Record<string, string>> {
  return { ...errorFacts(error), request_id: requestId };
}

function codeOf(error: unknown): string {
  if (error instanceof OAuthError || error instanceof Problem) return error.code;
  return error instanceof Outage ? 'unavailable' : 'bug';
}
