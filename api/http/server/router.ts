import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Router } from 'express';
import type { Request, RequestHandler } from 'express';
import { Moved } from '../../db/core/outage.ts';
import { nothingHere, Problem } from '../../problem.ts';
import { createAcceptRequest } from '../request/accept-request.ts';
import { isTextPath } from '../request/box-address.ts';
import { findRequestContext, requestContextOf, isBelow } from '../request/request-context.ts';
import { isAtFront } from '../pages/home.ts';
import { answeringErrors } from './errors.ts';
import type { ApiContext } from './api-context.ts';
import { quotaSentence } from '../../../crds/quota.ts';
import type { InFlight } from '../../shares/in-flight.ts';
import { CHECK_PATH } from '../gateway/original-request.ts';
import { createCrossOrigin } from './cross-origin.ts';
import type { CrossOrigin } from './cross-origin.ts';
import type { Endpoint, ErrorShape } from '../request/request-context.ts';
import { countingBody } from '../request/read-body.ts';
import { send } from './send.ts';

/** One route: its method, its path below the box, its error shape, and the function that creates its handler. */
export type Route = readonly [
  method: Method,
  path: string,
  shape: ErrorShape,
  endpoint: (context: ApiContext) => Endpoint,
];

/** All paths at and below one, whatever their method: one endpoint answers them. */
export type Subtree = readonly [path: string, shape: ErrorShape, endpoint: (context: ApiContext) => Endpoint];

/** The methods a route can have; HEAD is express's own answer to a GET. */
type Method = keyof typeof verbs;

const verbs = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const;

/** A router under construction, and how its requests that failed are answered. */
interface Routing {
  readonly router: Router;
  readonly context: ApiContext;
  readonly failed: (error: unknown, request: IncomingMessage, response: ServerResponse) => void;
}

/** Adds all paths at and below one. No method is refused there, and no origin of a browser is checked. */
function addSubtree(routing: Routing, [path, shape, make]: Subtree): void {
  routing.router.use(path, handlerOf(make(routing.context), { path, shape, ...routing }));
}

/** Adds a path with its methods; OPTIONS tells them, and every other one (TRACE too) is 405. */
function addPath(routing: Routing, path: string, routes: readonly Route[]): void {
  const { context } = routing;
  const shape = routes[0]?.[2] ?? 'plain';
  const methods = routes.map(([method]) => method);
  const allowed = allowedMethods(methods);
  const crossOrigin = createCrossOrigin(context, shape, { methods: methods.join(', '), allowed });
  const address = routing.router.route(path);
  const handler = (endpoint: Endpoint) => handlerOf(endpoint, { path, shape, crossOrigin, ...routing });
  for (const [method, , , make] of routes) {
    // A request that may have no body costs nothing more.
    const hasBody = method !== 'GET' && method !== 'DELETE';
    address[verbs[method]](handler(hasBody ? countingBody(context.bodyBytes, make(context)) : make(context)));
  }
  address.all(
    handler(async (request, response) => {
      if (request.method !== 'OPTIONS') {
        throw new Problem('method-not-allowed', `Only ${allowed} can be used here`, { Allow: allowed });
      }
      // RFC 9110 §9.3.7.
      send(response, { status: 204, headers: { Allow: allowed } }, context.onAnswer);
    }),
  );
}

/** The path of an endpoint, its error shape, and the check of origins there; undefined: none. */
interface Place extends Pick<Routing, 'failed'> {
  readonly path: string;
  readonly shape: ErrorShape;
  readonly crossOrigin?: CrossOrigin;
}

/** Returns the handler of an endpoint. It answers an error itself: express would try all further paths first. */
function handlerOf(endpoint: Endpoint, { path, shape, crossOrigin, failed }: Place): RequestHandler {
  const serve = async (request: Request, response: ServerResponse): Promise<void> => {
    if (!(await crossOrigin?.(request, response))) await endpoint(request, response, request.params);
  };
  return (request, response) => {
    const requestContext = requestContextOf(response);
    requestContext.route = path;
    requestContext.shape = shape;
    // Most requests of browsers, and all of programs, have no Origin header.
    const served =
      request.headers.origin === undefined ? endpoint(request, response, request.params) : serve(request, response);
    served.catch((error: unknown) => {
      failed(error, request, response);
    });
  };
}

/** Lists the allowed methods (RFC 9110 §10.2.1). */
function allowedMethods(methods: readonly Method[]): string {
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
}

/** Returns the shape of the endpoints that share the first segment of a path, for an error before a route is found. */
function shapeNear(url: string, routes: readonly Route[], subtrees: readonly Subtree[]): ErrorShape {
  const path = url.replace(/^\/boxes\/[^/?]*/, '');
  const below = subtrees.find(([root]) => isBelow(path, root));
  const segment = path.split(/[/?]/, 2)[1];
  return below?.[1] ?? routes.find(([, route]) => route.split('/', 2)[1] === segment)?.[2] ?? 'plain';
}

/** Seconds: another request of the box may end at any time. */
const retryAfter = '1';

const SHARE_USED_UP = 'Too many requests from this address are in flight in this box. Try again in 1 s';

