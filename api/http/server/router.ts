import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express from 'express';
import type { Express, NextFunction, Request, Response } from 'express';
import { nothingHere } from '../../nothing-here.ts';
import { Problem } from '../../problem.ts';
import { createAcceptRequest } from '../request/accept-request.ts';
import { isTextPath } from '../request/path-text.ts';
import { findRequestContext } from '../request/request-context.ts';
import { answeringErrors } from './errors.ts';
import type { ApiContext } from './api-context.ts';
import { countingInFlight } from './requests-in-flight.ts';
import { addPath, addSubtree, shapeNear } from './routes.ts';
import type { Route, Subtree } from './routes.ts';

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
 * is accepted, because it answers a target that it cannot read with a page of its own.
 */
export function createRouter(context: ApiContext, routes: readonly Route[], subtrees: readonly Subtree[] = []): Router {
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
    // What is refused before it has a route has the form of its neighbours; a 404 does not tell where routes are.
    if (requestContext?.route === '(none)' && !(error instanceof Problem && error.code === 'not-found')) {
      requestContext.shape = shapeNear(requestContext.path, routes, subtrees);
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
