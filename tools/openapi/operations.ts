import { collectionOf } from '../../api/http/resources/collection.ts';
import { userCollection } from '../../api/http/resources/user-collection.ts';
import { accessPolicy } from '../../api/records/access-policy.ts';
import { auditEvent } from '../../api/records/audit-event.ts';
import { client } from '../../api/records/client.ts';
import { grant } from '../../api/records/grant.ts';
import { group } from '../../api/records/group.ts';
import { session } from '../../api/records/session.ts';
import { RESPONSE_TYPES } from '../../api/oauth/authorization/request/response-type.ts';
import { parametersSchema, TOKEN_PARAMETERS } from '../../api/oauth/token/parameters.ts';
import type { JsonObject } from '../../crds/path.ts';
import { accountOperations } from './account-operations.ts';
import { collectionOperations } from './collections.ts';
import { schemaRef } from './components.ts';
import type { Operation } from './operation.ts';
import { policyOperations } from './policy-operations.ts';
import { errors, inEachFormat, json, page, responseObject } from './responses.ts';
import type { Described, ErrorStatus } from './responses.ts';

/** Parameters of the authorization endpoint. */
const AUTHORIZATION = [
  ...[
    'response_type',
    'client_id',
    'redirect_uri',
    'state',
    'scope',
    'nonce',
    'code_challenge',
    'code_challenge_method',
  ],
  ...['login_hint', 'prompt', 'max_age', 'response_mode', 'audience'],
];

/** A response of a page, by its status. */
const PAGES = {
  200: { description: 'The page.', headers: ['Content-Language', 'X-Frame-Options', 'Set-Cookie'], content: page },
  302: { description: 'Back to the app, with the authorization response.', headers: ['Location', 'Set-Cookie'] },
  303: { description: 'Go on at another address.', headers: ['Location', 'Set-Cookie'] },
  422: {
    description: 'The page, with what is wrong.',
    headers: ['Content-Language', 'X-Frame-Options', 'Set-Cookie'],
    content: page,
  },
} as const satisfies Record<number, Described>;

