import { Outage } from '../../db/core/outage.ts';
import { OAuthError } from '../../oauth/oauth-error.ts';
import { Problem, problemStatus } from '../../problem.ts';
import type { ProblemCode } from '../../problem.ts';
import { InvalidUser } from '../../users/user/invalid-user.ts';
import type { RequestContext } from '../request/request-context.ts';
import { operationOutcome } from '../resources/operation-outcome.ts';
import type { Answer } from './send.ts';

/** Seconds after which a caller may try again. */
const retryAfter = '1';

/**
 * Returns the answer to an error, in the shape of its endpoint; undefined for a bug, which the caller logs and answers
 * with {@link bugAnswer}.
 */
export function answerError(error: unknown, requestContext: RequestContext): Answer | undefined {
  if (error instanceof OAuthError) return oauthAnswer(error, requestContext);
  if (error instanceof Problem) return problemAnswer(error, requestContext);
  if (error instanceof Outage) return outageAnswer(requestContext);
  return undefined;
}

/** Returns the answer to a bug: without details, whatever the bug was. */
export function bugAnswer(requestContext: RequestContext): Answer {
  if (requestContext.shape !== 'resource') {
    return { status: 500, headers: oauthHeaders(requestContext), body: JSON.stringify({ error: 'server_error' }) };
  }
  return outcomeAnswer(
    500,
    'exception',
    'Something went wrong on our side; the log knows more under the request id',
    requestContext,
  );
}

/** RFC 6749 §5.2; `WWW-Authenticate` on every 401 (RFC 9110 §15.5.2). */
function oauthAnswer(error: OAuthError, requestContext: RequestContext): Answer {
  const headers: Record<string, string> = { Pragma: 'no-cache' };
  if (error.status === 401) headers['WWW-Authenticate'] = `Basic realm="${requestContext.box}", charset="UTF-8"`;
  if (error.retryAfter !== undefined) headers['Retry-After'] = String(error.retryAfter);
  if (error.status === 415) headers['Accept-Post'] = 'application/x-www-form-urlencoded, application/json';
  return { status: error.status, headers, body: oauthBody(error.code, error.message) };
}

/** Every answer of an OAuth endpoint has `Pragma` (RFC 6749 §5.1). */
function oauthHeaders({ shape }: RequestContext): Readonly<Record<string, string>> {
  return shape === 'oauth' ? { Pragma: 'no-cache' } : {};
}

function oauthBody(code: string, description: string): string {
  return JSON.stringify({ error: code, error_description: description });
}

/** Names of a {@link Problem} at an OAuth endpoint. */
const oauthNames = {
  'not-parsable': 'invalid_request',
  'bad-request': 'invalid_request',
  unauthenticated: 'invalid_token',
  // RFC 6750 §3.1.
  forbidden: 'insufficient_scope',
  'not-found': 'not_found',
  'method-not-allowed': 'invalid_request',
  'not-acceptable': 'invalid_request',
  conflict: 'invalid_request',
  'precondition-failed': 'invalid_request',
  'too-large': 'invalid_request',
  'unsupported-media-type': 'invalid_request',
  invalid: 'invalid_request',
  throttled: 'slow_down',
  unavailable: 'temporarily_unavailable',
} as const satisfies Record<ProblemCode, string>;

function problemAnswer(problem: Problem, requestContext: RequestContext): Answer {
  const status = problemStatus[problem.code];
  const headers = { ...oauthHeaders(requestContext), ...problem.headers };
  // The body of a refused user has a shape of its own: it names each field with its faults.
  if (problem instanceof InvalidUser) {
    return { status, headers, body: JSON.stringify({ entity: problem.entity, errors: problem.errors }) };
  }
  if (
    requestContext.shape === 'resource' ||
    (problem.code === 'not-found' && isBelowResource.test(requestContext.target))
  ) {
    return { status, headers, body: JSON.stringify(operationOutcome(problem, requestContext.requestId)) };
  }
  if (problem.code === 'not-found') return { status, headers, body: JSON.stringify({ error: 'not_found' }) };
  return { status, headers, body: oauthBody(oauthNames[problem.code], problem.message) };
}

/** A path below a resource type, whether its box exists or not: both get the same answer. */
const isBelowResource =
  /^(?:\/boxes\/[^/?]*)?\/(?:Client|AccessPolicy|Session|Group|Grant|AuditEvent|\$export|\$plan|users|account|auth\/check)(?:[/?]|$)/;

function outageAnswer(requestContext: RequestContext): Answer {
  const headers = { ...oauthHeaders(requestContext), 'Retry-After': retryAfter };
  const text = 'The service cannot answer now; try again';
  if (requestContext.shape === 'resource') return { ...outcomeAnswer(503, 'transient', text, requestContext), headers };
  return { status: 503, headers, body: oauthBody('temporarily_unavailable', text) };
}

function outcomeAnswer(status: number, code: string, diagnostics: string, requestContext: RequestContext): Answer {
  const issue = [{ severity: 'error', code, diagnostics }];
  return { status, body: JSON.stringify({ resourceType: 'OperationOutcome', id: requestContext.requestId, issue }) };
}
