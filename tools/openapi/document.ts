import type { Route, Subtree } from '../../api/http/server/router.ts';
import type { JsonObject } from '../../crds/path.ts';
import { schemas } from './components.ts';
import { EXAMPLE_ISSUER } from './examples.ts';
import type { Access, Operation } from './operation.ts';
import { checkOperation, operations } from './operations.ts';
import { HEADERS, errorRef, errors, responseObject, sharedErrors } from './responses.ts';
import type { Shape } from './responses.ts';

/** The tables of routes that a document describes. */
export interface Routes {
  readonly routes: readonly Route[];
  readonly subtrees: readonly Subtree[];
}

/** Methods of an OpenAPI path item. */
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/**
 * Returns the OpenAPI 3.1 document of a box. Throws an Error that names a route without an operation, or the reverse.
 */
export function openApiDocument({ routes, subtrees }: Routes): JsonObject {
  const names = routes.map(([method, path]) => `${method} ${path}`);
  const missing = names.filter((name) => operations[name] === undefined);
  const unknown = Object.keys(operations).filter((name) => !names.includes(name));
  if (missing.length > 0) throw new Error(`tools/openapi/operations.ts does not describe ${missing.join(', ')}`);
  if (unknown.length > 0) throw new Error(`tools/openapi/operations.ts describes ${unknown.join(', ')}: no such route`);
  const document = {
    openapi: '3.1.1',
    info: {
      title: 'Boxgate',
      // Of the interface: `npm run generate` must write the same bytes for each release.
      version: '1',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: EXAMPLE_ISSUER, description: 'The issuer of the box.' }],
    security: [],
    tags: TAGS.map(([name, description]) => ({ name, description })),
    'x-other-paths': { responses: errors('Any', [400, 404, 429, 503]) },
    paths: { ...pathsOf(routes), ...checkPaths(subtrees) },
    components: {
      schemas: schemas(),
      responses: { ...sharedErrors(), Preflight: preflight() },
      headers: HEADERS,
      securitySchemes: SECURITY,
    },
  };
  return { ...document, components: { ...document.components, responses: usedResponses(document) } };
}

/** Returns the shared responses of a document that it refers to; the one to a preflight belongs to many paths. */
function usedResponses(document: { readonly components: { readonly responses: JsonObject } }): JsonObject {
  const text = JSON.stringify(document);
  const { responses } = document.components;
  const isUsed = (name: string): boolean => name === 'Preflight' || text.includes(`"#/components/responses/${name}"`);
  return Object.fromEntries(Object.entries(responses).filter(([name]) => isUsed(name)));
}

const DESCRIPTION = `The endpoints of one box.

- A GET can be sent as HEAD: the response is the same, without its body.
- OPTIONS gets 204 with \`Allow\`, as \`Preflight\` says.
- A method that is not described here gets 405 with \`Allow\`, as \`x-other-methods\` of its path says.
- A path that is not described here gets 404, as \`x-other-paths\` says.
- A preflight request (CORS) of an origin that the box lists gets 204 with \`Access-Control-\` headers.`;

const TAGS = [
  ['OAuth', 'Tokens.'],
  ['Discovery', 'Public documents.'],
  ['Pages', 'Pages for people, which work without JavaScript.'],
  ['Box', 'The declared state of the box.'],
  ['Client', 'OAuth 2.0 clients.'],
  ['AccessPolicy', 'Rules that grant requests.'],
  ['Session', 'One for each access token.'],
  ['Group', 'Groups of users.'],
  ['Grant', 'What users allow clients.'],
  ['AuditEvent', 'The audit trail.'],
  ['User', 'Users.'],
  ['Account', 'Own records of the user who is signed in to the admin UI.'],
  ['Gateways', 'The decision point for gateways.'],
] as const;

const SECURITY = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description: 'An access token in the Authorization header (RFC 6750 §2.1).',
  },
  queryToken: {
    type: 'apiKey',
    in: 'query',
    name: 'access_token',
    description:
      'An access token in the query (RFC 6750 §2.3), unless the box sets `compatibility.query_token` to false.',
  },
  client: { type: 'http', scheme: 'basic', description: 'ID and secret of the client (RFC 6749 §2.3.1).' },
};

const REQUIREMENTS = {
  token: [{ token: [] }],
  'user-token': [{ token: [] }, { queryToken: [] }],
  client: [{ client: [] }, {}],
  none: [],
  browser: [],
} as const satisfies Record<Access, readonly object[]>;

function pathsOf(routes: readonly Route[]): JsonObject {
  const byPath = Map.groupBy(routes, ([, path]) => path);
  return Object.fromEntries(
    Array.from(byPath, ([path, sharing]) => [
      templateOf(path),
      {
        ...(path.includes(':id') ? { parameters: [ID] } : {}),
        ...Object.fromEntries(
          sharing.flatMap(([method]) => {
            const operation = operations[`${method} ${path}`];
            return operation === undefined ? [] : [[method.toLowerCase(), operationObject(operation)]];
          }),
        ),
        'x-other-methods': { responses: { 405: errorRef(shapeOf(sharing[0]), 405) } },
      },
    ]),
  );
}

const ID = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The ID of the resource.',
  schema: { type: 'string' },
};

/** Returns a path of the route table as OpenAPI writes it. */
function templateOf(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

function shapeOf(route: Route | undefined): Shape {
  if (route?.[2] === 'page') return 'Page';
  return route?.[2] === 'resource' ? 'Resource' : 'OAuth';
}

function operationObject({ id, tag, summary, access, parameters = [], body, responses }: Operation): JsonObject {
  return {
    operationId: id,
    tags: [tag],
    summary,
    security: REQUIREMENTS[access],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { content: body } }),
    responses,
  };
}

function checkPaths(subtrees: readonly Subtree[]): JsonObject {
  const below = {
    name: 'original',
    in: 'path',
    required: true,
    description: 'The path of the original request.',
    schema: { type: 'string' },
  };
  return Object.fromEntries(
    subtrees.flatMap(([path]) => [
      [path, checkItem('check')],
      [`${path}/{original}`, { parameters: [below], ...checkItem('checkBelow') }],
    ]),
  );
}

function checkItem(id: string): JsonObject {
  return Object.fromEntries(
    METHODS.map((method) => [method, operationObject({ ...checkOperation, id: `${id}-${method}` })]),
  );
}

function preflight(): JsonObject {
  return responseObject({
    description: 'The methods that are allowed here. With `Access-Control-` headers, the origin may call this address.',
    headers: ['Allow', 'Access-Control-Allow-Methods', 'Access-Control-Allow-Headers', 'Access-Control-Max-Age'],
  });
}
