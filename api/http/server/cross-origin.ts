import type { IncomingMessage, ServerResponse } from 'node:http';
import { WEB_ORIGIN } from '../../../crds/fields.ts';
import type { BoxState } from '../../box/box-state.ts';
import type { ApiContext } from './api-context.ts';
import { requestContextOf } from '../request/request-context.ts';
import type { ErrorShape } from '../request/request-context.ts';
import { send } from './send.ts';

/**
 * Checks the origin of a request to a path, and answers a preflight that it permits; false: the request goes on.
 * Scripts of other origins may call the endpoints for programs, without cookies, from an origin that the box or one of
 * its active clients lists (Fetch standard, "CORS protocol"), and read the public documents from anywhere. Pages are
 * excluded: no script reads them, and the authorization endpoint is one of them (RFC 9700 §2.6). Throws Outage.
 */
export type CrossOrigin = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;

const form = new RegExp(WEB_ORIGIN);
const longest = 320;

/** Methods of a path, as lists with commas: those of its routes, and all that are allowed. */
interface PathMethods {
  readonly methods: string;
  readonly allowed: string;
}

/** Creates the check for a path. */
export function createCrossOrigin(
  { oauth, onAnswer }: Pick<ApiContext, 'oauth' | 'onAnswer'>,
  shape: ErrorShape,
  methods: PathMethods,
): CrossOrigin {
  return async (request, response) => {
    const { origin = '' } = request.headers;
    if (shape === 'plain' && isPreflight(request)) {
      const headers = { ...preflightHeaders(request, methods), 'Access-Control-Allow-Origin': '*' };
      send(response, { status: 204, headers }, onAnswer);
      return true;
    }
    if (shape === 'plain' || shape === 'page' || origin.length > longest || !form.test(origin)) return false;
    const requestContext = requestContextOf(response);
    const isListed = await oauth.states.decide(
      requestContext.box,
      // A browser sends the origin of our own pages too, such as the admin UI.
      async (state) => isAllowed(state, origin) || new URL(oauth.issuer(state)).origin === origin,
    );
    if (isListed !== true) {
      requestContext.refusal = { reason: 'origin_not_listed', sent: origin };
      return false;
    }
    requestContext.allowedOrigin = origin;
    if (isPreflight(request)) send(response, { status: 204, headers: preflightHeaders(request, methods) }, onAnswer);
    return isPreflight(request);
  };
}

function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

/** Names of headers, as a browser lists them (Fetch standard, "CORS-unsafe request-header names"). */
const headerNames = /^[a-z0-9_-]{1,64}(?:, ?[a-z0-9_-]{1,64}){0,63}$/i;

/** Returns the headers of every answer to a preflight: the request may have whatever headers it wants to have. */
function preflightHeaders({ headers }: IncomingMessage, { methods, allowed }: PathMethods): Record<string, string> {
  const requested = headers['access-control-request-headers'];
  return {
    ...(requested !== undefined && headerNames.test(requested) ? { 'Access-Control-Allow-Headers': requested } : {}),
    // Seconds: a removed origin can make calls no longer than that.
    'Access-Control-Max-Age': '60',
    'Access-Control-Allow-Methods': methods,
    Allow: allowed,
  };
}

function isAllowed({ settings, clientOrigins }: BoxState, origin: string): boolean {
  return settings.cors?.allowed_origins?.includes(origin) === true || clientOrigins.has(origin);
}
