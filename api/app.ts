import type { RequestListener } from 'node:http';
import type { ApiContext } from './http/api-context.ts';
import type { Endpoint } from './http/endpoint.ts';
import { closeSessionEndpoint } from './http/endpoints/close-session.ts';
import { keySetEndpoint, metadataEndpoint } from './http/endpoints/metadata.ts';
import { introspectEndpoint, revokeEndpoint, tokenEndpoint } from './http/endpoints/oauth.ts';
import { behindGate } from './http/resource-gate.ts';
import { explainHandler } from './http/resources/explain.ts';
import { resourceRoutes } from './http/resources/resource-routes.ts';
import { createRouter } from './http/router.ts';
import type { Route } from './http/routes.ts';

/** The public port. */
export function createApp(context: ApiContext): RequestListener {
  return createRouter(context, routes);
}

/** Every route of a box, in order. Paths stand below the box's base URL. */
export const routes: readonly Route[] = [
  ['POST', '/auth/token', 'oauth', tokenEndpoint],
  ['POST', '/auth/introspect', 'oauth', introspectEndpoint],
  ['POST', '/auth/revoke', 'oauth', revokeEndpoint],
  ['GET', '/.well-known/oauth-authorization-server', 'plain', metadataEndpoint],
  ['GET', '/.well-known/openid-configuration', 'plain', metadataEndpoint],
  ['GET', '/.well-known/jwks.json', 'plain', keySetEndpoint],
  ['DELETE', '/Session', 'resource', closeSessionEndpoint],
  ['POST', '/AccessPolicy/$explain', 'resource', explainEndpoint],
  ...resourceRoutes.map(({ method, path, kind, handler }): Route => {
    return [method, path, 'resource', (context) => behindGate(context, kind, handler)];
  }),
];

function explainEndpoint(context: ApiContext): Endpoint {
  return behindGate(context, 'AccessPolicy', explainHandler(context.oauth));
}