/**
 * Creates the function that admits a request: it counts it for its box until the response is closed, and refuses a
 * malformed path. Throws Problem `throttled` beyond the quota of the box, or beyond the share of the caller's network.
 * A request to `/auth/check` is counted by its endpoint, and may have any path: Envoy appends that of its caller.
 */
function admitting({ inFlight, oauth }: Pick<ApiContext, 'inFlight' | 'oauth'>): (response: ServerResponse) => void {
  // One listener, the same for all responses.
  function leave(this: ServerResponse): void {
    const { box, network } = requestContextOf(this);
    inFlight.leave(box, network);
  }

  return (response) => {
    const { box, network, path } = requestContextOf(response);
    if (isBelow(path, CHECK_PATH)) return;
    enterShare(inFlight, { box, sharer: network, most: oauth.states.quota(box).requests }, SHARE_USED_UP);
    response.on('close', leave);
    if (!isTextPath(path)) throw new Problem('bad-request', 'The path is not percent-encoded UTF-8 text');
  };
}

/** A box, with its quota of requests, and one of those who share it. */
interface Share {
  readonly box: string;
  readonly sharer: string;
  readonly most: number;
}

/** Counts a request. Throws Problem `throttled`, with `usedUp` beyond the share, if it must not enter. */
export function enterShare(inFlight: InFlight, { box, sharer, most }: Share, usedUp: string): void {
  const entered = inFlight.enter(box, sharer, most);
  if (entered === 'entered') return;
  const message = entered === 'quota' ? `The request ${quotaSentence('requests', most)}` : usedUp;
  throw new Problem('throttled', message, { 'Retry-After': retryAfter });
}

/** The router of express as a request comes to it: it adds what its own types say. */
interface Routed {
  route(
    request: IncomingMessage & { baseUrl?: string },
    response: ServerResponse,
    next: (error?: unknown) => void,
  ): void;
}

/** The databases, each with the dependencies of its handlers. */
export interface DatabaseContexts {
  readonly home: ApiContext;
  readonly all: readonly ApiContext[];
  /** Returns the one that serves a box. Throws Outage, Problem if its database cannot. */
  of(box: string): ApiContext;
  /** Takes in that a box has been moved. */
  moved(box: string, to: Moved): void;
}

/**
 * Creates the listener of the public port: express tries the paths in the order of the table, with a router for each
 * database. It gets a request once that is accepted and counted, because it answers a target that it cannot read with a
 * page of its own. Of express it is the router alone: an app would prepare each request for methods that nothing here
 * uses. A request that finds that its box has been moved, and has changed nothing, begins again in the new database.
 * `front` serves browsers at the root where no box is.
 */
export function createRouter(
  contexts: DatabaseContexts,
  routes: readonly Route[],
  subtrees: readonly Subtree[] = [],
  front?: Endpoint,
): RequestListener {
  const accept = createAcceptRequest(contexts.home);
  const admit = admitting(contexts.home);
  const answerError = answeringErrors(contexts.home);
  const failed: Routing['failed'] = (error, request, response) => {
    const requestContext = findRequestContext(response);
    if (error instanceof Moved && requestContext !== undefined && requestContext.moves < mostMoves) {
      requestContext.moves += 1;
      contexts.moved(requestContext.box, error);
      request.url = requestContext.path;
      go(request, response);
      return;
    }
    const isUnknown = error instanceof Problem && error.code === 'not-found';
    if (isUnknown && front !== undefined && requestContext?.route === '(none)' && isAtFront(request, response)) {
      Object.assign(requestContext, { route: '/', shape: 'page' });
      front(request, response, {}).catch((failure: unknown) => answerError(failure, request, response));
      return;
    }
    // What is refused before it has a route has the form of its neighbours. A 404 does not tell where pages are, and
    // is the same whether its box exists or not.
    if (requestContext?.route === '(none)') {
      const shape = shapeNear(isUnknown ? requestContext.target : requestContext.path, routes, subtrees);
      if (!isUnknown || shape === 'resource') requestContext.shape = shape;
    }
    answerError(error, request, response);
  };
  const routers = new Map<ApiContext, Routed>();
  for (const context of contexts.all) {
    const router = Router({ caseSensitive: true, strict: true });
    const routing = { router, context, failed };
    for (const subtree of subtrees) addSubtree(routing, subtree);
    for (const [path, sharing] of Map.groupBy(routes, ([, path]) => path)) addPath(routing, path, sharing);
    routers.set(context, { route: router });
  }

  function go(request: IncomingMessage, response: ServerResponse): void {
    try {
      routers.get(contexts.of(requestContextOf(response).box))?.route(request, response, (error) => {
        failed(error ?? nothingHere(), request, response);
      });
    } catch (error) {
      failed(error, request, response);
    }
  }

  function enter(request: IncomingMessage, response: ServerResponse): void {
    // The caller has hung up: the response would never be closed again.
    if (response.destroyed) return;
    admit(response);
    go(request, response);
  }

  return (request, response) => {
    try {
      const waiting = accept(request, response);
      if (waiting === undefined) enter(request, response);
      else waiting.then(() => enter(request, response)).catch((error: unknown) => failed(error, request, response));
    } catch (error) {
      failed(error, request, response);
    }
  };
}

/** A box that is moved again and again is followed no further in one request. */
const mostMoves = 3;
