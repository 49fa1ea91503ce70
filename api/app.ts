import type { RequestListener } from 'node:http';
import type { ApiContext } from './http/server/api-context.ts';
import type { Endpoint } from './http/request/request-context.ts';
import {
  closeSessionEndpoint,
  introspectEndpoint,
  revokeEndpoint,
  tokenEndpoint,
  userInfoEndpoint,
} from './http/endpoints/oauth.ts';
import { keySetEndpoint, metadataEndpoint, openApiEndpoint } from './http/endpoints/metadata.ts';
import { checkEndpoint } from './http/gateway/check.ts';
import { CHECK_PATH } from './http/gateway/original-request.ts';
import {
  authorizeEndpoint,
  postedAuthorizeEndpoint,
  consentEndpoint,
  consentPageEndpoint,
} from './http/pages/authorize.ts';
import { frontEndpoint, homeEndpoint } from './http/pages/home.ts';
import { signInEndpoint, signInPageEndpoint } from './http/pages/sign-in.ts';
import { logoutEndpoint, postedLogoutEndpoint, signOutEndpoint, signOutPageEndpoint } from './http/pages/logout.ts';
import { signUpEndpoint, signUpPageEndpoint } from './http/pages/sign-up.ts';
import { planEndpoint } from './http/plan/plan-endpoint.ts';
import { withAuthorization } from './http/resources/resource-gate.ts';
import {
  accountEndpoint,
  ownGrantEndpoint,
  ownPasswordEndpoint,
  ownSessionEndpoint,
} from './http/resources/own-account.ts';
import { explainHandler } from './http/resources/explain.ts';
import {
  CLIENT_USAGE_PATH,
  EXPORT_PATH,
  PLAN_PATH,
  REQUESTS_PATH,
  USAGE_PATH,
} from './http/resources/explained-request.ts';
import {
  clientUsageHandler,
  exportHandler,
  policyUsageHandler,
  recordedRequestsHandler,
} from './http/resources/operations.ts';
import { requestedChanges } from './http/resources/requested-changes.ts';
import { resourceRoutes, userRoutes } from './http/resources/resource-routes.ts';
import { uiFileEndpoint, uiHomeEndpoint, uiPageEndpoint } from './http/ui/ui.ts';
import { createRouter } from './http/server/router.ts';
import type { DatabaseContexts, Route, Subtree } from './http/server/router.ts';

/** Creates the listener of the public port. */
export function createApp(contexts: DatabaseContexts): RequestListener {
  return createRouter(contexts, routes, subtrees, frontEndpoint(contexts.home));
}

/** The decision point for gateways takes every method: in Envoy's dialect it is that of the original request. */
export const subtrees: readonly Subtree[] = [[CHECK_PATH, 'resource', checkEndpoint]];

/** Every route of a box, in order. Paths are relative to the box's base URL. */
export const routes: readonly Route[] = [
  ['POST', '/auth/token', 'oauth', tokenEndpoint],
  ['POST', '/auth/introspect', 'oauth', introspectEndpoint],
  ['POST', '/auth/revoke', 'oauth', revokeEndpoint],
  // A user's token is enough here, without a policy.
  ['GET', '/auth/userinfo', 'oauth', userInfoEndpoint],
  ['POST', '/auth/userinfo', 'oauth', userInfoEndpoint],
  ['GET', '/.well-known/oauth-authorization-server', 'plain', metadataEndpoint],
  ['GET', '/.well-known/openid-configuration', 'plain', metadataEndpoint],
  ['GET', '/.well-known/jwks.json', 'plain', keySetEndpoint],
  ['GET', '/openapi.json', 'plain', openApiEndpoint],
  // Pages for people.
  ['GET', '/', 'page', homeEndpoint],
  ['GET', '/auth/authorize', 'page', authorizeEndpoint],
  ['POST', '/auth/authorize', 'page', postedAuthorizeEndpoint],
  ['GET', '/auth/signin', 'page', signInPageEndpoint],
  ['POST', '/auth/signin', 'page', signInEndpoint],
  ['GET', '/auth/signup', 'page', signUpPageEndpoint],
  ['POST', '/auth/signup', 'page', signUpEndpoint],
  ['GET', '/auth/consent', 'page', consentPageEndpoint],
  ['POST', '/auth/consent', 'page', consentEndpoint],
  ['GET', '/auth/signout', 'page', signOutPageEndpoint],
  ['POST', '/auth/signout', 'page', signOutEndpoint],
  ['GET', '/auth/logout', 'page', logoutEndpoint],
  ['POST', '/auth/logout', 'page', postedLogoutEndpoint],
  // The admin UI.
  ['GET', '/ui', 'page', uiHomeEndpoint],
  ['GET', '/ui/', 'page', uiPageEndpoint],
  ['GET', '/ui/:file', 'page', uiFileEndpoint],
  ['DELETE', '/Session', 'resource', closeSessionEndpoint],
  // The account page of the admin UI: the user's own records, without a policy.
  ['GET', '/account', 'resource', accountEndpoint],
  ['DELETE', '/account/sessions/:session', 'resource', ownSessionEndpoint],
  ['DELETE', '/account/grants/:client', 'resource', ownGrantEndpoint],
  ['PUT', '/account/password', 'resource', ownPasswordEndpoint],
  ['POST', '/AccessPolicy/$explain', 'resource', explainEndpoint],
  ['GET', USAGE_PATH, 'resource', policyUsageEndpoint],
  ['GET', CLIENT_USAGE_PATH, 'resource', clientUsageEndpoint],
  ['GET', REQUESTS_PATH, 'resource', recordedRequestsEndpoint],
  ['GET', EXPORT_PATH, 'resource', exportEndpoint],
  ['POST', PLAN_PATH, 'resource', planEndpoint],
  ...[...resourceRoutes, ...userRoutes].map(({ method, path, kind, handler }): Route => {
    return [
      method,
      path,
      'resource',
      (context) => withAuthorization(context, kind, handler, (write) => requestedChanges(kind, write, context.oauth)),
    ];
  }),
];

function explainEndpoint(context: ApiContext): Endpoint {
  return withAuthorization(context, 'AccessPolicy', explainHandler(context.oauth));
}

function policyUsageEndpoint(context: ApiContext): Endpoint {
  return withAuthorization(context, 'AccessPolicy', policyUsageHandler);
}

function clientUsageEndpoint(context: ApiContext): Endpoint {
  return withAuthorization(context, 'Client', clientUsageHandler);
}

function recordedRequestsEndpoint(context: ApiContext): Endpoint {
  return withAuthorization(context, 'AccessPolicy', recordedRequestsHandler);
}

function exportEndpoint(context: ApiContext): Endpoint {
  return withAuthorization(context, 'Box', exportHandler);
}
