import { clientCredentials } from '../../../api/oauth/token/grants/client-credentials.ts';
import { introspections } from '../introspections.ts';
import { bearerRequest, formRequest, resourceRequest, type Credentials } from '../load/requests.ts';
import type { RouteRow } from './row.ts';
import { BACK, PASSWORD, VERIFIER } from '../people.ts';
import { emailOf } from '../stored-users.ts';
import { OWN_HOST, PEOPLE, type RouteWorld } from './world.ts';

const grant = { grant_type: clientCredentials.name };

/** Live tokens that are asked about in turn. */
const TOKENS = 2_000;

/** Rows of the endpoints for programs. */
export const oauthRows: readonly RouteRow[] = [
  ownToken('opaque', ({ boxgate }) => boxgate.clients.opaque),
  tokenAt('the Service of the box in the cluster', ({ boxgate }) => `boxgate.${boxgate.box}.svc`),
  tokenAt('a host of the box', () => OWN_HOST),
  tokenAt('the root of an installation with one box', () => '127.0.0.1'),
  ownToken('JWT', ({ boxgate }) => boxgate.clients.jwt),
  ownToken('with a chosen secret', ({ boxgate }) => boxgate.clients.chosen, 0.9),
  ownToken('with a refresh token', ({ clients }) => clients.refreshing, 0.5),
  {
    route: 'POST /auth/token',
    variant: 'refresh_token',
    goal: { of: 'token', least: 0.4 },
    requests: (world) => refreshes(world, world.clients.refreshing),
  },
  {
    route: 'POST /auth/token',
    variant: 'refresh_token, with rotation',
    goal: { of: 'token', least: 0.3 },
    isOnce: true,
    requests: (world) => refreshes(world, world.clients.rotating),
  },
  redeemedCode('authorization_code', '', ({ app }) => app, 0.4),
  redeemedCode('authorization_code, with an id_token in ES256', 'openid', ({ elliptic }) => elliptic),
  redeemedCode('authorization_code, with an id_token in RS256', 'openid', ({ app }) => app),
  {
    route: 'POST /auth/token',
    variant: 'password',
    requests: (world) =>
      Array.from({ length: PEOPLE }, (_, nth) =>
        tokenRequest(
          world,
          { grant_type: 'password', username: emailOf(nth + 1), password: PASSWORD },
          world.clients.people,
        ),
      ),
  },
  {
    route: 'POST /auth/introspect',
    variant: 'opaque token',
    requests: ({ boxgate }) => introspections(boxgate, boxgate.clients.opaque, TOKENS),
  },
  {
    route: 'POST /auth/introspect',
    variant: 'JWT',
    requests: ({ boxgate }) => introspections(boxgate, boxgate.clients.jwt, TOKENS),
  },
  {
    route: 'POST /auth/revoke',
    goal: { of: 'token', least: 0.4 },
    isOnce: true,
    async requests({ boxgate }) {
      const { opaque } = boxgate.clients;
      const tokens = await boxgate.issue(opaque, TOKENS);
      return tokens.map((token) => formRequest(boxgate.path('/auth/revoke'), { token }, opaque));
    },
  },
  {
    route: 'GET /auth/userinfo',
    goal: { of: 'token', least: 0.4 },
    requests: ({ boxgate, userToken }) => [bearerRequest(boxgate.path('/auth/userinfo'), userToken)],
  },
  {
    route: 'POST /auth/userinfo',
    goal: { of: 'token', least: 0.4 },
    requests: ({ boxgate, userToken }) => [resourceRequest(['POST', boxgate.path('/auth/userinfo')], userToken, '')],
  },
  plain('GET /.well-known/oauth-authorization-server'),
  plain('GET /.well-known/openid-configuration'),
  plain('GET /.well-known/jwks.json'),
  plain('GET /openapi.json'),
];

/** A token of a client itself, and the least ratio to the plain one. */
function ownToken(what: string, clientOf: (world: RouteWorld) => Credentials, least?: number): RouteRow {
  return {
    route: 'POST /auth/token',
    variant: `${clientCredentials.name}, ${what}`,
    ...(least !== undefined && { goal: { of: 'token', least } as const }),
    requests: (world) => [tokenRequest(world, grant, clientOf(world))],
  };
}

/** An authorization code that is redeemed, of a scope; without one there is no id_token. */
function redeemedCode(
  variant: string,
  scope: string,
  clientOf: (clients: RouteWorld['clients']) => Credentials,
  least?: number,
): RouteRow {
  return {
    route: 'POST /auth/token',
    variant,
    ...(least !== undefined && { goal: { of: 'token', least } as const }),
    isOnce: true,
    async requests(world) {
      const client = clientOf(world.clients);
      const codes = await world.codes(client, scope);
      const same = { grant_type: 'authorization_code', redirect_uri: BACK, code_verifier: VERIFIER };
      return codes.map((code) => tokenRequest(world, { ...same, code }, client));
    },
  };
}

/** A token, with the box told by the host that is asked. */
function tokenAt(what: string, hostOf: (world: RouteWorld) => string): RouteRow {
  return {
    route: 'POST /auth/token',
    variant: `${clientCredentials.name}, at ${what}`,
    goal: { of: 'token', least: 0.95 },
    requests: (world) => [
      formRequest('/auth/token', grant, world.boxgate.clients.opaque).replace(
        'Host: 127.0.0.1',
        `Host: ${hostOf(world)}`,
      ),
    ],
  };
}

function tokenRequest({ boxgate }: RouteWorld, fields: Record<string, string>, client: Credentials): string {
  return formRequest(boxgate.path('/auth/token'), fields, client);
}

async function refreshes(world: RouteWorld, client: Credentials): Promise<readonly string[]> {
  const tokens = await world.refreshTokens(client, 1_000);
  return tokens.map((token) => tokenRequest(world, { grant_type: 'refresh_token', refresh_token: token }, client));
}

/** A document that anybody may read. */
function plain(route: string): RouteRow {
  const [, path = ''] = route.split(' ');
  return {
    route,
    requests: ({ boxgate }) => [`GET ${boxgate.path(path)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`],
  };
}
