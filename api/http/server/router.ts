import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express from 'express';
import type { Express, NextFunction, Request, Response } from 'express';
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

/** Adds all paths at and below one. No method is refused there, and no origin of a browser is checked. */
function addSubtree(app: Express, [path, shape, make]: Subtree, context: ApiContext): void {
  const endpoint = make(context);
  app.use(path, (request: Request, response: Response, next: NextFunction) => {
    Object.assign(requestContextOf(response), { route: path, shape });
    endpoint(request, response, {}).catch(next);
  });
}

/** Adds a path with its methods; OPTIONS tells them, and every other one (TRACE too) is 405. */
function addPath(app: Express, path: string, routes: readonly Route[], context: ApiContext): void {
  const shape = routes[0]?.[2] ?? 'plain';
  const methods = routes.map(([method]) => method);
  const allowed = allowedMethods(methods);
  const crossOrigin = createCrossOrigin(context, shape, { methods: methods.join(', '), allowed });
  const address = app.route(path);
  address.all((request, response, next) => {
    const requestContext = requestContextOf(response);
    requestContext.route = path;
    requestContext.shape = shape;
    // Most requests of browsers, and all of programs, have no Origin header.
    if (request.headers.origin === undefined) next();
    else crossOrigin(request, response).then((isAnswered) => (isAnswered ? undefined : next()), next);
  });
  for (const [method, , , make] of routes) {
    // A request that may have no body costs nothing more.
    const hasBody = method !== 'GET' && method !== 'DELETE';
    const endpoint = hasBody ? countingBody(context.bodyBytes, make(context)) : make(context);
    address[verbs[method]]((request: Request, response: Response, next: NextFunction) => {
      endpoint(request, response, request.params).catch(next);
    });
  }
  address.all((request, response) => {
    // RFC 9110 §9.3.7.
    if (request.method === 'OPTIONS') {
      send(response, { status: 204, headers: { Allow: allowed } }, context.onAnswer);
      return;
    }
    throw new Problem('method-not-allowed', `Only ${allowed} can be used here`, { Allow: allowed });
  });
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
 * Creates the middleware that counts a request of its box until the response is closed. It ends a request whose caller
 * has hung up already, which would never be closed again. Throws Problem `throttled` beyond the quota of the box, or
 * beyond the share of the caller's network. A request to `/auth/check` is counted by its endpoint.
 */
function countingInFlight({ inFlight, oauth }: Pick<ApiContext, 'inFlight' | 'oauth'>) {
  // One listener, the same for all responses.
  function leave(this: ServerResponse): void {
    const { box, network } = requestContextOf(this);
    inFlight.leave(box, network);
  }

  return (_request: unknown, response: ServerResponse, next: () => void): void => {
    if (response.destroyed) return;
    const { box, network, path } = requestContextOf(response);
    if (!isBelow(path, CHECK_PATH)) {
      enterShare(inFlight, { box, sharer: network, most: oauth.states.quota(box).requests }, SHARE_USED_UP);
      response.on('close', leave);
    }
    next();
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

// Not by `import`: its named exports load all of undici, 14 MB that a server does not use (Node 24).
const http = process.getBuiltinModule('node:http');

/** Classes of the requests and responses of a server. */
export interface MessageClasses {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
}

/** Listener of a port, and the classes of the messages that its server should make. */
export interface Router {
  readonly listener: RequestListener;
  readonly messages: MessageClasses;
}

/**
 * Creates the router of the public port: express tries the paths in the order of the table. It gets a request once that
 * is accepted, because it answers a target that it cannot read with a page of its own. `front` serves browsers at the
 * root where no box is.
 */
export function createRouter(
  context: ApiContext,
  routes: readonly Route[],
  subtrees: readonly Subtree[] = [],
  front?: Endpoint,
): Router {
  const accept = createAcceptRequest(context);
  const answerError = answeringErrors(context);
  const app = createExpress();
  app.use(countingInFlight(context));
  // Envoy appends the path of its caller, whatever that is.
  for (const subtree of subtrees) addSubtree(app, subtree, context);
  app.use(refuseMalformedPath);
  for (const [path, sharing] of Map.groupBy(routes, ([, path]) => path)) addPath(app, path, sharing, context);
  app.use(() => {
    throw nothingHere();
  });
  const failed = (error: unknown, request: IncomingMessage, response: ServerResponse): void => {
    const requestContext = findRequestContext(response);
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
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    failed(error, request, response);
  });
  return {
    listener: (request, response) => {
      try {
        const waiting = accept(request, response);
        if (waiting === undefined) app(request, response);
        else
          waiting.then(() => void app(request, response)).catch((error: unknown) => failed(error, request, response));
      } catch (error) {
        failed(error, request, response);
      }
    },
    messages: expressMessages(app),
  };
}

function createExpress(): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.set('case sensitive routing', true);
  app.set('strict routing', true);
  return app;
}

function refuseMalformedPath({ url }: Request, _response: Response, next: NextFunction): void {
  if (!isTextPath(url)) throw new Problem('bad-request', 'The path is not percent-encoded UTF-8 text');
  next();
}

/**
 * Returns classes whose instances have what express adds to requests and responses. Otherwise express changes the
 * prototype of each, and every later access to them is slower.
 */
export function expressMessages(app: Express): MessageClasses {
  class AppRequest extends http.IncomingMessage {}
  class AppResponse<Request extends IncomingMessage = IncomingMessage> extends http.ServerResponse<Request> {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  Object.assign(app, { request: AppRequest.prototype, response: AppResponse.prototype });
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}
