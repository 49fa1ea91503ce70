import type { IncomingMessage } from 'node:http';
import { Problem } from '../../problem.ts';
import type { RefusalReason } from '../../schemas/refusals.ts';

/**
 * Returns the bearer token of a request (RFC 6750 §2.1), undefined if none was sent. Throws Problem `bad-request` if a
 * token is in two places, `unauthenticated` if the header has another scheme.
 */
export function bearerToken(request: IncomingMessage, query: URLSearchParams, box: string): string | undefined {
  const value = request.headers.authorization;
  if (query.has('access_token')) {
    const both =
      value !== undefined
        ? 'must not be given beside the Authorization header: send the token in one place only'
        : 'must not be in the query here: send the token in the Authorization header';
    throw new Problem('bad-request', [{ path: 'access_token', message: both }]);
  }
  if (value === undefined) return undefined;
  const [, token] = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(value) ?? [];
  if (token === undefined) throw refusedToken(box, 'The Authorization header must be `Bearer <access token>`');
  return token;
}

/**
 * Returns the token of a request to the users API, from the header or the query parameter `access_token` (RFC 6750
 * §2.3), and removes it from the query, so that no link and no policy shows it. Another scheme in the header, which a
 * proxy may add, is ignored beside it. Throws Problem `bad-request` for two tokens, `unauthenticated` if it cannot be
 * one.
 */
export function queryOrBearerToken(
  request: IncomingMessage,
  query: URLSearchParams,
  box: string,
): { readonly token: string | undefined; readonly isInQuery: boolean } {
  const [token, another] = query.getAll('access_token');
  if (token === undefined) return { token: bearerToken(request, query, box), isInQuery: false };
  if (another !== undefined || /^bearer\b/i.test(request.headers.authorization ?? '')) {
    throw new Problem('bad-request', [{ path: 'access_token', message: 'must be sent in one place only' }]);
  }
  query.delete('access_token');
  if (!isTokenText(token)) throw refusedToken(box);
  return { token, isInQuery: true };
}

/** RFC 6750 §2.1. */
const tokenShape = /^[A-Za-z0-9._~+/-]+=*$/;

/** Checks whether a text can be an access token at all (RFC 6750 §2.1). */
export function isTokenText(text: string): boolean {
  return tokenShape.test(text);
}

/** Creates the refusal of an invalid token, with a text of the characters that RFC 6750 §3 allows (§3.1). */
export function refusedToken(
  box: string,
  text = 'The access token is not valid',
  reason: RefusalReason = 'unknown_token',
): Problem {
  const challenge = `Bearer realm="${box}", error="invalid_token", error_description="${text}"`;
  return new Problem('unauthenticated', text, { 'WWW-Authenticate': challenge }, { reason });
}

/** Creates the refusal of a request without a token: no error code either (RFC 6750 §3.1). */
export function missingToken(box: string): Problem {
  const challenge = `Bearer realm="${box}"`;
  return new Problem('unauthenticated', 'An access token is needed: Authorization: Bearer <token>', {
    'WWW-Authenticate': challenge,
  });
}
