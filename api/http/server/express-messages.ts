import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';

// Not by `import`: its named exports load all of undici, 14 MB that a server does not use (Node 24).
const http = process.getBuiltinModule('node:http');

/** Classes of the requests and responses of a server. */
export interface MessageClasses {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
}

/**
 * Returns classes whose instances have what express adds to requests and responses. Otherwise express changes the
 * prototype of each, and every later access to them is slower (decision 10).
 */
export function expressMessages(app: Express): MessageClasses {
  class AppRequest extends http.IncomingMessage {}
  class AppResponse<Request extends IncomingMessage = IncomingMessage> extends http.ServerResponse<Request> {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  Object.assign(app, { request: AppRequest.prototype, response: AppResponse.prototype });
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}
