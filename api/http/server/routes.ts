import type { Express, NextFunction, Request, Response } from 'express';
import { Problem } from '../../problem.ts';
import type { ApiContext } from './api-context.ts';
import { createCrossOrigin } from './cross-origin.ts';
import { isBelow } from './endpoint.ts';
import type { Endpoint } from './endpoint.ts';
import { countingBody } from '../request/body-bytes.ts';
import { requestContextOf } from '../request/request-context.ts';
import type { ErrorShape } from '../request/request-context.ts';
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
export type Method = keyof typeof verbs;

const verbs = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const;

/** Adds all paths at and below one. No method is refused there, and no origin of a browser is checked. */
export function addSubtree(app: Express, [path, shape, make]: Subtree, context: ApiContext): void {
  const endpoint = make(context);
  app.use(path, (request: Request, response: Response, next: NextFunction) => {
    Object.assign(requestContextOf(response), { route: path, shape });
    endpoint(request, response, {}).catch(next);
  });
}

/** Adds a path with its methods; OPTIONS tells them, and every other one (TRACE too) is 405. */
export function addPath(app: Express, path: string, routes: readonly Route[], context: ApiContext): void {
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
export function shapeNear(url: string, routes: readonly Route[], subtrees: readonly Subtree[]): ErrorShape {
  const path = url.replace(/^\/boxes\/[^/?]*/, '');
  const below = subtrees.find(([root]) => isBelow(path, root));
  const segment = path.split(/[/?]/, 2)[1];
  return below?.[1] ?? routes.find(([, route]) => route.split('/', 2)[1] === segment)?.[2] ?? 'plain';
}
