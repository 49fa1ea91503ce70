import type { RequestListener, ServerResponse } from 'node:http';
import express from 'express';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { answeringErrors } from './answering-errors.ts';
import type { ApiContext } from './api-context.ts';
import { countingBody } from '../request/body-bytes.ts';
import { createAcceptRequest } from '../request/accept-request.ts';
import { createCrossOrigin } from './cross-origin.ts';
import type { Endpoint } from './endpoint.ts';
import { countingInFlight } from './requests-in-flight.ts';
import { expressMessages, type MessageClasses } from './express-messages.ts';
import { findRequestContext, requestContextOf } from '../request/request-context.ts';
import { Problem } from '../../problem.ts';
import { addRoutes, shapeNear } from './routes.ts';
import type { Route, Subtree } from './routes.ts';

/** Listener of a port, and the classes of the messages that its server should make. */
export interface Router {
  readonly listener: RequestListener;
  readonly messages: MessageClasses;
}

/**
 * Creates the router of the public port. Every request that is accepted enters an express app; what concerns all of
 * them is a middleware before `fixedPaths`.
 */
export function createRouter(context: ApiContext, routes: readonly Route[], subtrees: readonly Subtree[] = []): Router {
  const counted = routes.map(countingBodies);
  const answerError = answeringErrors(context);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.set('case sensitive routing', true);
  app.set('strict routing', true);
  app.use(fixedPaths(context, counted, subtrees));
  addRoutes(app, counted, context);
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    answerError(error, request, response);
  });
  return { listener: acceptingRequests(context, routes, subtrees, app), messages: expressMessages(app) };
}

/**
 * Gives each request its ID and its box, refuses ambiguous ones, counts the others while they are in flight, and
 * answers what another origin may not do. Express must not see a request before: it reads the target first, and answers
 * one that it cannot read with a page of its own.
 */
function acceptingRequests(
  context: ApiContext,
  routes: readonly Route[],
  subtrees: readonly Subtree[],
  app: RequestListener,
): RequestListener {
  const accept = createAcceptRequest(context);
  const crossOrigin = createCrossOrigin(context, routes);
  const countInFlight = countingInFlight(context.inFlight);
  const answerError = answeringErrors(context);
  const { states } = context.oauth;

  return (request, response) => {
    const failed = (error: unknown): void => {
      // What is refused before it has a route has the form of its neighbours; a 404 does not tell where routes are.
      if (!(error instanceof Problem && error.code === 'not-found')) shapeAsNear(response, routes, subtrees);
      answerError(error, request, response);
    };
    const go = (): void => {
      const isCounted = countInFlight(response, states.quota(requestContextOf(response).box).requests);
      if (!isCounted) return;
      // Most requests of browsers, and all of programs, have no Origin header. A gateway sends that of its caller.
      const url = request.url ?? '';
      if (request.headers.origin === undefined || subtrees.some(([path]) => isBelow(url, path))) app(request, response);
      else goFromOrigin().catch(failed);
    };
    const goFromOrigin = async (): Promise<void> => {
      if ((await crossOrigin(request, response)) === 'go on') app(request, response);
    };
    try {
      const waiting = accept(request, response);
      if (waiting === undefined) go();
      else waiting.then(go).catch(failed);
    } catch (error) {
      failed(error);
    }
  };
}

/** Sets the shape of a request that has no route yet, by its path below the box. */
function shapeAsNear(response: ServerResponse, routes: readonly Route[], subtrees: readonly Subtree[]): void {
  const requestContext = findRequestContext(response);
  if (requestContext?.route !== '(none)') return;
  const url = requestContext.path.replace(/^\/boxes\/[^/?]*/, '');
  const [, shape = shapeNear(routes, url)] = subtrees.find(([path]) => isBelow(url, path)) ?? [];
  requestContext.shape = shape;
}

/**
 * Answers the paths without parameters, found in a map by method and path. Express would try its routes one after the
 * other, which takes a tenth of a token request's time (decision 10).
 */
function fixedPaths(context: ApiContext, routes: readonly Route[], subtrees: readonly Subtree[]): RequestHandler {
  const fixed = fixedRoutes(routes, context);
  const below = subtrees.map(([path, shape, make]) => ({ path, shape, endpoint: make(context) }));
  const answerError = answeringErrors(context);
  return (request, response, next) => {
    const found = fixed.get(`${request.method} ${request.url}`) ?? below.find(({ path }) => isBelow(request.url, path));
    if (found === undefined) {
      next();
      return;
    }
    const requestContext = requestContextOf(response);
    requestContext.route = found.path;
    requestContext.shape = found.shape;
    found.endpoint(request, response, {}).catch((error: unknown) => {
      answerError(error, request, response);
    });
  };
}

/** Counts the bodies of a route; one that reads no body has no extra cost. */
function countingBodies(route: Route): Route {
  const [method, path, shape, make] = route;
  if (method === 'GET' || method === 'DELETE') return route;
  return [method, path, shape, (context) => countingBody(context.bodyBytes, make(context))];
}

/** Checks whether a URL is a path, with or without a query, or lies below it. */
function isBelow(url: string, path: string): boolean {
  if (!url.startsWith(path)) return false;
  const next = url.charAt(path.length);
  return next === '' || next === '/' || next === '?';
}

interface FixedRoute {
  readonly path: string;
  readonly shape: Route[2];
  readonly endpoint: Endpoint;
}

/** Returns the routes whose path is the same in every request, by `METHOD path`. */
function fixedRoutes(routes: readonly Route[], context: ApiContext): ReadonlyMap<string, FixedRoute> {
  const isFixed = ([, path]: Route): boolean => !path.includes(':');
  return new Map(
    routes.filter(isFixed).map(([method, path, shape, make]) => {
      return [`${method} ${path}`, { path, shape, endpoint: make(context) }];
    }),
  );
}
