import type { Express, NextFunction, Request, Response } from 'express';
import { Problem } from '../../problem.ts';
import type { ApiContext } from './api-context.ts';
import type { Endpoint } from './endpoint.ts';
import { requestContextOf } from '../request/request-context.ts';
import type { ErrorShape } from '../request/request-context.ts';
import { nothingHere } from '../../nothing-here.ts';
import { isTextPath } from '../request/path-text.ts';

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

/** Adds a table of routes to an app: an unknown path is 404, a known path with another method 405. */
export function addRoutes(app: Express, routes: readonly Route[], context: ApiContext): void {
  app.use(refusingMalformedPaths(routes));
  for (const [path, sharing] of Map.groupBy(routes, ([, path]) => path)) addPath(app, path, sharing, context);
  app.use(() => {
    throw nothingHere();
  });
}

/** Refuses a path that is not text, in the shape of the endpoints that share the first segment. */
function refusingMalformedPaths(routes: readonly Route[]) {
  return (request: Request, response: Response, next: NextFunction): void => {
    if (isTextPath(request.url)) {
      next();
      return;
    }
    requestContextOf(response).shape = shapeNear(routes, request.url);
    throw new Problem('bad-request', 'The path is not percent-encoded UTF-8 text');
  };
}

/** Returns the shape of the endpoints that share the first segment of a path, for errors below them. */
export function shapeNear(routes: readonly Route[], url: string): Route[2] {
  const segment = url.split(/[/?]/, 2)[1];
  return routes.find(([, path]) => path.split('/', 2)[1] === segment)?.[2] ?? 'plain';
}

/** Adds a path's routes, then the refusal of every other method (TRACE too), before another form of path matches. */
function addPath(app: Express, path: string, routes: readonly Route[], context: ApiContext): void {
  const address = app.route(path);
  address.all((_request, response, next) => {
    const requestContext = requestContextOf(response);
    requestContext.route = path;
    requestContext.shape = routes[0]?.[2] ?? 'plain';
    next();
  });
  for (const [method, , , make] of routes) {
    const endpoint = make(context);
    address[verbs[method]]((request: Request, response: Response, next: NextFunction) => {
      endpoint(request, response, request.params).catch(next);
    });
  }
  const allowed = allowedMethods(routes.map(([method]) => method));
  address.all(() => {
    throw new Problem('method-not-allowed', `Only ${allowed} can be used here`, { Allow: allowed });
  });
}

/** Lists the allowed methods for a 405 (RFC 9110 §15.5.6). */
function allowedMethods(methods: readonly Method[]): string {
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
}