/** The operation of each route, by method and path. A route without one fails `make generate`, and a test. */
export const operations: Readonly<Record<string, Operation>> = {
  'POST /auth/token': {
    id: 'token',
    tag: 'OAuth',
    summary: 'Issues an access token (RFC 6749 §3.2).',
    access: 'client',
    body: formOrJson(TOKEN_PARAMETERS, { grant_type: 'client_credentials' }),
    responses: {
      200: oauthAnswer('TokenResponse', 'The token response.'),
      ...errors('OAuth', [400, 401, 404, 413, 415, 422, 429, 503]),
    },
  },
  'POST /auth/introspect': {
    id: 'introspect',
    tag: 'OAuth',
    summary: 'Tells the state of a token of this box (RFC 7662).',
    access: 'client',
    body: formOrJson(['token', 'client_id', 'client_secret', 'client_assertion_type', 'client_assertion'], {
      token: 'bgt_…',
    }),
    responses: {
      200: oauthAnswer('Introspection', 'The state of the token.'),
      ...errors('OAuth', [400, 401, 404, 413, 415, 429, 503]),
    },
  },
  'POST /auth/revoke': {
    id: 'revoke',
    tag: 'OAuth',
    summary: 'Revokes a token of the client (RFC 7009).',
    access: 'client',
    body: formOrJson(['token', 'client_id', 'client_secret', 'client_assertion_type', 'client_assertion'], {
      token: 'bgr_…',
    }),
    responses: {
      200: responseObject({
        description: 'The token is not valid, or no longer.',
        headers: ['Pragma'],
        content: json({ type: 'object', additionalProperties: false }),
      }),
      ...errors('OAuth', [400, 401, 404, 413, 415, 429, 503]),
    },
  },
  'GET /auth/userinfo': userInfo('userInfo', []),
  'POST /auth/userinfo': {
    ...userInfo('postUserInfo', [413, 415]),
    body: formOrJson(['access_token'], { access_token: 'bgt_…' }),
  },
  'GET /.well-known/oauth-authorization-server': document(
    'serverMetadata',
    'ServerMetadata',
    'Returns the metadata of the server (RFC 8414).',
  ),
  'GET /.well-known/openid-configuration': document(
    'openIdConfiguration',
    'ServerMetadata',
    'Returns the metadata of the server (OpenID Connect Discovery §4).',
  ),
  'GET /.well-known/jwks.json': document(
    'keySet',
    'JsonWebKeySet',
    'Returns the keys that verify JWTs of this box (RFC 7517).',
  ),
  'GET /openapi.json': {
    ...document('openApi', 'TokenResponse', 'Returns this document.'),
    responses: {
      200: responseObject({ description: 'This document.', content: json({ type: 'object' }) }),
      ...errors('OAuth', documentErrors()),
    },
  },
  'GET /': shown('home', 'Goes to the sign-in page.', [303]),
  'GET /auth/authorize': {
    ...shown(
      'authorize',
      'Authorizes an app (RFC 6749 §3.1): asks the user to sign in and to consent.',
      [200, 302, 303],
    ),
    parameters: AUTHORIZATION.map((name) => ({ name, in: 'query', schema: schemaOfParameter(name) })),
  },
  'POST /auth/authorize': sent(
    'postAuthorize',
    'Authorizes an app, with the parameters in a form.',
    [303],
    AUTHORIZATION,
  ),
  'GET /auth/signin': shown(
    'signInPage',
    'Shows the sign-in page, or goes on for a user who is signed in.',
    [200, 303],
  ),
  'POST /auth/signin': sent('signIn', 'Signs a user in.', [200, 303], ['form_token', 'email', 'password']),
  'GET /auth/signup': shown('signUpPage', 'Shows the registration page, if the box has registration.', [200]),
  'POST /auth/signup': sent('signUp', 'Registers a user.', [200, 303, 422], ['form_token', 'email', 'password']),
  'GET /auth/consent': shown('consentPage', 'Shows what an app requests.', [200]),
  'POST /auth/consent': sent(
    'consent',
    'Answers the request of an app.',
    [200, 302, 303],
    ['form_token', 'id', 'answer'],
  ),
  'GET /auth/signout': shown('signOutPage', 'Asks whether to sign out.', [200]),
  'POST /auth/signout': sent('signOut', 'Signs the user out.', [200, 303], ['form_token']),
  'GET /auth/logout': shown(
    'logout',
    'Signs the user out at the request of an app (OpenID Connect RP-Initiated Logout).',
    [200, 303],
  ),
  'POST /auth/logout': sent(
    'postLogout',
    'Signs the user out, with the parameters in a form.',
    [200, 303],
    ['id_token_hint', 'client_id', 'post_logout_redirect_uri', 'state'],
  ),
  'GET /ui': shown('uiHome', 'Goes to the page of the admin UI.', [303]),
  'GET /ui/': {
    ...shown('uiPage', 'Shows the admin UI.', []),
    responses: {
      200: responseObject({
        description: 'The page.',
        headers: ['Content-Language', 'X-Frame-Options'],
        content: page,
      }),
      ...errors('Page', [400, 404, 429, 503]),
    },
  },
  'GET /ui/:file': {
    ...shown('uiFile', 'Returns a file of the admin UI.', []),
    parameters: [
      { name: 'file', in: 'path', required: true, description: 'The name of the file.', schema: { type: 'string' } },
    ],
    responses: {
      200: responseObject({
        description: 'The file.',
        headers: ['Content-Encoding'],
        content: { 'text/javascript': { schema: { type: 'string' } }, 'text/css': { schema: { type: 'string' } } },
      }),
      ...errors('Page', [400, 404, 429, 503]),
    },
  },
  'DELETE /Session': {
    id: 'closeSession',
    tag: 'Session',
    summary: 'Closes the session of the token of this request. Needs no policy.',
    access: 'token',
    responses: {
      200: responseObject({ description: 'The closed session.', content: inEachFormat(schemaRef('Session')) }),
      ...errors('Resource', [400, 401, 404, 406, 429, 503]),
    },
  },
  'POST /AccessPolicy/$explain': {
    id: 'explain',
    tag: 'AccessPolicy',
    summary: 'Tells which policies decide about a request, and how.',
    access: 'token',
    body: inEachFormat(schemaRef('Question')),
    responses: {
      200: responseObject({ description: 'The decision.', content: inEachFormat(schemaRef('Explanation')) }),
      ...errors('Resource', [400, 401, 403, 404, 406, 413, 415, 422, 429, 503]),
    },
  },
  ...accountOperations,
  ...policyOperations,
  ...collectionOperations(collectionOf(client), {
    submitted: 'SubmittedClient',
    creates: true,
    conflicts: { POST: true, PUT: true, PATCH: true, DELETE: true },
  }),
  ...collectionOperations(collectionOf(accessPolicy), {
    submitted: 'SubmittedAccessPolicy',
    creates: true,
    conflicts: { POST: true, PUT: true, PATCH: true, DELETE: true },
  }),
  ...collectionOperations(collectionOf(session), { submitted: 'SessionState', conflicts: { PUT: true, PATCH: true } }),
  ...collectionOperations(collectionOf(group), {
    submitted: 'SubmittedGroup',
    conflicts: { POST: true, PUT: true, PATCH: true, DELETE: true },
  }),
  ...collectionOperations(collectionOf(grant), { conflicts: {} }),
  ...collectionOperations(collectionOf(auditEvent), { conflicts: {} }),
  ...collectionOperations(userCollection, {
    submitted: 'NewUser',
    changed: 'ChangedUser',
    listed: 'ListedUser',
    strict: true,
    conflicts: { PUT: true },
  }),
};

