import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { answeringErrors } from './answering-errors.ts';
import type { ApiContext } from './api-context.ts';
import { countingBody } from '../request/body-bytes.ts';
import { createAcceptRequest } from '../request/accept-request.ts';
import { createCrossOrigin } from './cross-origin.ts';
import type { Endpoint } from './endpoint.ts';
import { countingInFlight } from './requests-in-flight.ts';
import { exchangeOf } from '../request/exchange.ts';
import { createRoutedApp } from './routes.ts';
import type { Route } from './routes.ts';

/**
 * Answers the requests of a table of routes. One whose path has no parameters is found in a map by its method and path;
 * all others go through express, which would take a tenth of a token request's time (docs/decisions/0010).
 */
export function createRouter(context: ApiContext, routes: readonly Route[]): RequestListener {
  const begin = createAcceptRequest(context);
  const counted = routes.map(countingBodies);
  const fixed = fixedRoutes(counted, context);
  const app = createRoutedApp(context, counted);
  const answerError = answeringErrors(context);
  const crossOrigin = createCrossOrigin(context, routes);
  const countInFlight = countingInFlight(context.inFlight);
  const { states } = context.oauth;

  function route(request: IncomingMessage, response: ServerResponse): Promise<void> | undefined {
    const exchange = exchangeOf(response);
    countInFlight(response, states.quota(exchange.box).requests);
    const found = fixed.get(`${request.method ?? ''} ${request.url ?? ''}`);
    if (found === undefined) {
      app(request, response);
      return undefined;
    }
    exchange.route = found.path;
    exchange.shape = found.shape;
    return found.endpoint(request, response, {});
  }

  /** Routes a request with an Origin header. Most requests of browsers, and all of programs, have none. */
  async function routeOfOrigin(
    waiting: Promise<void> | undefined,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    await waiting;
    if ((await crossOrigin(request, response)) === 'go on') await route(request, response);
  }

  return (request, response) => {
    const failed = (error: unknown): void => {
      answerError(error, request, response);
    };
    try {
      const waiting = begin(request, response);
      if (request.headers.origin !== undefined) {
        routeOfOrigin(waiting, request, response).catch(failed);
        return;
      }
      const answering = waiting === undefined ? route(request, response) : waiting.then(() => route(request, response));
      answering?.catch(failed);
    } catch (error) {
      failed(error);
    }
  };
}

/** Counts the bodies of a route; one that reads no body has no extra cost. */
function countingBodies(route: Route): Route {
  const [method, path, shape, make] = route;
  if (method === 'GET' || method === 'DELETE') return route;
  return [method, path, shape, (context) => countingBody(context.bodyBytes, make(context))];
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
