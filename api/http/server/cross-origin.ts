import type { IncomingMessage, ServerResponse } from 'node:http';
import { WEB_ORIGIN } from '../../../crds/fields.ts';
import type { BoxState } from '../../state/box-state.ts';
import type { ApiContext } from './api-context.ts';
import { requestContextOf } from '../request/request-context.ts';
import type { Route } from './routes.ts';
import { send } from './send.ts';

/**
 * Access for scripts of other origins (Fetch standard, "CORS protocol"): they may call the endpoints for programs, from
 * an origin that the box or one of its active clients lists, without cookies. Pages are excluded: no script reads them,
 * and the authorization endpoint is one of them (RFC 9700 §2.6).
 */
export type CrossOrigin = (request: IncomingMessage, response: ServerResponse) => Promise<'answered' | 'go on'>;

const form = new RegExp(WEB_ORIGIN);
const longest = 320;

/** Checks the origin of a request and answers a preflight directly. Throws Outage. */
export function createCrossOrigin(
  { oauth, onAnswer }: Pick<ApiContext, 'oauth' | 'onAnswer'>,
  routes: readonly Route[],
): CrossOrigin {
  const shared = sharedPaths(routes);
  const open = new Set(routes.filter(([, , shape]) => shape === 'plain').map(([, path]) => path));
  return async (request, response) => {
    const { origin } = request.headers;
    const requestContext = requestContextOf(response);
    const path = requestContext.path.replace(/\?.*/s, '');
    if (isPreflight(request) && open.has(path)) {
      requestContext.route = path;
      const headers = { ...preflightHeaders(request), 'Access-Control-Allow-Origin': '*' };
      send(response, { status: 204, headers: { ...headers, 'Access-Control-Allow-Methods': 'GET' } }, onAnswer);
      return 'answered';
    }
    const found = shared.find(({ pattern }) => pattern.test(path));
    if (origin === undefined || origin.length > longest || !form.test(origin) || found === undefined) return 'go on';
    const isListed = await oauth.states.decide(requestContext.box, async (state) => isAllowed(state, origin));
    if (isListed !== true) return 'go on';
    requestContext.allowedOrigin = origin;
    if (!isPreflight(request)) return 'go on';
    requestContext.route = found.path;
    const headers = { ...preflightHeaders(request), 'Access-Control-Allow-Methods': found.methods };
    send(response, { status: 204, headers }, onAnswer);
    return 'answered';
  };
}

function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

/** Names of headers, as a browser lists them (Fetch standard, "CORS-unsafe request-header names"). */
const headerNames = /^[a-z0-9_-]{1,64}(?:, ?[a-z0-9_-]{1,64}){0,63}$/i;

/** Returns the headers of every answer to a preflight: the request may have whatever headers it wants to have. */
function preflightHeaders({ headers }: IncomingMessage): Record<string, string> {
  const asked = headers['access-control-request-headers'];
  return {
    ...(asked !== undefined && headerNames.test(asked) ? { 'Access-Control-Allow-Headers': asked } : {}),
    // Seconds: a removed origin can make calls no longer than that.
    'Access-Control-Max-Age': '60',
  };
}

function isAllowed({ settings, clientOrigins }: BoxState, origin: string): boolean {
  return settings.cors?.allowed_origins?.includes(origin) === true || clientOrigins.has(origin);
}

interface SharedPath {
  readonly path: string;
  readonly pattern: RegExp;
  /** A list with commas. */
  readonly methods: string;
}

function sharedPaths(routes: readonly Route[]): readonly SharedPath[] {
  const forPrograms = routes.filter(([, , shape]) => shape === 'oauth' || shape === 'resource');
  return [...Map.groupBy(forPrograms, ([, path]) => path)].map(([path, sharing]) => {
    const pattern = new RegExp(`^${path.replaceAll('$', '\\$').replace(/:\w+/g, '[^/]+')}$`);
    return { path, pattern, methods: sharing.map(([method]) => method).join(', ') };
  });
}