/** The decision point for gateways, which takes every method, at its path and below. */
export const checkOperation: Omit<Operation, 'id'> = {
  tag: 'Gateways',
  summary: 'Decides about a request to an app behind a gateway.',
  access: 'token',
  parameters: ['X-Original-Method', 'X-Original-URI', 'X-Forwarded-Method', 'X-Forwarded-Uri', 'X-Forwarded-Host'].map(
    (name) => ({ name, in: 'header', schema: { type: 'string' } }),
  ),
  responses: {
    200: responseObject({
      description: 'A policy grants the request.',
      headers: [
        ...(['X-Auth-Client', 'X-Auth-User', 'X-Auth-Scope', 'X-Auth-Session', 'X-Auth-Policy'] as const),
        ...(['X-Auth-Email', 'X-Auth-Email-Verified', 'X-Auth-Groups'] as const),
      ],
      isPassedOn: true,
    }),
    ...errors('Check', [400, 401, 403, 404, 429, 503]),
  },
};

function schemaOfParameter(name: string): JsonObject {
  if (name === 'response_type') return { type: 'string', enum: RESPONSE_TYPES };
  return { type: name === 'max_age' ? 'integer' : 'string' };
}

function documentErrors(): readonly ErrorStatus[] {
  return [400, 404, 429, 503];
}

function document(id: string, schema: string, summary: string): Operation {
  return {
    id,
    tag: 'Discovery',
    summary,
    access: 'none',
    responses: {
      200: responseObject({ description: 'The document.', content: json(schemaRef(schema)) }),
      ...errors('OAuth', documentErrors()),
    },
  };
}

function userInfo(id: string, more: readonly ErrorStatus[]): Operation {
  return {
    id,
    tag: 'OAuth',
    summary: 'Returns claims about the user of a token (OpenID Connect Core §5.3).',
    access: 'token',
    responses: {
      200: oauthAnswer('UserInfo', 'The claims.'),
      ...errors('OAuth', [400, 401, 403, 404, ...more, 429, 503]),
    },
  };
}

function oauthAnswer(schema: string, description: string): JsonObject {
  return responseObject({ description, headers: ['Pragma'], content: json(schemaRef(schema)) });
}

function formOrJson(names: readonly string[], example: JsonObject): Record<string, JsonObject> {
  const schema = parametersSchema(names);
  return {
    'application/x-www-form-urlencoded': { schema, example },
    'application/json': { schema, example },
  };
}

function shown(id: string, summary: string, statuses: readonly (keyof typeof PAGES)[]): Operation {
  return {
    id,
    tag: 'Pages',
    summary,
    access: 'browser',
    responses: { ...pages(statuses), ...errors('Page', [400, 404, 429, 503]) },
  };
}

function sent(
  id: string,
  summary: string,
  statuses: readonly (keyof typeof PAGES)[],
  names: readonly string[],
): Operation {
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
  return {
    id,
    tag: 'Pages',
    summary,
    access: 'browser',
    body: { 'application/x-www-form-urlencoded': { schema: { type: 'object', properties } } },
    responses: {
      ...pages(statuses),
      ...errors('Page', [400, 404, 413, 415, 429, 503]),
      // Only our own forms are accepted.
      ...(names.includes('form_token') ? errors('Page', [403]) : {}),
    },
  };
}

function pages(statuses: readonly (keyof typeof PAGES)[]): Record<string, JsonObject> {
  return Object.fromEntries(statuses.map((status) => [String(status), responseObject(PAGES[status])]));
}
