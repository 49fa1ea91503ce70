import type { IncomingMessage } from 'node:http';
import { parseParameters } from '../../oauth/token/parameters.ts';
import { userInfo } from '../../oauth/openid/user-claims.ts';
import { Problem } from '../../problem.ts';
import type { ApiContext } from '../server/api-context.ts';
import { bearerToken, isTokenText, missingToken, refusedToken } from '../access/authenticate.ts';
import type { Endpoint } from '../server/endpoint.ts';
import { requestContextOf } from '../request/request-context.ts';
import { nothingHere } from '../../nothing-here.ts';
import { queryOf } from '../request/query.ts';
import { bodyLimits, readBody } from '../request/read-body.ts';
import { sendJson } from '../server/send.ts';

/** Answers are personal: no cache on the way may keep them. */
const personal = { 'Cache-Control': 'private, no-store', Pragma: 'no-cache' };

/** `GET` and `POST /auth/userinfo`, OpenID Connect Core §5.3; the errors are those of RFC 6750 §3.1. */
export function userInfoEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const requestContext = requestContextOf(response);
    const { box, path } = requestContext;
    const token = await presentedToken(request, queryOf(path), box);
    if (token === undefined) throw missingToken(box);
    const found = await userInfo(box, token, context.oauth);
    if (found === undefined) throw nothingHere();
    if (found.verdict === 'invalid') throw refusedToken(box);
    if (found.verdict !== 'good') throw insufficientScope(box);
    requestContext.client = found.client;
    sendJson(response, found.claims, context.onAnswer, personal);
  };
}

/** Reads the token from the header, or from the body of a POST: a form (RFC 6750 §2.2) or JSON; never from both. */
async function presentedToken(
  request: IncomingMessage,
  query: URLSearchParams,
  box: string,
): Promise<string | undefined> {
  const inHeader = bearerToken(request, query, box);
  if (request.method !== 'POST') return inHeader;
  const body = await readBody(request, bodyLimits.oauth);
  if (body.length === 0) return inHeader;
  const inBody = parseParameters(request.headers['content-type'], body).get('access_token');
  if (inBody === undefined) return inHeader;
  if (inHeader !== undefined) {
    throw new Problem('bad-request', [{ path: 'access_token', message: 'must be sent in one place only' }]);
  }
  if (!isTokenText(inBody)) throw refusedToken(box);
  return inBody;
}

function insufficientScope(box: string): Problem {
  const text = 'The access token must be of a person, for the scope openid';
  const challenge = `Bearer realm="${box}", error="insufficient_scope", scope="openid"`;
  return new Problem('forbidden', text, { 'WWW-Authenticate': challenge });
}
